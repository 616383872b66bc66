package hetzner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// The attributes that problems are about.
const (
	attributeType     = "server_type"
	attributeLocation = "location"
	attributeImage    = "image"
)

// shelf is what was read of the catalog. It changes seldom, so that one client reads it once.
type shelf struct {
	mu     sync.Mutex
	types  []*hcloud.ServerType
	images map[imageKey]*hcloud.Image
}

type imageKey struct {
	image        string
	architecture hcloud.Architecture
}

// choice is what names of the catalog stand for.
type choice struct{ serverType, image int64 }

// CheckCatalog tells what of a server type, location and image is not offered, or not together, and what
// is instead. Empty ones are not judged. An error means that the catalog could not be read. A read.
func (c *Client) CheckCatalog(ctx context.Context, serverType, location, image string) ([]Problem, error) {
	ctx, current := begin(ctx, "read catalog", serverType)
	problems, _, err := c.judge(ctx, current, serverType, location, image)
	return problems, err
}

// resolve turns the names of a request into ids, as the API wants them: a name of an image alone does not
// say which architecture (section 8.3). What is not offered is [backends.Invalid].
func (c *Client) resolve(ctx context.Context, current *exchange, request ServerRequest) (choice, error) {
	problems, chosen, err := c.judge(ctx, current, request.ServerType, request.Location, request.Image)
	if err != nil {
		return choice{}, err
	}
	problems = slices.DeleteFunc(problems, func(p Problem) bool { return p.Warning })
	if len(problems) == 0 {
		return chosen, nil
	}
	var details []string
	for _, problem := range problems {
		details = append(details, problem.Detail)
	}
	return choice{}, &backends.Error{
		Kind: backends.Invalid, Backend: Name, Operation: current.operation, Object: current.object,
		Detail: strings.Join(details, " "), Remedy: "Choose from what is offered.",
	}
}

func (c *Client) judge(ctx context.Context, current *exchange, serverType, location, image string) ([]Problem, choice, error) {
	if serverType == "" {
		return nil, choice{}, nil // all else depends on it
	}
	types, err := c.serverTypes(ctx, current)
	if err != nil {
		return nil, choice{}, err
	}
	at := slices.IndexFunc(types, func(t *hcloud.ServerType) bool { return t.Name == serverType })
	if at < 0 {
		return []Problem{{
			Attribute: attributeType,
			Detail:    fmt.Sprintf("There is no server type %q. There are: %s.", serverType, names(types, location)),
		}}, choice{}, nil
	}
	found := types[at]
	problems := c.judgeLocation(types, found, location)
	chosen := choice{serverType: found.ID}
	if image != "" {
		known, err := c.image(ctx, current, image, found.Architecture)
		if err != nil {
			return nil, choice{}, err
		}
		if known != nil {
			chosen.image = known.ID
		}
		problem, err := c.judgeImage(ctx, current, known, image, found)
		if err != nil {
			return nil, choice{}, err
		}
		problems = append(problems, problem...)
	}
	return problems, chosen, nil
}

// judgeLocation follows the decision table of section 11.
func (c *Client) judgeLocation(types []*hcloud.ServerType, found *hcloud.ServerType, location string) []Problem {
	if location == "" {
		return nil
	}
	at := slices.IndexFunc(found.Locations, func(l hcloud.ServerTypeLocation) bool { return l.Location.Name == location })
	if at < 0 {
		return []Problem{{
			Attribute: attributeLocation,
			Detail: fmt.Sprintf("The server type %q is not offered in the location %q. It is offered in: %s. Offered there are: %s.",
				found.Name, location, places(found, false), names(types, location)),
		}}
	}
	there := found.Locations[at]
	var problems []Problem
	if there.IsDeprecated() {
		ends := there.UnavailableAfter()
		over := !ends.After(c.config.Now())
		problems = append(problems, Problem{
			Attribute: attributeType, Warning: !over,
			Detail: fmt.Sprintf("The server type %q is offered in %q only until %s.", found.Name, location, ends.UTC().Format(time.DateOnly)),
		})
	}
	if !there.Available {
		problems = append(problems, Problem{
			Attribute: attributeType, Warning: true,
			Detail: fmt.Sprintf("The server type %q is out of stock in %q now. It is in stock in: %s.", found.Name, location, places(found, true)),
		})
	}
	return problems
}

func (c *Client) judgeImage(ctx context.Context, current *exchange, known *hcloud.Image, image string, serverType *hcloud.ServerType) ([]Problem, error) {
	if known == nil {
		offered, err := c.api.Image.AllWithOpts(ctx, hcloud.ImageListOpts{
			ListOpts: hcloud.ListOpts{PerPage: pageSize}, Type: []hcloud.ImageType{hcloud.ImageTypeSystem},
			Architecture: []hcloud.Architecture{serverType.Architecture},
		})
		if err != nil {
			return nil, c.fail(current, err)
		}
		return []Problem{{
			Attribute: attributeImage,
			Detail: fmt.Sprintf("There is no image %q for the architecture %s of the server type %q. There are: %s.",
				image, serverType.Architecture, serverType.Name, join(convert(offered, func(i *hcloud.Image) string { return i.Name }))),
		}}, nil
	}
	var problems []Problem
	if known.IsDeprecated() {
		ends := known.UnavailableAfter()
		over := !ends.After(c.config.Now())
		problems = append(problems, Problem{
			Attribute: attributeImage, Warning: !over,
			Detail: fmt.Sprintf("New servers can be made from the image %q only until %s.", image, ends.UTC().Format(time.DateOnly)),
		})
	}
	if known.OSFlavor != "ubuntu" && known.OSFlavor != "debian" {
		problems = append(problems, Problem{
			Attribute: attributeImage, Warning: true,
			Detail: fmt.Sprintf("The image %q is neither Ubuntu nor Debian. Hosts are set up with apt and systemd, and are ready only where those are.", image),
		})
	}
	return problems, nil
}

// serverTypes reads the whole list once.
func (c *Client) serverTypes(ctx context.Context, current *exchange) ([]*hcloud.ServerType, error) {
	c.shelf.mu.Lock()
	defer c.shelf.mu.Unlock()
	if c.shelf.types != nil {
		return c.shelf.types, nil
	}
	if err := c.ready(); err != nil {
		return nil, c.fail(current, err)
	}
	types, err := c.api.ServerType.AllWithOpts(ctx, hcloud.ServerTypeListOpts{ListOpts: hcloud.ListOpts{PerPage: pageSize}})
	if err != nil {
		return nil, c.fail(current, err)
	}
	for _, found := range types {
		found.Locations = slices.DeleteFunc(found.Locations, func(l hcloud.ServerTypeLocation) bool { return l.Location == nil })
	}
	c.shelf.types = types
	return types, nil
}

// image reads one image of an architecture once; nil when there is none.
func (c *Client) image(ctx context.Context, current *exchange, image string, architecture hcloud.Architecture) (*hcloud.Image, error) {
	c.shelf.mu.Lock()
	defer c.shelf.mu.Unlock()
	key := imageKey{image, architecture}
	if known, ok := c.shelf.images[key]; ok {
		return known, nil
	}
	found, _, err := c.api.Image.GetForArchitecture(ctx, image, architecture)
	if err != nil {
		return nil, c.fail(current, err)
	}
	if found != nil && found.Architecture != architecture {
		found = nil
	}
	if c.shelf.images == nil {
		c.shelf.images = map[imageKey]*hcloud.Image{}
	}
	c.shelf.images[key] = found
	return found, nil
}

// withOffers adds to a want of capacity what else the catalog has in stock now.
func (c *Client) withOffers(ctx context.Context, err error, request ServerRequest) error {
	var failure *backends.Error
	if !errors.As(err, &failure) || failure.Kind != backends.NoCapacity || errors.Is(err, CodeResourceLimit) {
		return err
	}
	failure.Detail += fmt.Sprintf(" Asked for was the server type %q in the location %q.", request.ServerType, request.Location)
	c.shelf.mu.Lock()
	c.shelf.types = nil // stock is what has just changed
	c.shelf.mu.Unlock()
	lookup, current := begin(ctx, "read catalog", request.ServerType)
	types, lookupErr := c.serverTypes(lookup, current)
	if lookupErr != nil {
		return err // the offers are an addition: what failed is the create
	}
	for _, found := range types {
		if found.Name == request.ServerType {
			failure.Detail += fmt.Sprintf(" It is in stock in: %s.", places(found, true))
		}
	}
	failure.Detail += fmt.Sprintf(" In stock in %q: %s.", request.Location, names(types, request.Location))
	return err
}

// places are the locations of a server type, or only those that have it in stock.
func places(serverType *hcloud.ServerType, inStock bool) string {
	var all []string
	for _, there := range serverType.Locations {
		if !inStock || there.Available {
			all = append(all, there.Location.Name)
		}
	}
	return join(all)
}

// names are the server types that are in stock in a location, or all of them for "".
func names(types []*hcloud.ServerType, location string) string {
	var all []string
	for _, found := range types {
		if location == "" || slices.ContainsFunc(found.Locations, func(l hcloud.ServerTypeLocation) bool {
			return l.Location.Name == location && l.Available
		}) {
			all = append(all, found.Name)
		}
	}
	return join(all)
}

func join(all []string) string {
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) == 0 {
		return "none"
	}
	const most = 40
	if more := len(all) - most; more > 0 {
		all = append(all[:most], strconv.Itoa(more)+" more")
	}
	return strings.Join(all, ", ")
}

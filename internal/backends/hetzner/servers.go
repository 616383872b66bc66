package hetzner

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
	"github.com/hetznercloud/hcloud-go/v2/hcloud/exp/labelutil"
)

// errNoSelector guards against listing, and then deleting, everything (section 3.3).
var errNoSelector = errors.New("refused to list without labels or a name")

// CreateServer asks for a server with an IPv4 that exists already and without IPv6, and hands its id to
// stored before it waits. When the returned error says [Unsure], or "taken" ([CodeUniqueness]), the server
// may exist: look it up.
func (c *Client) CreateServer(ctx context.Context, request ServerRequest, stored func(Server) error) error {
	ctx, current := begin(ctx, "create server", request.Name, request.Secrets...)
	chosen, err := c.resolve(ctx, current, request)
	if err != nil {
		return err
	}
	start := true
	var made hcloud.ServerCreateResult
	err = c.patiently(ctx, func() error {
		var err error
		made, _, err = c.api.Server.Create(ctx, hcloud.ServerCreateOpts{
			Name:             request.Name,
			ServerType:       &hcloud.ServerType{ID: chosen.serverType},
			Image:            &hcloud.Image{ID: chosen.image},
			Location:         &hcloud.Location{Name: request.Location},
			SSHKeys:          []*hcloud.SSHKey{{ID: request.KeyID}},
			UserData:         request.UserData,
			StartAfterCreate: &start,
			Labels:           request.Labels,
			PublicNet: &hcloud.ServerCreatePublicNet{
				EnableIPv4: true, EnableIPv6: false, IPv4: &hcloud.PrimaryIP{ID: request.PrimaryIPID},
			},
		})
		return c.fail(current, err)
	})
	if err != nil {
		return c.withOffers(ctx, err, request)
	}
	// made.RootPassword is empty when a key is given, and is never looked at.
	if err := stored(serverOf(made.Server)); err != nil {
		return err
	}
	return c.wait(ctx, current, append([]*hcloud.Action{made.Action}, made.NextActions...)...)
}

// Server reads one server; nil without an error means that the API says it does not exist. A read.
func (c *Client) Server(ctx context.Context, id int64) (*Server, error) {
	ctx, current := begin(ctx, "read server", strconv.FormatInt(id, 10))
	if err := c.ready(); err != nil {
		return nil, c.fail(current, err)
	}
	found, _, err := c.api.Server.GetByID(ctx, id)
	if err != nil || found == nil {
		return nil, c.fail(current, err)
	}
	server := serverOf(found)
	return &server, nil
}

// Servers reads the servers that carry all of the labels, or have exactly the name. A read.
func (c *Client) Servers(ctx context.Context, labels map[string]string, name string) ([]Server, error) {
	ctx, current := begin(ctx, "list servers", name)
	selector, err := c.selector(labels, name)
	if err != nil {
		return nil, c.fail(current, err)
	}
	found, err := c.api.Server.AllWithOpts(ctx, hcloud.ServerListOpts{
		ListOpts: hcloud.ListOpts{LabelSelector: selector, PerPage: pageSize}, Name: name,
	})
	return convert(found, serverOf), c.fail(current, err)
}

// SetServerLabels replaces the labels. It does not touch the running server.
func (c *Client) SetServerLabels(ctx context.Context, id int64, labels map[string]string) error {
	return c.call(ctx, "label server", id, func(ctx context.Context) error {
		_, _, err := c.api.Server.Update(ctx, &hcloud.Server{ID: id}, hcloud.ServerUpdateOpts{Labels: labels})
		return err
	})
}

// ShutDown sends the signal of the power button and returns when it was sent. Whether the system inside
// heeds it, and when, only the status tells (section 8.2).
func (c *Client) ShutDown(ctx context.Context, id int64) error {
	return c.act(ctx, "shut down server", id, c.api.Server.Shutdown)
}

// PowerOn starts a server that is off and waits for the platform to have done so.
func (c *Client) PowerOn(ctx context.Context, id int64) error {
	return c.act(ctx, "power on server", id, c.api.Server.Poweron)
}

// DeleteServer deletes a server, running or not, and waits until that has ended; only then its address is
// free. An absent one is success.
func (c *Client) DeleteServer(ctx context.Context, id int64) error {
	return ignoreAbsent(c.act(ctx, "delete server", id, func(ctx context.Context, server *hcloud.Server) (*hcloud.Action, *hcloud.Response, error) {
		result, response, err := c.api.Server.DeleteWithResult(ctx, server)
		if err != nil {
			return nil, response, err
		}
		return result.Action, response, nil
	}))
}

// act starts an action of a server and waits for it.
func (c *Client) act(ctx context.Context, operation string, id int64, start func(context.Context, *hcloud.Server) (*hcloud.Action, *hcloud.Response, error)) error {
	ctx, current := begin(ctx, operation, strconv.FormatInt(id, 10))
	if err := c.ready(); err != nil {
		return c.fail(current, err)
	}
	var action *hcloud.Action
	err := c.patiently(ctx, func() error {
		var err error
		action, _, err = start(ctx, &hcloud.Server{ID: id})
		return c.fail(current, err)
	})
	if err != nil {
		return err
	}
	return c.wait(ctx, current, action)
}

// call makes one call about an object of an id.
func (c *Client) call(ctx context.Context, operation string, id int64, send func(context.Context) error) error {
	ctx, current := begin(ctx, operation, strconv.FormatInt(id, 10))
	if err := c.ready(); err != nil {
		return c.fail(current, err)
	}
	return c.patiently(ctx, func() error { return c.fail(current, send(ctx)) })
}

// selector is what a list asks for by labels.
func (c *Client) selector(labels map[string]string, name string) (string, error) {
	if len(labels) == 0 && name == "" {
		return "", errNoSelector
	}
	return labelutil.Selector(labels), c.ready()
}

func ignoreAbsent(err error) error {
	if errors.Is(err, CodeNotFound) {
		return nil
	}
	return err
}

func convert[From, To any](all []From, one func(From) To) []To {
	converted := make([]To, 0, len(all))
	for _, each := range all {
		converted = append(converted, one(each))
	}
	return converted
}

func serverOf(found *hcloud.Server) Server {
	server := Server{
		ID: found.ID, Name: found.Name, Status: ServerStatus(found.Status), Labels: found.Labels,
		Locked: found.Locked, Protected: found.Protection.Delete, CreatedAt: found.Created.UTC(),
		IPv6ID: found.PublicNet.IPv6.ID,
	}
	if address := found.PublicNet.IPv4; !address.IsUnspecified() {
		server.IPv4, server.IPv4ID = address.IP.String(), address.ID
	}
	if found.ServerType != nil {
		server.ServerType = found.ServerType.Name
	}
	if found.Location != nil {
		server.Location = found.Location.Name
	}
	if found.Image != nil {
		server.ImageID = found.Image.ID
		server.Image = cmp.Or(found.Image.Name, strconv.FormatInt(found.Image.ID, 10))
	}
	return server
}

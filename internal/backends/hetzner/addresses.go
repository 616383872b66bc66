package hetzner

import (
	"context"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// pageSize is the largest that the API gives (section 6).
const pageSize = 50

// CreatePrimaryIP allocates an IPv4 that stays when its server goes. [Unsure] and [CodeUniqueness] as for
// servers.
func (c *Client) CreatePrimaryIP(ctx context.Context, name, location string, labels map[string]string) (PrimaryIP, error) {
	ctx, current := begin(ctx, "create primary IP", name)
	if err := c.ready(); err != nil {
		return PrimaryIP{}, c.fail(current, err)
	}
	keep := false
	made, _, err := c.api.PrimaryIP.Create(ctx, hcloud.PrimaryIPCreateOpts{
		Name: name, Type: hcloud.PrimaryIPTypeIPv4, Location: location, Labels: labels, AutoDelete: &keep,
	})
	if err != nil {
		return PrimaryIP{}, c.fail(current, err)
	}
	return primaryIPOf(made.PrimaryIP), nil
}

// PrimaryIP reads one address; nil without an error means that the API says it does not exist. A read.
func (c *Client) PrimaryIP(ctx context.Context, id int64) (*PrimaryIP, error) {
	ctx, current := begin(ctx, "read primary IP", strconv.FormatInt(id, 10))
	if err := c.ready(); err != nil {
		return nil, c.fail(current, err)
	}
	found, _, err := c.api.PrimaryIP.GetByID(ctx, id)
	if err != nil || found == nil {
		return nil, c.fail(current, err)
	}
	address := primaryIPOf(found)
	return &address, nil
}

// PrimaryIPs reads the addresses that carry all of the labels, or have exactly the name. A read.
func (c *Client) PrimaryIPs(ctx context.Context, labels map[string]string, name string) ([]PrimaryIP, error) {
	ctx, current := begin(ctx, "list primary IPs", name)
	selector, err := c.selector(labels, name)
	if err != nil {
		return nil, c.fail(current, err)
	}
	found, err := c.api.PrimaryIP.AllWithOpts(ctx, hcloud.PrimaryIPListOpts{
		ListOpts: hcloud.ListOpts{LabelSelector: selector, PerPage: pageSize}, Name: name,
	})
	return convert(found, primaryIPOf), c.fail(current, err)
}

// SetPrimaryIPLabels replaces the labels.
func (c *Client) SetPrimaryIPLabels(ctx context.Context, id int64, labels map[string]string) error {
	return c.call(ctx, "label primary IP", id, func(ctx context.Context) error {
		_, _, err := c.api.PrimaryIP.Update(ctx, &hcloud.PrimaryIP{ID: id}, hcloud.PrimaryIPUpdateOpts{Labels: &labels})
		return err
	})
}

// DeletePrimaryIP deletes an address that is attached to nothing ([CodeAttached] otherwise). An absent one
// is success.
func (c *Client) DeletePrimaryIP(ctx context.Context, id int64) error {
	return ignoreAbsent(c.call(ctx, "delete primary IP", id, func(ctx context.Context) error {
		_, err := c.api.PrimaryIP.Delete(ctx, &hcloud.PrimaryIP{ID: id})
		return err
	}))
}

func primaryIPOf(found *hcloud.PrimaryIP) PrimaryIP {
	address := PrimaryIP{
		ID: found.ID, Name: found.Name, Type: string(found.Type), Labels: found.Labels,
		AssigneeID: found.AssigneeID, AssigneeType: found.AssigneeType, AutoDelete: found.AutoDelete,
		Protected: found.Protection.Delete, CreatedAt: found.Created.UTC(),
	}
	if found.IP != nil {
		address.IP = found.IP.String()
	}
	if found.Location != nil {
		address.Location = found.Location.Name
	}
	return address
}

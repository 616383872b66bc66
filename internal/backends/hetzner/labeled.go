package hetzner

import (
	"context"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// Labeled reads the servers that have a label, whatever its value. A read.
func (c *Client) Labeled(ctx context.Context, label string) ([]Server, error) {
	ctx, current := begin(ctx, "list servers", label)
	if err := c.readyFor(label); err != nil {
		return nil, c.fail(current, err)
	}
	found, err := c.api.Server.AllWithOpts(ctx, hcloud.ServerListOpts{ListOpts: hcloud.ListOpts{LabelSelector: label, PerPage: pageSize}})
	if err != nil {
		return nil, c.fail(current, err)
	}
	return convert(found, serverOf), nil
}

func (c *Client) readyFor(label string) error {
	if label == "" {
		return errNoSelector
	}
	return c.ready()
}

package hetzner

import (
	"context"
	"strconv"

	"github.com/hetznercloud/hcloud-go/v2/hcloud"
)

// CreateSSHKey registers a public key. [Unsure] and [CodeUniqueness] as for servers; a key pair can be
// registered only once in a project, under whatever name.
func (c *Client) CreateSSHKey(ctx context.Context, name, publicKey string, labels map[string]string) (SSHKey, error) {
	ctx, current := begin(ctx, "create SSH key", name)
	if err := c.ready(); err != nil {
		return SSHKey{}, c.fail(current, err)
	}
	made, _, err := c.api.SSHKey.Create(ctx, hcloud.SSHKeyCreateOpts{Name: name, PublicKey: publicKey, Labels: labels})
	if err != nil {
		return SSHKey{}, c.fail(current, err)
	}
	return sshKeyOf(made), nil
}

// SSHKey reads one key; nil without an error means that the API says it does not exist. A read.
func (c *Client) SSHKey(ctx context.Context, id int64) (*SSHKey, error) {
	ctx, current := begin(ctx, "read SSH key", strconv.FormatInt(id, 10))
	if err := c.ready(); err != nil {
		return nil, c.fail(current, err)
	}
	found, _, err := c.api.SSHKey.GetByID(ctx, id)
	if err != nil || found == nil {
		return nil, c.fail(current, err)
	}
	key := sshKeyOf(found)
	return &key, nil
}

// SSHKeys reads the keys that carry all of the labels, or have exactly the name. A read.
func (c *Client) SSHKeys(ctx context.Context, labels map[string]string, name string) ([]SSHKey, error) {
	ctx, current := begin(ctx, "list SSH keys", name)
	selector, err := c.selector(labels, name)
	if err != nil {
		return nil, c.fail(current, err)
	}
	found, err := c.api.SSHKey.AllWithOpts(ctx, hcloud.SSHKeyListOpts{
		ListOpts: hcloud.ListOpts{LabelSelector: selector, PerPage: pageSize}, Name: name,
	})
	return convert(found, sshKeyOf), c.fail(current, err)
}

// SSHKeysByFingerprint reads the keys with an MD5 fingerprint: none, or one. A read.
func (c *Client) SSHKeysByFingerprint(ctx context.Context, fingerprint string) ([]SSHKey, error) {
	ctx, current := begin(ctx, "list SSH keys", fingerprint)
	if err := c.ready(); err != nil {
		return nil, c.fail(current, err)
	}
	found, err := c.api.SSHKey.AllWithOpts(ctx, hcloud.SSHKeyListOpts{
		ListOpts: hcloud.ListOpts{PerPage: pageSize}, Fingerprint: fingerprint,
	})
	return convert(found, sshKeyOf), c.fail(current, err)
}

// SetSSHKeyLabels replaces the labels.
func (c *Client) SetSSHKeyLabels(ctx context.Context, id int64, labels map[string]string) error {
	return c.call(ctx, "label SSH key", id, func(ctx context.Context) error {
		_, _, err := c.api.SSHKey.Update(ctx, &hcloud.SSHKey{ID: id}, hcloud.SSHKeyUpdateOpts{Labels: labels})
		return err
	})
}

// DeleteSSHKey deletes a key. An absent one is success.
func (c *Client) DeleteSSHKey(ctx context.Context, id int64) error {
	return ignoreAbsent(c.call(ctx, "delete SSH key", id, func(ctx context.Context) error {
		_, err := c.api.SSHKey.Delete(ctx, &hcloud.SSHKey{ID: id})
		return err
	}))
}

func sshKeyOf(found *hcloud.SSHKey) SSHKey {
	return SSHKey{
		ID: found.ID, Name: found.Name, Fingerprint: found.Fingerprint, PublicKey: found.PublicKey,
		Labels: found.Labels, CreatedAt: found.Created.UTC(),
	}
}

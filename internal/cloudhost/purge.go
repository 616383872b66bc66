package cloudhost

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Delete lets go of a host. With purge it verifies every resource, then deletes server, address and key,
// and the record when all are gone; it can be repeated after any failure. Otherwise the server is shut down
// gracefully and the record detached. What was never committed is removed under either. A state whose
// attachment is not the record's only forgets. Refusals before the first deletion: [CodeForeignLabels],
// [CodeForeignAssignment], [CodeUntrackedIPv6], [CodeAmbiguous], [CodeConflictingID], [CodeProtected],
// [sandbox.CodeUnproven], [CodeRecordMissing].
func (m *Manager) Delete(ctx context.Context, owner, name string, attachment sandbox.Attachment, purge bool) (outcome sandbox.Outcome, err error) {
	// Before the lock, which is a file in the store's directory: that may be somebody else's.
	if attachment.Binding != "" && attachment.Record == "" {
		if _, err := m.checkBinding(ID(owner, name), attachment.Binding); err != nil {
			return "", err
		}
	}
	ctx, unlock, err := m.lock(ctx, name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	record, err := m.records().ByID(ctx, attachment.Record)
	if err != nil {
		return "", err
	}
	if record == nil {
		return m.deleteUnrecorded(ctx, owner, name, attachment, purge)
	}
	k, err := open(*record)
	if err != nil {
		return "", err
	}
	if attachment.Token != "" && k.Attachment != attachment.Token {
		return sandbox.Forgotten, nil
	}
	if err := m.bind(ctx, k); err != nil {
		return "", err
	}
	if purge || !k.Committed || k.destroying() {
		return sandbox.Removed, m.purge(ctx, k)
	}
	return sandbox.Retained, m.retain(ctx, k)
}

// Dispose purges a host that was never committed, and returns false when it was: then nothing is touched.
func (m *Manager) Dispose(ctx context.Context, owner, name string, attachment sandbox.Attachment) (bool, error) {
	record, err := m.records().ByID(ctx, attachment.Record)
	if err != nil || record != nil && record.Committed {
		return false, err
	}
	outcome, err := m.Delete(ctx, owner, name, attachment, false)
	return outcome == sandbox.Removed, err
}

// retain shuts the server down and detaches the record. Of a server that is gone, address, key and record
// stay all the same: they are what a purge removes.
func (m *Manager) retain(ctx context.Context, k *known) error {
	server, err := m.API.Server(ctx, k.ServerID)
	if err != nil {
		return err
	}
	if server != nil {
		if err := k.checkMarks("server", server.ID, server.Labels); err != nil {
			return err
		}
		if _, err := m.underIntent(ctx, k, func() (*hetzner.Server, error) { return m.sleep(ctx, k, server) }); err != nil {
			return err
		}
	}
	k.Attachment, k.pending = "", nil
	return m.write(ctx, k)
}

// deleteUnrecorded handles a lost record. Nothing is purged without one: its ids are the proof.
func (m *Manager) deleteUnrecorded(ctx context.Context, owner, name string, attachment sandbox.Attachment, purge bool) (sandbox.Outcome, error) {
	id := ID(owner, name)
	if attachment.Record == "" || attachment.Binding == "" {
		if !purge {
			return sandbox.Forgotten, nil
		}
		return "", refuse(sandbox.CodeUnproven,
			"Import it, apply, then destroy it again; or let go of it with `terraform state rm`.",
			"Neither the state nor the store says that %s is this resource's, so it is not purged.", id)
	}
	if holder, deleted, err := m.Store.Deleted(ctx, attachment.Record); err != nil {
		return "", err
	} else if deleted && holder == attachment.Token {
		return sandbox.Removed, nil
	}
	if _, err := m.checkBinding(id, attachment.Binding); err != nil {
		return "", err
	}
	left, err := m.marked(ctx, map[string]string{labelRecord: attachment.Record})
	if err != nil {
		return "", err
	}
	switch {
	case len(left) == 0:
		return sandbox.Removed, nil
	case !purge:
		return sandbox.Forgotten, nil
	}
	return "", refuse(CodeRecordMissing,
		fmt.Sprintf("Use the `data_dir` or the database that it was made with. If that is lost, remove in the console of the platform what carries the label %s=%s, then let go of it with `terraform state rm`.", labelRecord, attachment.Record),
		"There is no record of %s, and without its ids nothing is purged.", id)
}

// resources are what is left of a host.
type resources struct {
	server  *hetzner.Server
	address *hetzner.PrimaryIP
	key     *hetzner.SSHKey
}

// purge verifies all, then deletes all, and the record when all is gone.
func (m *Manager) purge(ctx context.Context, k *known) error {
	if _, err := m.verify(ctx, k); err != nil {
		return err
	}
	m.hangUp(k.ID)
	k.pending = &intent{Operation: purging, Since: m.now()}
	if err := m.write(ctx, k); err != nil {
		return err
	}
	if err := m.deleteAll(ctx, k); err != nil {
		return err
	}
	if err := m.expectNone(ctx, k); err != nil {
		return err
	}
	if err := m.removeFiles(ctx, k.ID); err != nil {
		return fmt.Errorf("remove the SSH files of %s: %w", k.id(), err)
	}
	return m.Store.Delete(ctx, k.Record)
}

// deleteAll deletes in the order in which the platform lets go: the address is free only when its server is
// gone. What is gone already is done.
func (m *Manager) deleteAll(ctx context.Context, k *known) error {
	if k.ServerID != 0 {
		if err := m.API.DeleteServer(ctx, k.ServerID); err != nil {
			return err
		}
		err := m.API.Poll(ctx, func() (bool, error) {
			server, err := m.API.Server(ctx, k.ServerID)
			return err == nil && server == nil, err
		})
		if err != nil {
			return fmt.Errorf("wait until the server of %s is gone: %w", k.id(), err)
		}
	}
	if k.PrimaryIPID != 0 {
		if err := m.waitDetached(ctx, k); err != nil {
			return err
		}
		if err := m.API.DeletePrimaryIP(ctx, k.PrimaryIPID); err != nil {
			return err
		}
	}
	if k.KeyID != 0 {
		return m.API.DeleteSSHKey(ctx, k.KeyID)
	}
	return nil
}

// waitDetached waits until the address is attached to nothing. Somebody may have attached it elsewhere the
// moment it was free.
func (m *Manager) waitDetached(ctx context.Context, k *known) error {
	err := m.API.Poll(ctx, func() (bool, error) {
		address, err := m.API.PrimaryIP(ctx, k.PrimaryIPID)
		if err != nil || address == nil || address.AssigneeID == 0 {
			return err == nil, err
		}
		return false, k.checkAssignee(address)
	})
	if err != nil {
		return fmt.Errorf("wait until the address of %s is free: %w", k.id(), err)
	}
	return nil
}

// expectNone makes sure that nothing carries the labels any more. Lists may lag behind.
func (m *Manager) expectNone(ctx context.Context, k *known) error {
	var left []Orphan
	none, err := m.API.Settle(ctx, func() (bool, error) {
		var err error
		left, err = m.marked(ctx, map[string]string{labelOwner: ownerLabel(k.Owner), labelRecord: k.ID})
		return err == nil && len(left) == 0, err
	})
	if err != nil || none {
		return err
	}
	return refuse(CodeAmbiguous,
		"Look at it in the console of the platform: remove it, or take the labels off. Then destroy again.",
		"All that the record of %s names is deleted, but the %s %d still carries its labels.", k.id(), left[0].Kind, left[0].ID)
}

// verify looks at everything before anything is deleted. Ids that the record does not know, since a run was
// killed before it could store them, are found by their labels.
func (m *Manager) verify(ctx context.Context, k *known) (resources, error) {
	var all resources
	var err error
	if all.server, err = verified(ctx, m, k, allocatingServer, &k.ServerID, m.API.Server, m.API.Servers); err != nil {
		return all, err
	}
	if all.address, err = verified(ctx, m, k, allocatingIP, &k.PrimaryIPID, m.API.PrimaryIP, m.API.PrimaryIPs); err != nil {
		return all, err
	}
	if all.key, err = verified(ctx, m, k, allocatingKey, &k.KeyID, m.API.SSHKey, m.API.SSHKeys); err != nil {
		return all, err
	}
	if server := all.server; server != nil {
		switch {
		case server.IPv6ID != 0:
			return all, untrackedIPv6(k.id(), server.ID)
		case server.IPv4ID != 0 && server.IPv4ID != k.PrimaryIPID:
			return all, refuse(CodeForeignAssignment,
				"Take that address off the server in the console of the platform. Nothing was deleted.",
				"The server %d of %s has another address than the one that its record names.", server.ID, k.id())
		case server.Protected:
			return all, protected(k.id(), "server", server.ID)
		}
	}
	if address := all.address; address != nil {
		if err := k.checkAssignee(address); err != nil {
			return all, err
		}
		if address.Protected {
			return all, protected(k.id(), "primary IP", address.ID)
		}
	}
	if key := all.key; key != nil && k.ClientKey != "" && !samePublic(key.PublicKey, k.ClientKey) {
		return all, unexpected(k.id(), "SSH key", key.ID, "its public key is another one")
	}
	return all, nil
}

// verified looks at one resource: by its id, by the labels, and that both say the same.
func verified[T labeled](
	ctx context.Context, m *Manager, k *known, allocating step, id *int64, get func(context.Context, int64) (*T, error), list lister[T],
) (*T, error) {
	kind := allocating.kind()
	var found *T
	if *id != 0 {
		var err error
		if found, err = get(ctx, *id); err != nil {
			return nil, err
		}
		if found != nil {
			if err := k.checkMarks(kind, *id, labelsOf(*found)); err != nil {
				return nil, err
			}
		}
	}
	marked, err := byMarks(ctx, k, kind, list)
	if err == nil && marked == nil && *id == 0 && k.pending != nil && k.pending.Step == allocating {
		// It was about to be asked for when a run was killed: it may show late.
		_, err = m.API.Settle(ctx, func() (bool, error) {
			var err error
			marked, err = byMarks(ctx, k, kind, list)
			return marked != nil, err
		})
	}
	switch {
	case err != nil:
		return nil, err
	case marked == nil:
		return found, nil
	case *id == 0:
		*id = idOf(*marked)
		return marked, nil
	case idOf(*marked) != *id:
		return nil, refuse(CodeConflictingID,
			"One of them was given the labels of the other. Look at both in the console of the platform. Nothing was deleted.",
			"The record of %s names the %s %d, but its labels are on the %s %d.", k.id(), kind, *id, kind, idOf(*marked))
	}
	return found, nil
}

// checkAssignee refuses an address that is attached to anything but our server.
func (k *known) checkAssignee(address *hetzner.PrimaryIP) error {
	if address.AssigneeID == 0 || address.AssigneeType == "server" && address.AssigneeID == k.ServerID {
		return nil
	}
	return refuse(CodeForeignAssignment,
		"Take it off there in the console of the platform, if that is what you want. It is never taken from something else.",
		"The primary IP %d of %s is attached to the %s %d, which is not its server.", address.ID, k.id(), address.AssigneeType, address.AssigneeID)
}

func protected(id, kind string, resource int64) *sandbox.Refusal {
	return refuse(CodeProtected,
		"Lift the protection in the console of the platform, if it is meant to go. Nothing was deleted.",
		"Deletion protection is on for the %s %d of %s.", kind, resource, id)
}

package cloudhost

import (
	"context"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Read looks at the host of a state. Many reads are served by one listing, and what is not in that is read
// singly. A failing API or store, or another binding, is an error, never absence. It needs no keys and
// writes nothing. A lost record makes Recorded false; [CodeForeignLabels] when the server carries others.
func (m *Manager) Read(ctx context.Context, owner, name string, attachment sandbox.Attachment) (Host, error) {
	record, err := m.records().ByID(ctx, attachment.Record)
	if err != nil {
		return Host{}, err
	}
	if record == nil {
		return m.readUnrecorded(ctx, owner, name, attachment)
	}
	k, err := open(*record)
	if err != nil {
		return Host{}, err
	}
	host, err := m.look(ctx, k)
	host.TakenOver = attachment.Token != "" && k.Attachment != "" && k.Attachment != attachment.Token
	return host, err
}

// Import looks up the host of an owner and name by its record, also one whose server is gone. Without a
// record it is [CodeRecordMissing]: its keys cannot be rebuilt from labels. [sandbox.CodeNotOurs] when the
// owner is not the configured one. It writes nothing.
func (m *Manager) Import(ctx context.Context, owner, name string) (Host, error) {
	ours, err := m.records().Owner(ctx)
	if err != nil {
		return Host{}, err
	}
	if owner != ours {
		return Host{}, refuse(sandbox.CodeNotOurs, "Set the provider's `owner` to that one if it is yours.", "The owner %q of %s is not the one that is configured.", owner, ID(owner, name))
	}
	k, err := m.find(ctx, owner, name)
	if err != nil {
		return Host{}, err
	}
	if k == nil {
		return Host{}, refuse(CodeRecordMissing,
			"Use the `data_dir` or the database that it was made with: its keys are there. A server that Sandlot did not make cannot be imported.",
			"There is no record of %s.", ID(owner, name))
	}
	return m.look(ctx, k)
}

// ByRecord looks at the host of a record, for data sources. [CodeRecordMissing] when there is none.
func (m *Manager) ByRecord(ctx context.Context, recordID string) (Host, error) {
	k, err := m.byID(ctx, recordID)
	if err != nil {
		return Host{}, err
	}
	return m.look(ctx, k)
}

// look reads the server of a record.
func (m *Manager) look(ctx context.Context, k *known) (Host, error) {
	match, err := m.prove(ctx, k)
	if err != nil {
		return Host{}, err
	}
	server, err := m.glance(ctx, k)
	if err != nil {
		return Host{}, err
	}
	host := m.described(k, server)
	host.RebindPending = match == bindingRotated
	return host, nil
}

// glance is the server of a record, nil when it is gone or was never made.
func (m *Manager) glance(ctx context.Context, k *known) (*hetzner.Server, error) {
	if k.ServerID == 0 {
		return nil, nil
	}
	server, err := m.API.Glance(ctx, labelRecord, k.ServerID)
	if err != nil || server == nil {
		return nil, err
	}
	return server, k.checkMarks("server", server.ID, server.Labels)
}

// described is how a host stands, by its record and its server.
func (m *Manager) described(k *known, server *hetzner.Server) Host {
	host := Host{
		RecordID: k.ID, Owner: k.Owner, Name: k.Name, Attachment: sandbox.AttachmentOf(k.Record),
		ServerID: k.ServerID, KeyID: k.KeyID, PrimaryIPID: k.PrimaryIPID, IPv4: k.IPv4,
		HostKeyFingerprint: k.fingerprint(), SSHConfigPath: m.SSHConfigPath(k.ID),
		Committed: k.Committed, Destroying: k.destroying(), CreatedAt: k.CreatedAt,
		ServerType: k.ServerType, Location: k.Location, Image: k.Image, Labels: k.contents.Labels,
		DockerPackages: k.DockerPackages, AuthorizedKeys: k.AuthorizedKeys,
		IdleTimeout: k.IdleTimeout, ExpiresAt: k.ExpiresAt, Settings: k.Settings,
		Recorded: true, Status: StatusMissing,
	}
	if server != nil {
		host.observe(server)
	}
	switch {
	case k.destroying():
		host.Status = StatusDestroying
	case !k.Committed:
		host.Status = StatusIncomplete
	case server != nil && k.pending != nil:
		host.Status = StatusInterrupted
	}
	return host
}

// observe takes over what only the platform knows.
func (h *Host) observe(server *hetzner.Server) {
	h.Status = statusOf(server.Status)
	h.ServerType, h.Location, h.IPv4 = server.ServerType, server.Location, server.IPv4
	h.Labels = userLabels(server.Labels)
	if h.Image == "" {
		h.Image = server.Image
	}
}

func statusOf(status hetzner.ServerStatus) Status {
	switch status {
	case hetzner.ServerRunning:
		return StatusRunning
	case hetzner.ServerOff:
		return StatusSleeping
	case hetzner.ServerInitializing, hetzner.ServerStarting:
		return StatusStarting
	case hetzner.ServerStopping:
		return StatusStopping
	case hetzner.ServerMigrating, hetzner.ServerRebuilding, hetzner.ServerDeleting:
		return StatusBusy
	}
	return StatusUnknown
}

// readUnrecorded looks for a host whose record is lost by the labels that a state remembers. Only what this
// state's own attachment purged is done with.
func (m *Manager) readUnrecorded(ctx context.Context, owner, name string, attachment sandbox.Attachment) (Host, error) {
	host := Host{RecordID: attachment.Record, Owner: owner, Name: name, Attachment: attachment, Status: StatusMissing, Committed: true}
	if attachment.Record != "" {
		holder, deleted, err := m.Store.Deleted(ctx, attachment.Record)
		if err != nil {
			return Host{}, err
		}
		if host.Deleted = deleted && attachment.Token != "" && holder == attachment.Token; host.Deleted {
			return host, nil
		}
	}
	if attachment.Binding != "" {
		if _, err := m.checkBinding(ID(owner, name), attachment.Binding); err != nil {
			return Host{}, err
		}
	}
	labels := map[string]string{labelOwner: ownerLabel(owner), labelName: name}
	if attachment.Record != "" {
		labels = map[string]string{labelRecord: attachment.Record}
	}
	found, err := m.API.Servers(ctx, labels, "")
	switch {
	case err != nil:
		return Host{}, err
	case len(found) > 1:
		return Host{}, refuse(CodeAmbiguous, "Take the labels off those that do not belong to it, in the console of the platform.",
			"%d servers carry the labels of %s.", len(found), ID(owner, name))
	case len(found) == 1:
		host.ServerID, host.PrimaryIPID, host.CreatedAt = found[0].ID, found[0].IPv4ID, found[0].CreatedAt
		host.observe(&found[0])
	}
	return host, nil
}

// Foresee looks a name up in the store alone, so that a plan can say what a create will meet. No API is
// asked.
func (m *Manager) Foresee(ctx context.Context, request Request) (Foresight, error) {
	owner, err := m.records().Owner(ctx)
	if err != nil || owner == "" {
		return Foresight{}, err
	}
	found, err := m.Store.Find(ctx, store.Query{Backend: Backend, Kind: RecordKind, Owner: owner, Name: request.Name})
	if err != nil || len(found) == 0 {
		return Foresight{}, err
	}
	k, err := open(found[0])
	if err != nil || !k.Committed || k.destroying() {
		return Foresight{}, err
	}
	return Foresight{
		Exists: true, Attached: k.Attachment != "", Different: k.differs(request),
		OtherPlace: k.Binding != m.API.Binding().String(),
	}, nil
}

package basesnapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// View is what a read found, by reads only.
type View struct {
	Lane Lane
	// Attachment is what the record says; empty when it is lost.
	Attachment sandbox.Attachment
	// Missing is true when the lane itself is gone from the store.
	Missing bool
	// Deleted is true when this state's own delete was completed, but the answer never reached it.
	Deleted bool
	// TakenOver is true when another Terraform state has attached the lane since.
	TakenOver bool
	// Status is one of the store's. It is failed, with a Reason, when no workspace could start from the
	// current snapshot.
	Status string
	Reason string
	// Current is what the lane points at, nil when at nothing; Previous is what one would go back to.
	Current  *Entry
	Previous *Entry
	// History are all entries, the newest first.
	History []Entry
	// What the record keeps of the configuration.
	Settings      json.RawMessage
	RebakeTrigger string
}

// Read looks at a lane that attachment ties to a state. A failing backend, store or binding is an
// error, never absence.
func (m *Manager) Read(ctx context.Context, lane Lane, attachment sandbox.Attachment) (View, error) {
	id := ID(m.backend().Name(), lane)
	if err := m.Sandboxes.CheckBinding(ctx, id, attachment.Binding); err != nil {
		return View{}, err
	}
	if attachment.Record == "" {
		// The private state can be lost: core drops it when the plugin dies in an update.
		return m.Lookup(ctx, lane)
	}
	record, err := m.Sandboxes.RecordByID(ctx, attachment.Record)
	if err != nil {
		return View{}, err
	}
	if record == nil {
		view := missing(lane)
		holder, deleted, err := m.store().Deleted(ctx, attachment.Record)
		view.Deleted = deleted && attachment.Token != "" && holder == attachment.Token
		return view, err
	}
	if err := m.Sandboxes.CheckBinding(ctx, id, record.Binding); err != nil {
		return View{}, err
	}
	view, err := m.view(ctx, *record)
	view.TakenOver = attachment.Token != "" && record.Attachment != "" && record.Attachment != attachment.Token
	return view, err
}

// Lookup looks at a lane of ours by its name. One that does not exist is Missing.
func (m *Manager) Lookup(ctx context.Context, lane Lane) (View, error) {
	binding, err := m.backend().Binding(ctx)
	if errors.Is(err, backends.NotFound) {
		return missing(lane), nil
	}
	if err != nil {
		return View{}, err
	}
	owner, err := m.Sandboxes.Owner(ctx)
	if err != nil || owner == "" {
		return missing(lane), err
	}
	record, err := m.find(ctx, place{backend: m.backend().Name(), binding: binding.ID, owner: owner}, lane)
	if err != nil || record == nil {
		return missing(lane), err
	}
	return m.view(ctx, *record)
}

// Import looks at a lane of ours that no state of the caller holds.
func (m *Manager) Import(ctx context.Context, lane Lane) (View, error) {
	view, err := m.Lookup(ctx, lane)
	if err == nil && view.Missing {
		err = &sandbox.Refusal{
			Code:   CodeLaneMissing,
			Detail: fmt.Sprintf("There is no %s that the provider's owner baked here.", ID(m.backend().Name(), lane)),
			Remedy: "Check the provider's `owner`, `store` and `data_dir`, or let an apply bake it.",
		}
	}
	return view, err
}

func missing(lane Lane) View {
	return View{Lane: lane, Missing: true, Status: store.SnapshotFailed, Reason: "The lane is not in the store."}
}

func (m *Manager) view(ctx context.Context, record store.Record) (View, error) {
	view := View{Lane: laneOf(record.Name), Attachment: sandbox.AttachmentOf(record)}
	kept, err := contentsOf(record)
	if err != nil {
		return view, err
	}
	view.Settings, view.RebakeTrigger = kept.Settings, kept.Trigger
	begun, err := intentOf(record)
	if err != nil {
		return view, err
	}
	entries, err := m.laneEntries(ctx, record.ID)
	if err != nil {
		return view, err
	}
	standing, err := standingOf(entries)
	if err != nil {
		return view, err
	}
	view.Current, view.Previous, view.History = standing.current, standing.previous, standing.history
	if begun.Operation == deleting {
		view.Status, view.Reason = store.SnapshotFailed, "A purge of the lane was cut short. The next one finishes it."
		return view, nil
	}
	view.Status, view.Reason, err = m.status(ctx, entries)
	return view, err
}

// status tells how a lane stands: by its current entry, or by the newest one when it points at none.
func (m *Manager) status(ctx context.Context, entries []store.Snapshot) (status, reason string, err error) {
	current := currentOf(entries)
	switch {
	case current == nil && len(entries) == 0:
		return store.SnapshotFailed, "Nothing was baked yet.", nil
	case current == nil && entries[0].Status == store.SnapshotReady:
		return store.SnapshotFailed, "The lane points at none of its snapshots: an operation was cut short.", nil
	case current == nil && entries[0].Status == store.SnapshotRetired:
		return entries[0].Status, "A destroy that retains has retired the lane.", nil
	case current == nil:
		return entries[0].Status, entries[0].LastError, nil
	case !saved(*current):
		return current.Status, current.LastError, nil
	case expired(*current, now()):
		return store.SnapshotFailed, fmt.Sprintf("The snapshot %s expired at %s.", current.SnapshotID, current.ExpiresAt.Format(time.RFC3339)), nil
	}
	there, err := m.present(ctx, *current)
	if err != nil {
		return "", "", err
	}
	if !there {
		return store.SnapshotFailed, fmt.Sprintf("The snapshot %s was deleted outside of Terraform.", current.SnapshotID), nil
	}
	return current.Status, "", nil
}

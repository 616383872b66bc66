package sandbox

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// detachAsleep lets go of a sandbox whose cloud host sleeps: it was stopped with that, and its data is
// kept. The host is not woken. What has no data to keep, or was cut short, needs the host; asleep says so.
func (m *Manager) detachAsleep(ctx context.Context, name string, attachment Attachment, asleep error) (outcome Outcome, err error) {
	err = m.changeAsleep(ctx, name, attachment, asleep, func(record *store.Record) error {
		if record.Kind == string(backends.Session) && len(record.Workspace) == 0 {
			return asleep
		}
		record.Attachment = ""
		return nil
	})
	if errors.Is(err, errForgotten) {
		return Forgotten, nil
	}
	return Retained, err
}

// NoteAsleep keeps what only the configuration knows of a sandbox whose cloud host sleeps. Nothing but
// the record is changed. asleep is the error of whoever is not at home.
func (m *Manager) NoteAsleep(ctx context.Context, name string, attachment Attachment, settings json.RawMessage, asleep error) error {
	err := m.changeAsleep(ctx, name, attachment, asleep, func(record *store.Record) error {
		kept, err := contentsOf(*record)
		if err != nil {
			return err
		}
		kept.Settings = settings
		record.Spec, err = store.Encode(kept)
		return err
	})
	if errors.Is(err, errForgotten) {
		return nil // another state holds it, as a refresh said
	}
	return err
}

// errForgotten tells changeAsleep's callers that another state holds the record.
var errForgotten = errors.New("another state holds the record")

// changeAsleep changes the record alone, under the lock, when nothing is under way.
func (m *Manager) changeAsleep(ctx context.Context, name string, attachment Attachment, asleep error, change func(record *store.Record) error) (err error) {
	ctx, unlock, err := m.lock(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	record, err := m.RecordByID(ctx, attachment.Record)
	switch {
	case err != nil:
		return err
	case record == nil || !record.Committed || len(record.Intent) > 0:
		return asleep
	case attachment.Token != "" && record.Attachment != attachment.Token:
		return errForgotten
	}
	if err := change(record); err != nil {
		return err
	}
	_, err = m.Store.Update(ctx, *record)
	return err
}

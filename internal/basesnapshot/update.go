package basesnapshot

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Update brings an attached lane to the request. A new snapshot is baked beside the old one when the
// manifest, the environment, the smoke checks or the trigger changed, or when the current one is gone
// or has expired; anything else changes the record alone. A lane that was lost from the store is
// entered again.
func (m *Manager) Update(ctx context.Context, attachment sandbox.Attachment, request Request) (result Result, err error) {
	hash, err := m.check(request)
	if err != nil {
		return Result{}, err
	}
	id := ID(m.backend().Name(), request.Lane)
	// Before the lock, which is a file in the store's directory: that may be somebody else's.
	if err := m.Sandboxes.CheckBinding(ctx, id, attachment.Binding); err != nil {
		return Result{}, err
	}
	ctx, unlock, err := m.lockLane(ctx, request.Lane)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	record, err := m.attached(ctx, attachment, request.Lane)
	if err != nil {
		return Result{}, err
	}
	return m.carryOut(ctx, record, &job{request: request, hash: hash, where: placeOf(record), token: attachment.Token})
}

// attached returns the record of a lane after it made sure that this state may change it.
func (m *Manager) attached(ctx context.Context, attachment sandbox.Attachment, lane Lane) (store.Record, error) {
	id := ID(m.backend().Name(), lane)
	record, err := m.Sandboxes.RecordByID(ctx, attachment.Record)
	if err != nil {
		return store.Record{}, err
	}
	if record == nil {
		return m.enterAgain(ctx, attachment, lane)
	}
	if err := checkLane(*record, lane); err != nil {
		return store.Record{}, err
	}
	if err := m.Sandboxes.CheckBinding(ctx, id, record.Binding); err != nil {
		return store.Record{}, err
	}
	if record.Attachment != "" && attachment.Token != "" && record.Attachment != attachment.Token {
		return store.Record{}, sandbox.TakenOver(id)
	}
	return *record, nil
}

// checkLane makes sure that a record is that of the lane whose lock is held.
func checkLane(record store.Record, lane Lane) error {
	if record.Kind == RecordKind && record.Name == recordPrefix+lane.String() {
		return nil
	}
	return fmt.Errorf("the state says that %s is record %s, but that is %s/%s of kind %s", lane, record.ID, record.Backend, record.Name, record.Kind)
}

// enterAgain makes the lost record of a lane anew, under the id that its snapshots carry.
func (m *Manager) enterAgain(ctx context.Context, attachment sandbox.Attachment, lane Lane) (store.Record, error) {
	where, err := m.prepare(ctx)
	if err != nil {
		return store.Record{}, err
	}
	other, err := m.find(ctx, where, lane)
	switch {
	case err != nil:
		return store.Record{}, err
	case other != nil && attachment.Record != "":
		return store.Record{}, sandbox.TakenOver(ID(where.backend, lane))
	case other != nil:
		return *other, nil
	case attachment.Record == "":
		attachment.Record = sandbox.NewToken()
	}
	return m.insertLane(ctx, where, lane, attachment.Record, attachment.Token)
}

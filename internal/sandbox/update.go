package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Update brings an attached sandbox to the request, finishes what a killed update began and
// recovers lost compute on the data that is left.
func (m *Manager) Update(ctx context.Context, attachment Attachment, request Request) (result Result, err error) {
	// Before the lock, which is a file in the store's directory: that may be somebody else's.
	if err := m.checkBinding(ctx, request.Name, attachment.Binding); err != nil {
		return Result{}, err
	}
	ctx, unlock, err := m.lock(ctx, request.Name)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	record, observed, err := m.attached(ctx, attachment, request)
	if err != nil {
		return Result{}, err
	}
	kept, err := contentsOf(*record)
	if err != nil {
		return Result{}, err
	}
	request.Spec = withSource(request.Spec, kept.Spec.Source)
	request = m.nativeRetention(request)
	if err := m.settleCheckpoint(ctx, record, observed); err != nil {
		return Result{}, err
	}
	if request.Extension != nil {
		if done, result, err := m.updateLost(ctx, request, record, observed, attachment.Token); done || err != nil {
			return result, err
		}
	}
	if observed == nil {
		return Result{}, gone(ID(m.Backend.Name(), request.Name))
	}
	if request.Spec.Secrets == nil {
		request.Spec.SecretNames = kept.Spec.SecretNames
	}
	if err := m.checkWhole(request, kept); err != nil {
		return Result{}, err
	}
	request.Spec.EnvironmentKept = environmentKept(request.Spec, kept.Spec, *record)
	pending, err := m.announceChange(ctx, record, request, kept, *observed)
	if err != nil {
		return Result{}, err
	}
	request.Spec = sortedNames(request.Spec)
	after, err := m.Backend.Reconfigure(ctx, marksOf(*record), request.Spec)
	if err != nil {
		return Result{}, err
	}
	if err := m.complete(ctx, request, record, after, false); err != nil {
		return Result{}, err
	}
	if pending.Snapshot != "" && !m.sessionLost(*record, observed) {
		ended, err := m.takeCheckpoint(ctx, request, record, pending)
		if err != nil {
			return Result{}, err
		}
		if ended && request.DesiredState != DesiredStopped {
			return m.restore(ctx, request, *record, attachment.Token)
		}
	}
	if err := m.changeRunState(ctx, request, record, *observed, after, pending.Ran); err != nil {
		return Result{}, err
	}
	if kept, err = contentsOf(*record); err != nil {
		return Result{}, err
	}
	if record.Spec, err = store.Encode(kept.renewed(request, request.Spec)); err != nil {
		return Result{}, err
	}
	record.Intent, record.Committed = nil, true
	record.WorkspaceID, record.Generation = request.WorkspaceID, request.Generation
	if err := m.write(ctx, record); err != nil {
		return Result{}, err
	}
	if after, err = m.arrived(ctx, request); err != nil {
		return Result{}, err
	}
	return resultOf(*record, after)
}

// attached returns record and object after it made sure that this state may change them.
func (m *Manager) attached(ctx context.Context, attachment Attachment, request Request) (*store.Record, *backends.Observed, error) {
	id := ID(m.Backend.Name(), request.Name)
	record, err := m.RecordByID(ctx, attachment.Record)
	if err != nil {
		return nil, nil, err
	}
	if record != nil {
		if err := m.checkBinding(ctx, request.Name, record.Binding); err != nil {
			return nil, nil, err
		}
	}
	observed, err := m.get(ctx, request.Name)
	if err != nil {
		return nil, nil, err
	}
	replaced := observed != nil && observed.Marks.Record != attachment.Record
	if replaced || observed == nil && (record == nil || !m.sessionLost(*record, nil) && record.Committed) {
		return nil, nil, gone(id)
	}
	if record != nil {
		if record.Attachment != "" && attachment.Token != "" && record.Attachment != attachment.Token {
			return nil, nil, TakenOver(id)
		}
		if record.Attachment == "" || attachment.Token == "" {
			record.Attachment = attachment.Token
		}
		return record, observed, nil
	}
	binding, err := m.Backend.Prepare(ctx)
	if err != nil {
		return nil, nil, err
	}
	if record, err = m.rebuildRecord(ctx, binding.ID, request, *observed); err != nil {
		return nil, nil, err
	}
	record.Attachment = attachment.Token
	return record, observed, nil
}

// checkWhole refuses a change of the environment that would lose secrets: where the environment cannot be
// read, it is replaced as a whole.
func (m *Manager) checkWhole(request Request, kept contents) error {
	if !m.Backend.Capabilities().EnvironmentUnreadable || request.Spec.Secrets != nil || len(kept.Spec.SecretNames) == 0 ||
		maps.Equal(request.Spec.Environment, kept.Spec.Environment) {
		return nil
	}
	return &backends.Error{
		Kind: backends.Invalid, Backend: m.Backend.Name(), Operation: "change environment", Object: request.Name,
		Detail: "The platform replaces the environment as a whole, and the values of the secrets in it are not at hand.",
		Remedy: "Hand the secrets in with the change.",
	}
}

// environmentKept tells whether environment and secrets stay as they are. After a change that was cut
// short, nobody knows how they are.
func environmentKept(wanted, has backends.Spec, record store.Record) bool {
	return wanted.Secrets == nil && len(record.Intent) == 0 && record.Committed && maps.Equal(wanted.Environment, has.Environment)
}

// nativeRetention hands the retention on to a platform that keeps it itself.
func (m *Manager) nativeRetention(request Request) Request {
	if m.Backend.Capabilities().NativeRetention && request.Retention != (Retention{}) {
		request.Spec.Retention = &backends.SnapshotRetention{KeepLast: request.Retention.KeepLast, Expiration: request.Retention.Expiration}
	}
	return request
}

func gone(id string) error {
	return &Refusal{
		Code:   CodeMissing,
		Detail: fmt.Sprintf("%s is gone.", id),
		Remedy: "Run a plan: it names the ways on.",
	}
}

// TakenOver is the refusal of a change by a state whose attachment is not that of the record any more.
func TakenOver(id string) error {
	return &Refusal{
		Code:   CodeTakenOver,
		Detail: fmt.Sprintf("Another Terraform state has attached %s since this one did.", id),
		Remedy: "Nothing was changed. Let go of it here with `terraform state rm`; an apply after that takes it back.",
	}
}

// announceChange writes the intent. A checkpoint that a killed update announced keeps its id, so
// that no second snapshot is made for it.
func (m *Manager) announceChange(ctx context.Context, record *store.Record, request Request, kept contents, observed backends.Observed) (intent, error) {
	before, err := intentOf(*record)
	if err != nil {
		return intent{}, err
	}
	pending := intent{Operation: changing, Since: time.Now().UTC()}
	ran := observed.Running()
	if before != nil && before.Operation == changing {
		pending.Snapshot, ran = before.Snapshot, ran || before.Ran
	}
	if request.CheckpointTrigger != "" && request.CheckpointTrigger != kept.Trigger && pending.Snapshot == "" {
		pending.Snapshot = m.nextCheckpoint(observed)
	}
	pending.Ran = ran && pending.Snapshot != "" && m.Backend.Capabilities().SnapshotEndsSession
	if record.Intent, err = store.Encode(pending); err != nil {
		return pending, err
	}
	return pending, m.write(ctx, record)
}

// changeRunState leaves the run state as found when none is asked for. ran tells that a checkpoint, perhaps
// of a run that was killed since, found the sandbox running.
func (m *Manager) changeRunState(ctx context.Context, request Request, record *store.Record, before, after backends.Observed, ran bool) error {
	switch {
	case request.DesiredState == DesiredRunning && !after.Running():
		return m.Backend.Start(ctx, request.Name)
	case request.DesiredState == DesiredStopped && after.Running():
		return m.halt(ctx, request, record, after)
	case (ran || before.Status == backends.StatusLost) && !after.Running() && request.DesiredState != DesiredStopped:
		return m.Backend.Start(ctx, request.Name)
	}
	return nil
}

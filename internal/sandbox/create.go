package sandbox

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Create makes a sandbox or takes over the one that is already there: what a killed create left
// is removed and made anew, a retained or attached one of ours is re-attached with its data.
//
// A failed create has removed what it made; if that failed too the error is a *PartialError. A
// failed re-attach leaves record and data as they were.
func (m *Manager) Create(ctx context.Context, request Request) (result Result, err error) {
	request.Spec = sortedNames(request.Spec)
	if err := backends.Refuse(m.Backend.Name(), "create sandbox", m.Backend.Capabilities().Gaps(request.Spec)); err != nil {
		return Result{}, err
	}
	unlock, err := m.lock(ctx, request.Name)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	binding, err := m.Backend.Prepare(ctx)
	if err != nil {
		return Result{}, err
	}
	owner, err := m.ensureOwner(ctx)
	if err != nil {
		return Result{}, err
	}
	record, err := m.findRecord(ctx, binding.ID, owner, request.Name)
	if err != nil {
		return Result{}, err
	}
	observed, err := m.get(ctx, request.Name)
	if err != nil {
		return Result{}, err
	}
	if err := m.checkTakeover(ctx, request, binding.ID, owner, record, observed); err != nil {
		return Result{}, err
	}

	if record != nil {
		pending, err := intentOf(*record)
		if err != nil {
			return Result{}, err
		}
		unfinished := pending != nil && (pending.Operation == creating || pending.Operation == deleting)
		if unfinished {
			if record, err = m.clearUnfinished(ctx, *record, *pending); err != nil {
				return Result{}, err
			}
			observed = nil
		}
	}
	if observed != nil {
		if record == nil {
			record, err = m.rebuildRecord(ctx, binding.ID, request, *observed)
			if err != nil {
				return Result{}, err
			}
		}
		return m.reattach(ctx, request, *record)
	}
	return m.makeNew(ctx, request, binding.ID, owner, record)
}

// checkTakeover refuses names that belong to somebody else, or to another object of ours.
func (m *Manager) checkTakeover(ctx context.Context, request Request, binding, owner string, record *store.Record, observed *backends.Observed) error {
	id := ID(m.Backend.Name(), request.Name)
	if observed != nil && observed.Marks.Owner != owner {
		return notOurs(id, observed.Marks.Owner)
	}
	kind := ""
	if record != nil {
		kind = record.Kind
	} else if observed != nil {
		kind = string(observed.Marks.Kind)
	}
	if kind != "" && kind != string(request.Kind) {
		return &Refusal{
			Code:   CodeOtherKind,
			Detail: fmt.Sprintf("%s exists already as a %s sandbox, and a %s one was asked for.", id, kind, request.Kind),
			Remedy: "Choose another name, or purge the existing one first: manage it with its own resource type, set `on_destroy = \"purge\"`, apply, then destroy it.",
		}
	}
	if record != nil && record.WorkspaceID != "" && request.WorkspaceID != "" && record.WorkspaceID != request.WorkspaceID {
		return &Refusal{
			Code:   CodeOtherName,
			Detail: fmt.Sprintf("%s already belongs to the workspace %q.", id, record.WorkspaceID),
			Remedy: "Give this one another workspace id or name.",
		}
	}
	return m.checkWorkspaceName(ctx, request, binding, owner)
}

// checkWorkspaceName refuses a second name for a workspace of the same generation, which a changed
// prefix or namespace would otherwise make under -replace.
func (m *Manager) checkWorkspaceName(ctx context.Context, request Request, binding, owner string) error {
	if request.WorkspaceID == "" {
		return nil
	}
	records, err := m.Store.Find(ctx, store.Query{Backend: m.Backend.Name(), Binding: binding, Owner: owner, WorkspaceID: request.WorkspaceID})
	if err != nil {
		return err
	}
	for _, other := range records {
		if other.Name != request.Name && other.Generation == request.Generation && other.Committed {
			return &Refusal{
				Code:   CodeOtherName,
				Detail: fmt.Sprintf("The workspace %q of generation %d already lives in %s; %q would be a second one.", request.WorkspaceID, request.Generation, ID(m.Backend.Name(), other.Name), request.Name),
				Remedy: fmt.Sprintf("Keep the stored one by replacing `workspace_id` with `name = %q`, set `name_prefix` and `namespace` back, or raise `generation` to start over.", other.Name),
			}
		}
	}
	return nil
}

func notOurs(id, owner string) error {
	whose := "It carries no mark of Sandlot."
	remedy := "Choose another name, or remove that object yourself."
	if owner != "" {
		whose = fmt.Sprintf("Its owner is %q.", owner)
		remedy = fmt.Sprintf("If it is yours, set the provider's `owner = %q` and run `terraform import <resource address> %s`. Otherwise choose another name.", owner, id)
	}
	return &Refusal{
		Code:   CodeNotOurs,
		Detail: fmt.Sprintf("%s exists already and is not ours. %s", id, whose),
		Remedy: remedy,
	}
}

// clearUnfinished removes what a killed create or delete left. It returns the record that is to be
// used again, nil when nothing of it remains.
func (m *Manager) clearUnfinished(ctx context.Context, record store.Record, pending intent) (*store.Record, error) {
	options := backends.DeleteOptions{Volumes: !pending.KeepVolumes, Snapshots: !pending.KeepSnapshots}
	if err := m.Backend.Delete(ctx, marksOf(record), options); err != nil {
		return nil, fmt.Errorf("remove what an interrupted %s left: %w", pending.Operation, err)
	}
	if pending.KeepVolumes || pending.KeepSnapshots {
		return &record, nil
	}
	return nil, m.Store.Delete(ctx, record)
}

// rebuildRecord makes a lost record from the marks on the object.
func (m *Manager) rebuildRecord(ctx context.Context, binding string, request Request, observed backends.Observed) (*store.Record, error) {
	spec, err := encode(contents{Spec: observed.Spec})
	if err != nil {
		return nil, err
	}
	record, err := m.Store.Insert(ctx, store.Record{
		ID:          observed.Marks.Record,
		Kind:        string(observed.Marks.Kind),
		Backend:     m.Backend.Name(),
		Binding:     binding,
		Owner:       observed.Marks.Owner,
		Name:        observed.Name,
		WorkspaceID: request.WorkspaceID,
		Generation:  request.Generation,
		Spec:        spec,
		Committed:   true,
	})
	if err != nil {
		return nil, err
	}
	return &record, nil
}

// makeNew makes the object under a record that was written first. reuse is the record of a
// predecessor whose volumes or snapshots remain, or whose object is gone.
func (m *Manager) makeNew(ctx context.Context, request Request, binding, owner string, reuse *store.Record) (Result, error) {
	record, pending, err := m.announceCreate(ctx, request, binding, owner, reuse)
	if err != nil {
		return Result{}, err
	}
	observed, err := m.build(ctx, request, record)
	if err != nil {
		return Result{}, m.undoCreate(ctx, record, pending, err)
	}
	record.Committed, record.Intent = true, nil
	record, err = m.Store.Update(ctx, record)
	if err != nil {
		return Result{}, m.undoCreate(ctx, record, pending, err)
	}
	return m.result(ctx, record, observed)
}

func (m *Manager) announceCreate(ctx context.Context, request Request, binding, owner string, reuse *store.Record) (store.Record, intent, error) {
	pending := intent{Operation: creating, KeepVolumes: reuse != nil, KeepSnapshots: reuse != nil, Since: time.Now().UTC()}
	record := store.Record{
		ID:      newToken(),
		Kind:    string(request.Kind),
		Backend: m.Backend.Name(),
		Binding: binding,
		Owner:   owner,
		Name:    request.Name,
	}
	kept := contents{}
	if reuse != nil {
		record = *reuse
		var err error
		if kept, err = contentsOf(*reuse); err != nil {
			return record, pending, err
		}
	}
	record.WorkspaceID, record.Generation = request.WorkspaceID, request.Generation
	record.Committed, record.Attachment = false, newToken()
	var err error
	if record.Spec, err = encode(contents{Spec: request.Spec, Settings: request.Settings, Snapshot: kept.Snapshot, Trigger: request.CheckpointTrigger}); err != nil {
		return record, pending, err
	}
	if record.Intent, err = encode(pending); err != nil {
		return record, pending, err
	}
	if reuse != nil {
		record, err = m.Store.Update(ctx, record)
	} else {
		record, err = m.Store.Insert(ctx, record)
	}
	return record, pending, err
}

// attachment is what a state remembers of a record.
func (m *Manager) attachment(ctx context.Context, record store.Record) (Attachment, error) {
	id, err := m.Store.Owner(ctx)
	return Attachment{Record: record.ID, Token: record.Attachment, Binding: record.Binding, Store: id}, err
}

// build makes the object, runs the setup and brings it to the run state that was asked for.
func (m *Manager) build(ctx context.Context, request Request, record store.Record) (backends.Observed, error) {
	observed, err := m.Backend.Create(ctx, marksOf(record), request.Spec)
	if err != nil {
		return observed, err
	}
	if err := m.runSetup(ctx, request); err != nil {
		return observed, err
	}
	if request.DesiredState == DesiredStopped {
		if err := m.Backend.Stop(ctx, request.Name); err != nil {
			return observed, err
		}
	}
	return m.Backend.Get(ctx, request.Name)
}

// undoCreate removes what a failed create made, also when ctx was canceled.
func (m *Manager) undoCreate(ctx context.Context, record store.Record, pending intent, cause error) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	_, err := m.clearUnfinished(ctx, record, pending)
	if err == nil {
		return m.settleUndone(ctx, record, pending, cause)
	}
	result, resultErr := m.result(ctx, record, backends.Observed{Name: record.Name, Marks: marksOf(record)})
	return &PartialError{Result: result, Err: errors.Join(cause, fmt.Errorf("clean up after the failed create: %w", err), resultErr)}
}

// settleUndone puts the record of a predecessor back to what it was: detached, nothing under way.
func (m *Manager) settleUndone(ctx context.Context, record store.Record, pending intent, cause error) error {
	if !pending.KeepVolumes && !pending.KeepSnapshots {
		return cause
	}
	record.Committed, record.Intent, record.Attachment = true, nil, ""
	if _, err := m.Store.Update(ctx, record); err != nil {
		return errors.Join(cause, err)
	}
	return cause
}

// reattach takes over an existing object of ours. The attachment is written last, so that a
// failure leaves whoever held it before in place.
func (m *Manager) reattach(ctx context.Context, request Request, record store.Record) (Result, error) {
	kept, err := contentsOf(record)
	if err != nil {
		return Result{}, err
	}
	if changed := changedSource(kept.Spec.Source, request.Spec.Source); changed != "" {
		return Result{}, &Refusal{
			Code:   CodeOtherSource,
			Detail: fmt.Sprintf("%s exists already and was made from %s. Its data is kept, so it is not made anew.", ID(record.Backend, record.Name), changed),
			Remedy: "Set the source back, raise `generation` to start over beside it, or purge it first: set `on_destroy = \"purge\"` with the old source, apply, destroy, then change the source.",
		}
	}
	observed, err := m.converge(ctx, request, record)
	if err != nil {
		return Result{}, fmt.Errorf("re-attach %s: %w", ID(record.Backend, record.Name), err)
	}
	if record.Spec, err = encode(contents{Spec: withSource(request.Spec, kept.Spec.Source), Settings: request.Settings, Snapshot: kept.Snapshot, Trigger: request.CheckpointTrigger}); err != nil {
		return Result{}, err
	}
	record.Attachment, record.Intent, record.Committed = newToken(), nil, true
	if request.WorkspaceID != "" {
		record.WorkspaceID, record.Generation = request.WorkspaceID, request.Generation
	}
	if record, err = m.Store.Update(ctx, record); err != nil {
		return Result{}, err
	}
	result, err := m.result(ctx, record, observed)
	result.Reattached = true
	return result, err
}

// converge brings the object to the requested specification and run state. A new attachment leads
// to a running sandbox unless stopped was asked for, just as a first create does.
func (m *Manager) converge(ctx context.Context, request Request, record store.Record) (backends.Observed, error) {
	if _, err := m.Backend.Reconfigure(ctx, marksOf(record), request.Spec); err != nil {
		return backends.Observed{}, err
	}
	change := m.Backend.Start
	if request.DesiredState == DesiredStopped {
		change = m.Backend.Stop
	}
	if err := change(ctx, request.Name); err != nil {
		return backends.Observed{}, err
	}
	return m.Backend.Get(ctx, request.Name)
}

// changedSource describes the source an object was made from when another one is wanted now. A
// member that either side does not know (after an import, a lost record) is no difference, and
// neither are those that are used at creation only.
func changedSource(made, wanted backends.Source) string {
	if made.Image != "" && wanted.Image != "" && !SameImage(made.Image, wanted.Image) {
		return fmt.Sprintf("image %q", made.Image)
	}
	if made.Rootfs != "" && wanted.Rootfs != "" && made.Rootfs != wanted.Rootfs {
		return fmt.Sprintf("rootfs %q", made.Rootfs)
	}
	return ""
}

func withSource(spec backends.Spec, made backends.Source) backends.Spec {
	if made != (backends.Source{}) {
		spec.Source = made
	}
	return spec
}

func (m *Manager) result(ctx context.Context, record store.Record, observed backends.Observed) (Result, error) {
	kept, err := contentsOf(record)
	if err != nil {
		return Result{}, err
	}
	attachment, err := m.attachment(ctx, record)
	return Result{
		Attachment:        attachment,
		Observed:          observed,
		CurrentSnapshotID: kept.Snapshot,
	}, err
}

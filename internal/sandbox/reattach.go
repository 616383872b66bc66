package sandbox

import (
	"context"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

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
	observed, err := m.converge(ctx, request, &record)
	if err != nil {
		return Result{}, fmt.Errorf("re-attach %s: %w", ID(record.Backend, record.Name), err)
	}
	if kept, err = contentsOf(record); err != nil {
		return Result{}, err
	}
	if record.Spec, err = store.Encode(kept.renewed(request, withSource(request.Spec, kept.Spec.Source))); err != nil {
		return Result{}, err
	}
	record.Attachment, record.Intent, record.Committed = NewToken(), nil, true
	record.WorkspaceID, record.Generation = request.WorkspaceID, request.Generation
	if record, err = m.Store.Update(ctx, record); err != nil {
		return Result{}, err
	}
	result, err := resultOf(record, observed)
	result.Reattached = true
	return result, err
}

// converge brings the object to the requested specification and run state. A new attachment leads
// to a running sandbox unless stopped was asked for, just as a first create does.
func (m *Manager) converge(ctx context.Context, request Request, record *store.Record) (backends.Observed, error) {
	observed, err := m.Backend.Reconfigure(ctx, marksOf(*record), request.Spec)
	if err != nil {
		return backends.Observed{}, err
	}
	if err := m.complete(ctx, request, record, observed, false); err != nil {
		return backends.Observed{}, err
	}
	if request.DesiredState == DesiredStopped {
		err = m.halt(ctx, request, record, observed)
	} else {
		err = m.Backend.Start(ctx, request.Name)
	}
	if err != nil {
		return backends.Observed{}, err
	}
	return m.arrived(ctx, request)
}

// halt stops a sandbox. Of a workspace no file is lost.
func (m *Manager) halt(ctx context.Context, request Request, record *store.Record, observed backends.Observed) (err error) {
	if request.Extension == nil {
		return m.Backend.Stop(ctx, request.Name)
	}
	*record, err = m.release(ctx, *record, observed, request.Retention)
	return err
}

// arrived reads a sandbox after its run state was changed, and makes sure that one which has to run
// does: a main process can end as soon as it was started.
func (m *Manager) arrived(ctx context.Context, request Request) (backends.Observed, error) {
	observed, err := m.Backend.Get(ctx, request.Name)
	if err == nil && request.DesiredState == DesiredRunning && !observed.Running() {
		err = &backends.Error{
			Kind: backends.NotRunning, Backend: m.Backend.Name(), Operation: "keep running sandbox", Object: request.Name,
			Detail: "Its main process ended by itself.",
			Remedy: "Give it a `command` that goes on, or leave `desired_state` unset.",
		}
	}
	return observed, err
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

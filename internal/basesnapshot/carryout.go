package basesnapshot

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// job is one request on its way, under the lock of its lane.
type job struct {
	request Request
	hash    string
	where   place
	// lane is the id of the lane's record, token what attaches it afterwards.
	lane, token string
	// fresh is true for a create of a lane that never was complete.
	fresh bool
	// anew is true when only what this attempt itself baked will do.
	anew    bool
	attempt string
	// left names what a failed bake could not remove.
	left []string
}

// carryOut makes the lane point at what the request asks for, and then notes that in its record.
func (m *Manager) carryOut(ctx context.Context, record store.Record, work *job) (Result, error) {
	kept, err := contentsOf(record)
	if err != nil {
		return Result{}, err
	}
	before, err := intentOf(record)
	if err != nil {
		return Result{}, err
	}
	work.lane = record.ID
	work.anew = record.Committed && kept.asksAnew(work.request)
	pending := work.announce(before)
	work.attempt = pending.Attempt

	warnings := m.cleanOthers(ctx, work)
	stands, err := m.stands(ctx, work)
	if err != nil {
		return Result{}, err
	}
	baked := false
	if !stands {
		if record.Intent, err = store.Encode(pending); err != nil {
			return Result{}, err
		}
		if record, err = m.store().Update(ctx, record); err != nil {
			return Result{}, err
		}
		if baked, err = m.provide(ctx, work); err != nil {
			return Result{}, m.giveUp(ctx, record, work, err)
		}
	}
	if record, err = m.settle(ctx, record, work); err != nil {
		return Result{}, err
	}
	warnings = append(warnings, m.prune(ctx, record, work.request.Retention)...)
	result, err := m.resultOf(ctx, record)
	result.Baked, result.Warnings = baked, warnings
	return result, err
}

// announce is the intent of a job. What a killed run began with the same wish goes on as its attempt.
func (j *job) announce(before intent) intent {
	if before.Operation == baking && before.Hash == j.hash && before.Trigger == j.request.RebakeTrigger {
		return before
	}
	return intent{Operation: baking, Attempt: sandbox.NewToken(), Hash: j.hash, Trigger: j.request.RebakeTrigger, Since: now()}
}

// settle notes a request that was carried out.
func (m *Manager) settle(ctx context.Context, record store.Record, work *job) (store.Record, error) {
	var err error
	record.Spec, err = store.Encode(contents{Settings: work.request.Settings, Trigger: work.request.RebakeTrigger})
	if err != nil {
		return record, err
	}
	record.Attachment, record.Committed, record.Intent = work.token, true, nil
	return m.store().Update(ctx, record)
}

// giveUp lets go of a lane whose first bake failed, unless something is left that a delete has to
// find. An existing lane stays with whoever holds it, and its intent with whoever tries again.
func (m *Manager) giveUp(ctx context.Context, record store.Record, work *job, cause error) error {
	if !work.fresh || errors.Is(cause, store.ErrLockLost) { // somebody else may be at work on it by now
		return cause
	}
	if len(work.left) > 0 {
		return &PartialError{Result: Result{Attachment: sandbox.AttachmentOf(record)}, Err: cause}
	}
	ctx, cancel := sandbox.Detached(ctx)
	defer cancel()
	record.Intent, record.Attachment = nil, ""
	if _, err := m.store().Update(ctx, record); err != nil {
		return errors.Join(cause, fmt.Errorf("note the failure of %s: %w", ID(work.where.backend, work.request.Lane), err))
	}
	return cause
}

func (m *Manager) laneEntries(ctx context.Context, lane string) ([]store.Snapshot, error) {
	return m.store().FindSnapshots(ctx, store.SnapshotQuery{Lane: lane})
}

func (m *Manager) resultOf(ctx context.Context, record store.Record) (Result, error) {
	result := Result{Attachment: sandbox.AttachmentOf(record)}
	entries, err := m.laneEntries(ctx, record.ID)
	if err != nil {
		return result, err
	}
	standing, err := standingOf(entries)
	if err != nil {
		return result, err
	}
	if standing.current == nil {
		return result, fmt.Errorf("%s points at nothing although it was just set", ID(record.Backend, laneOf(record.Name)))
	}
	result.Current, result.Previous, result.History = *standing.current, standing.previous, standing.history
	return result, nil
}

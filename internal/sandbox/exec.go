package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Exec runs a command in one of our sandboxes. A stopped one is started for it and stopped again
// afterwards, also when the command failed or ctx was canceled.
func (m *Manager) Exec(ctx context.Context, name string, command backends.Command) (backends.ExecResult, error) {
	names, err := m.secretNames(ctx, name)
	if err != nil {
		return backends.ExecResult{}, err
	}
	command.SecretNames = names
	var result backends.ExecResult
	err = m.awake(ctx, name, func(ctx context.Context) error {
		var err error
		result, err = m.Backend.Exec(ctx, name, command)
		return err
	})
	return result, err
}

// secretNames are the names of a sandbox's secrets for a backend that cannot tell them.
func (m *Manager) secretNames(ctx context.Context, name string) ([]string, error) {
	if !m.Backend.Capabilities().EnvironmentUnreadable {
		return nil, nil
	}
	records, err := m.Records(ctx, store.Query{Name: name})
	if err != nil {
		return nil, err
	}
	var names []string
	for _, record := range records {
		kept, err := contentsOf(record)
		if err != nil {
			return nil, err
		}
		names = append(names, kept.Spec.SecretNames...)
	}
	return names, nil
}

// reached runs work on files of a sandbox. One that has to run for that is started and stopped again.
func (m *Manager) reached(ctx context.Context, observed backends.Observed, work func(context.Context) error) error {
	if observed.Running() || !m.Backend.Capabilities().FilesNeedCompute {
		return work(ctx)
	}
	return m.awake(ctx, observed.Name, work)
}

// Reach runs work on files of a sandbox as it was observed, in one go. Where files need a running sandbox,
// a stopped one is started for it and stopped again, as by [Manager.Exec].
func (m *Manager) Reach(ctx context.Context, observed backends.Observed, work func(context.Context, backends.Observed) error) error {
	if !m.Backend.Capabilities().FilesNeedCompute {
		return work(ctx, observed)
	}
	// Also when it was seen running: that may be for the length of somebody else's work only.
	return m.awake(ctx, observed.Name, func(ctx context.Context) error {
		observed.Status = backends.StatusRunning
		return work(ctx, observed)
	})
}

// awake runs work while the sandbox runs. One that stopped between the look at it and the work, before
// that began anything, is looked at once more.
func (m *Manager) awake(ctx context.Context, name string, work func(context.Context) error) error {
	woke, err := m.awakeOnce(ctx, name, work)
	if !woke && backends.KindOf(err) == backends.NotRunning && backends.Repeatable(err) {
		_, err = m.awakeOnce(ctx, name, work)
	}
	return err
}

// awakeOnce tells whether it woke the sandbox. Whoever has to do that holds its lock until it is put back,
// so that no other work finds it awake and loses it in the middle.
func (m *Manager) awakeOnce(ctx context.Context, name string, work func(context.Context) error) (woke bool, err error) {
	locked, unlock, err := m.lock(ctx, name)
	if err != nil {
		return false, err
	}
	held := true
	release := func() error {
		if !held {
			return nil
		}
		held = false
		return unlock()
	}
	defer func() { err = errors.Join(err, release()) }()

	observed, err := m.ours(locked, name)
	if err != nil {
		return false, err
	}
	if observed.Running() {
		if err := release(); err != nil {
			return false, err
		}
		return false, work(ctx)
	}
	return true, m.woken(locked, observed, work)
}

// woken runs work in a sandbox whose lock is held, and leaves its run state as it was.
func (m *Manager) woken(ctx context.Context, observed backends.Observed, work func(context.Context) error) (err error) {
	name := observed.Name
	switch observed.Status {
	case backends.StatusRunning:
		return work(ctx)
	case backends.StatusStopped:
		if observed.Marks.Kind == backends.Session && m.Backend.Capabilities().StopEmptiesSession {
			return &backends.Error{
				Kind: backends.NotRunning, Backend: m.Backend.Name(), Operation: "run in stopped sandbox", Object: name,
				Detail: "Stopping it again afterwards would empty its workspace on this backend.",
				Remedy: "Start it with `desired_state = \"running\"`, or use `sandlot_persistent_sandbox`.",
			}
		}
	default:
		return &backends.Error{
			Kind: backends.NotRunning, Backend: m.Backend.Name(), Operation: "run in sandbox", Object: name,
			Detail: fmt.Sprintf("Its status is %q.", observed.Status),
			Remedy: "Apply the sandbox itself first: its next update recovers it.",
		}
	}
	if err := m.Backend.Start(ctx, name); err != nil {
		return err
	}
	defer func() {
		ctx, cancel := Detached(ctx)
		defer cancel()
		if stopErr := m.Backend.Stop(ctx, name); stopErr != nil {
			err = errors.Join(err, fmt.Errorf("stop %s again, which was stopped before: %w", ID(m.Backend.Name(), name), stopErr))
		}
	}()
	return work(ctx)
}

// ours reads a sandbox and makes sure that it is ours. Absence is backends.NotFound.
func (m *Manager) ours(ctx context.Context, name string) (backends.Observed, error) {
	observed, err := m.Backend.Get(ctx, name)
	if err != nil {
		return observed, err
	}
	owner, err := m.Owner(ctx)
	if err != nil {
		return observed, err
	}
	if observed.Marks.Owner == "" || observed.Marks.Owner != owner {
		return observed, notOurs(ID(m.Backend.Name(), name), observed.Marks.Owner)
	}
	return observed, nil
}

// Describe reads one of our sandboxes and the binding it was found in, for objects that live
// inside it. bound is the binding that such an object remembers, empty when it has none yet.
func (m *Manager) Describe(ctx context.Context, name, bound string) (backends.Observed, string, error) {
	if bound == "" {
		var err error
		if bound, err = m.recordedBinding(ctx, name); err != nil {
			return backends.Observed{}, "", err
		}
	}
	if err := m.checkBinding(ctx, name, bound); err != nil {
		return backends.Observed{}, "", err
	}
	if bound == "" {
		binding, err := m.Backend.Binding(ctx)
		if err != nil {
			return backends.Observed{}, "", err
		}
		bound = binding.ID
	}
	observed, err := m.ours(ctx, name)
	return observed, bound, err
}

// recordedBinding is where the records say that a sandbox of ours lives, "" when they say nothing or
// name several places.
func (m *Manager) recordedBinding(ctx context.Context, name string) (string, error) {
	records, err := m.Records(ctx, store.Query{Name: name})
	if err != nil || len(records) != 1 {
		return "", err
	}
	return records[0].Binding, nil
}

// Remembers tells whether the store holds a committed persistent sandbox of ours by that name,
// whether or not its object is still there. It only reads the store.
func (m *Manager) Remembers(ctx context.Context, name string) (bool, error) {
	records, err := m.Records(ctx, store.Query{Name: name, Kind: string(backends.Persistent)})
	if err != nil || len(records) == 0 {
		return false, err
	}
	return records[0].Committed, nil
}

package basesnapshot

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Create makes a lane, or takes over the one that is already there, also one that was retired. It
// then makes the lane point at a snapshot of the manifest: one that exists, or a new one.
//
// A create that fails leaves a new lane in the registry, with the reason, and attached to nothing. If
// something of the bake could not be removed the error is a *[PartialError].
func (m *Manager) Create(ctx context.Context, request Request) (result Result, err error) {
	hash, err := m.check(request)
	if err != nil {
		return Result{}, err
	}
	ctx, unlock, err := m.lockLane(ctx, request.Lane)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	where, err := m.prepare(ctx)
	if err != nil {
		return Result{}, err
	}
	record, err := m.find(ctx, where, request.Lane)
	if err != nil {
		return Result{}, err
	}
	if record == nil {
		made, err := m.insertLane(ctx, where, request.Lane, sandbox.NewToken(), sandbox.NewToken())
		if err != nil {
			return Result{}, err
		}
		record = &made
	}
	known := record.Committed
	result, err = m.carryOut(ctx, *record, &job{request: request, hash: hash, where: where, token: sandbox.NewToken(), fresh: !known})
	result.Reattached = known && err == nil
	return result, err
}

// check refuses what can be refused without looking at anything, and hashes the manifest.
func (m *Manager) check(request Request) (hash string, err error) {
	if err := request.Check(); err != nil {
		return "", err
	}
	if err := backends.Refuse(m.backend().Name(), "bake base snapshot", request.Gaps(m.backend().Capabilities())); err != nil {
		return "", err
	}
	hash, err = Hash(request.Manifest, request.Environment.Values, request.Environment.Allowlist)
	if err != nil {
		return "", err
	}
	// All owners' names are of one length.
	seed := m.seedName("", hash)
	for _, name := range []string{seed, verifyName(seed)} {
		if err := sandbox.CheckName(name); err != nil {
			return "", fmt.Errorf("name_prefix %q makes no valid names for a bake: %w", m.NamePrefix, err)
		}
	}
	return hash, nil
}

// prepare makes sure of the place where snapshots live, and of an owner.
func (m *Manager) prepare(ctx context.Context) (place, error) {
	binding, err := m.backend().Prepare(ctx)
	if err != nil {
		return place{}, err
	}
	owner, err := m.Sandboxes.EnsureOwner(ctx)
	return place{backend: m.backend().Name(), binding: binding.ID, owner: owner}, err
}

func (m *Manager) insertLane(ctx context.Context, where place, lane Lane, id, token string) (store.Record, error) {
	spec, err := store.Encode(contents{})
	if err != nil {
		return store.Record{}, err
	}
	return m.store().Insert(ctx, store.Record{
		ID: id, Kind: RecordKind, Backend: where.backend, Binding: where.binding, Owner: where.owner,
		Name: recordPrefix + lane.String(), Generation: 1, Spec: spec, Attachment: token,
	})
}

package cloudhost

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Create makes a host, or takes over the one that is there: what a killed create left is finished, a
// retained or attached one is re-attached with its disk, address and keys, and brought to DesiredState.
// It waits until the host is ready, for as long as ctx allows.
//
// saved is called, under the lock, whenever the record has learned something: first before the first
// allocation, then after each. The caller saves the state with it.
//
// A failure before the server was made has removed what this create made; a failure after that, or one
// that could not be cleaned up, is a *[PartialError]. Refusals that touch nothing: [CodeExpired],
// [CodeKeyringRequired], [CodeOtherOptions], [CodeMissing], [CodeRecordMissing], [sandbox.CodeNotOurs],
// [sandbox.CodeOtherBinding], [CodeAmbiguous]. Of the API: a *backends.Error with the kinds NoCapacity,
// Unauthorized, Invalid, RateLimited, TimedOut, Conflict and Failed, and a *hetzner.APIError as its cause.
func (m *Manager) Create(ctx context.Context, request Request, saved func(Host)) (result Result, err error) {
	if err := m.checkCreate(request); err != nil {
		return Result{}, err
	}
	ctx, unlock, err := m.lock(ctx, request.Name)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	owner, err := m.records().EnsureOwner(ctx)
	if err != nil {
		return Result{}, err
	}
	k, err := m.find(ctx, owner, request.Name)
	if err != nil {
		return Result{}, err
	}
	if k != nil {
		if err := m.bind(ctx, k); err != nil {
			return Result{}, err
		}
		if k.Committed && !k.destroying() {
			return m.reattach(ctx, k, request, saved)
		}
		if k.destroying() || k.differs(request) != "" {
			if err := m.purge(ctx, k); err != nil {
				return Result{}, fmt.Errorf("remove what an earlier run left of %s: %w", k.id(), err)
			}
			k = nil
		}
	}
	resumed := k != nil
	if resumed {
		k.take(request)
		k.Attachment = sandbox.NewToken()
		err = m.write(ctx, k)
	} else {
		k, err = m.announce(ctx, owner, request)
	}
	if err != nil {
		return Result{}, err
	}
	result, err = m.complete(ctx, k, request, saved)
	result.Resumed = resumed
	return result, m.settleFailed(ctx, k, err)
}

// checkCreate refuses what no call is needed to refuse.
func (m *Manager) checkCreate(request Request) error {
	invalid := errors.Join(CheckName(request.Name), CheckLabels(request.Labels), CheckAuthorizedKeys(request.AuthorizedKeys), CheckDataDir(m.DataDir))
	if invalid != nil {
		return &backends.Error{Kind: backends.Invalid, Backend: hetzner.Name, Operation: "create cloud host", Object: request.Name, Err: invalid}
	}
	if err := m.checkExpiry(ID(m.ExplicitOwner, request.Name), request.ExpiresAt); err != nil {
		return err
	}
	return m.checkKeyring()
}

func (m *Manager) checkExpiry(id string, expiresAt time.Time) error {
	return CheckExpiry(id, expiresAt, m.now())
}

// CheckExpiry refuses to make or wake a host whose time is over: [CodeExpired]. Zero is never.
func CheckExpiry(id string, expiresAt, now time.Time) error {
	if expiresAt.IsZero() || expiresAt.After(now) {
		return nil
	}
	return refuse(CodeExpired,
		"Set `expires_at` to a later time or take it out, or destroy the host. Refresh, extension and purge go on to work.",
		"The `expires_at` of %s passed at %s, so that it is neither created nor woken.", id, expiresAt.UTC().Format(time.RFC3339))
}

// announce checks what can be checked before anything is allocated, and writes the record.
func (m *Manager) announce(ctx context.Context, owner string, request Request) (*known, error) {
	k := &known{Record: store.Record{
		ID: sandbox.NewToken(), Kind: RecordKind, Backend: Backend, Binding: m.API.Binding().String(),
		Owner: owner, Name: request.Name, Attachment: sandbox.NewToken(),
	}, pending: &intent{Operation: creating, Since: m.now()}}
	k.fromRequest(request)
	if err := m.checkOffered(ctx, k); err != nil {
		return nil, err
	}
	if err := m.checkNameFree(ctx, k); err != nil {
		return nil, err
	}
	if err := k.seal(); err != nil {
		return nil, err
	}
	stored, err := m.Store.Insert(ctx, k.Record)
	k.Record = stored
	return k, err
}

// checkOffered asks the catalog, so that a wish that it does not have allocates nothing.
func (m *Manager) checkOffered(ctx context.Context, k *known) error {
	problems, err := m.API.CheckCatalog(ctx, k.ServerType, k.Location, k.Image)
	if err != nil {
		return err
	}
	var details []string
	for _, problem := range problems {
		if !problem.Warning {
			details = append(details, problem.Detail)
		}
	}
	if len(details) == 0 {
		return nil
	}
	return &backends.Error{
		Kind: backends.Invalid, Backend: hetzner.Name, Operation: "create cloud host", Object: k.Name,
		Detail: strings.Join(details, " "), Remedy: "Choose from what is offered.",
	}
}

// checkNameFree looks whether a server of that name is there already: then key and address would be made
// in vain.
func (m *Manager) checkNameFree(ctx context.Context, k *known) error {
	found, err := m.API.Servers(ctx, nil, k.serverName())
	if err != nil || len(found) == 0 {
		return err
	}
	if labels := found[0].Labels; labels[labelRecord] != "" && labels[labelOwner] == ownerLabel(k.Owner) {
		return lostRecord(k.id())
	}
	return notOurs(k.id(), "server", k.serverName(), found[0].Labels)
}

func lostRecord(id string) *sandbox.Refusal {
	return refuse(CodeRecordMissing,
		"Use the `data_dir` or the database that it was made with. If that is lost, its keys are, too: `sandlot_orphans` lists what is left of it, which you then remove in the console of the platform.",
		"%s exists and carries our labels, but there is no record of it.", id)
}

// notOurs refuses a name that belongs to something else in the project.
func notOurs(id, kind, name string, labels map[string]string) *sandbox.Refusal {
	whose := "It carries no label of Sandlot."
	if owner := labels[labelOwner]; owner != "" {
		whose = fmt.Sprintf("Its label says that its owner is %q.", owner)
	}
	return refuse(sandbox.CodeNotOurs,
		"Choose another name, or remove or rename that one yourself.",
		"%s cannot be made: the project has a %s named %q already, and it is not ours. %s", id, kind, name, whose)
}

// complete carries an announced host on to its commit: allocate, wait, rotate, commit, and put it to sleep
// when that is wanted.
func (m *Manager) complete(ctx context.Context, k *known, request Request, saved func(Host)) (Result, error) {
	told := func() {
		if saved != nil {
			saved(m.described(k, nil))
		}
	}
	told()
	if err := m.prepare(ctx, k, told); err != nil {
		return Result{Host: m.described(k, nil)}, err
	}
	if err := m.finishReadiness(ctx, k); err != nil {
		return Result{Host: m.described(k, nil)}, &PartialError{Host: m.described(k, nil), Err: err}
	}
	k.Committed, k.pending = true, nil
	if err := m.write(ctx, k); err != nil {
		return Result{}, &PartialError{Host: m.described(k, nil), Err: err}
	}
	told()
	server, err := m.API.Server(ctx, k.ServerID)
	if err == nil && server == nil {
		err = missing(k.id())
	}
	if err == nil && request.DesiredState == DesiredSleeping {
		if server, err = m.underIntent(ctx, k, func() (*hetzner.Server, error) { return m.sleep(ctx, k, server) }); err == nil {
			told()
		}
	}
	if err != nil {
		return Result{Host: m.described(k, server)}, &PartialError{Host: m.described(k, server), Err: err}
	}
	return Result{Host: m.described(k, server)}, nil
}

// finishReadiness waits until the host is ready and rotates its key.
func (m *Manager) finishReadiness(ctx context.Context, k *known) error {
	if err := m.writeSSHFiles(ctx, k); err != nil {
		return err
	}
	host, err := m.ready(ctx, k)
	if err != nil {
		return err
	}
	host, err = m.rotate(ctx, k, host)
	if err == nil && k.KeysPending {
		err = m.authorize(ctx, k, host)
	}
	return errors.Join(err, ignoreClosed(host.Close()))
}

// settleFailed removes what a failed create made. What failed only its readiness, or cannot be removed,
// stays for the caller's state.
func (m *Manager) settleFailed(ctx context.Context, k *known, cause error) error {
	var partial *PartialError
	if cause == nil || errors.As(cause, &partial) {
		return cause
	}
	if k.ServerID != 0 && ctx.Err() != nil {
		return &PartialError{Host: m.described(k, nil), Err: cause}
	}
	if errors.Is(cause, store.ErrLockLost) {
		return &PartialError{Host: m.described(k, nil), Err: cause} // somebody else may be at work on it
	}
	clean, cancel := sandbox.Detached(ctx)
	defer cancel()
	if err := m.purge(clean, k); err != nil {
		return &PartialError{Host: m.described(k, nil), Err: errors.Join(cause, fmt.Errorf("clean up after the failed create of %s: %w", k.id(), err))}
	}
	return cause
}

// differs names what a host was made with when something else is wanted now, "" when nothing is.
func (c *contents) differs(request Request) string {
	for _, pair := range []struct{ what, made, wanted string }{
		{"server type", c.ServerType, request.ServerType},
		{"location", c.Location, request.Location},
		{"image", c.Image, request.Image},
	} {
		if pair.made != pair.wanted {
			return pair.what + " " + pair.made
		}
	}
	return ""
}

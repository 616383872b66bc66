package cloudhost

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Update brings an attached host to the request and finishes what a killed run began: expiry and idle
// timeout without any call that writes, labels without one that touches the running server, DesiredState by
// a graceful shutdown or a power-on, AuthorizedKeys over SSH. An uncommitted host is carried on to its
// commit. ServerType, Location and Image of the request are ignored. Errors: those of Create,
// [sandbox.CodeTakenOver], [CodeRecordMissing], [CodeStillRunning], [CodeDestroying]. The state of a failed
// update is in Result.Host, as far as it is known.
func (m *Manager) Update(ctx context.Context, attachment sandbox.Attachment, request Request, saved func(Host)) (result Result, err error) {
	if err := errors.Join(CheckLabels(request.Labels), CheckAuthorizedKeys(request.AuthorizedKeys)); err != nil {
		return Result{}, err
	}
	ctx, unlock, err := m.lock(ctx, request.Name)
	if err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	k, err := m.attached(ctx, attachment)
	if err != nil {
		return Result{}, err
	}
	if !k.Committed {
		if err := errors.Join(m.checkExpiry(k.id(), request.ExpiresAt), m.checkKeyring()); err != nil {
			return Result{}, err
		}
		k.take(request)
		if err := m.write(ctx, k); err != nil {
			return Result{}, err
		}
		result, err = m.complete(ctx, k, request, saved)
		result.Resumed = true
		return result, err
	}
	server, err := m.present(ctx, k)
	if err != nil {
		return Result{}, err
	}
	return m.apply(ctx, k, request, server)
}

// attached is the record of a state that may change its host.
func (m *Manager) attached(ctx context.Context, attachment sandbox.Attachment) (*known, error) {
	k, err := m.byID(ctx, attachment.Record)
	if err != nil {
		return nil, err
	}
	if err := m.bind(ctx, k); err != nil {
		return nil, err
	}
	if k.Attachment != "" && attachment.Token != "" && k.Attachment != attachment.Token {
		return nil, sandbox.TakenOver(k.id())
	}
	if attachment.Token != "" {
		k.Attachment = attachment.Token
	}
	if k.destroying() {
		return nil, destroying(k.id())
	}
	return k, nil
}

// present reads the server of a record, which must be there and ours.
func (m *Manager) present(ctx context.Context, k *known) (*hetzner.Server, error) {
	server, err := m.API.Server(ctx, k.ServerID)
	if err != nil {
		return nil, err
	}
	if server == nil {
		return nil, missing(k.id())
	}
	return server, k.checkMarks("server", server.ID, server.Labels)
}

// apply carries a request out on a committed host that is there.
func (m *Manager) apply(ctx context.Context, k *known, request Request, server *hetzner.Server) (Result, error) {
	k.interrupted = k.pending != nil
	k.take(request)
	k.LabelsPending = k.LabelsPending || !maps.Equal(userLabels(server.Labels), request.Labels)
	k.pending = &intent{Operation: changing, Since: m.now()}
	if err := m.write(ctx, k); err != nil {
		return Result{}, err
	}
	server, err := m.converge(ctx, k, request.DesiredState, server)
	if err != nil {
		return Result{Host: m.described(k, server)}, err
	}
	k.pending = nil
	if err := m.write(ctx, k); err != nil {
		return Result{Host: m.described(k, server)}, err
	}
	return Result{Host: m.described(k, server)}, nil
}

// reattach takes over a committed host. The attachment is written last, so that a failure leaves whoever
// held it before in place.
func (m *Manager) reattach(ctx context.Context, k *known, request Request, saved func(Host)) (Result, error) {
	if different := k.differs(request); different != "" {
		return Result{}, refuse(CodeOtherOptions,
			"Set it back, or purge the host first: set `on_destroy = \"purge\"` with the old value, apply, destroy, then change it.",
			"%s exists already and was made with the %s. Its disk is kept, so it is not made anew.", k.id(), different)
	}
	server, err := m.present(ctx, k)
	if err != nil {
		return Result{}, err
	}
	if request.DesiredState == "" {
		request.DesiredState = DesiredRunning
	}
	if _, err := m.apply(ctx, k, request, server); err != nil {
		return Result{}, fmt.Errorf("re-attach %s: %w", k.id(), err)
	}
	k.Attachment = sandbox.NewToken()
	if err := m.write(ctx, k); err != nil {
		return Result{}, err
	}
	if server, err = m.present(ctx, k); err != nil {
		return Result{}, err
	}
	host := m.described(k, server)
	if saved != nil {
		saved(host)
	}
	return Result{Host: host, Reattached: true}, nil
}

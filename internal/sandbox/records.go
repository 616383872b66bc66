package sandbox

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Records is a store and whose records in it are ours.
type Records struct {
	Store store.Store
	// ExplicitOwner is the configured owner; empty means the store's own.
	ExplicitOwner string
}

// Lock waits for the lock of key, which what names in errors. It returns the context for everything
// that happens under the lock, and the release.
func (r Records) Lock(ctx context.Context, key, what string) (context.Context, func() error, error) {
	held, err := r.Store.Lock(ctx, key)
	if err != nil {
		return ctx, nil, fmt.Errorf("wait for the lock of %s: %w", what, err)
	}
	return held.Context(ctx), func() error {
		// The CLI ends the plugin without a chance to tidy up, so that is done after each operation.
		return errors.Join(held.Unlock(), r.Store.Close())
	}, nil
}

// Owner returns whose objects are ours, "" when this store has made nothing yet.
func (r Records) Owner(ctx context.Context) (string, error) {
	if r.ExplicitOwner != "" {
		return r.ExplicitOwner, nil
	}
	return r.Store.Owner(ctx)
}

// EnsureOwner makes the store's own id where there is none, also when another owner is configured:
// it tells this store from a new one in its place.
func (r Records) EnsureOwner(ctx context.Context) (string, error) {
	own, err := r.Store.EnsureOwner(ctx)
	if err != nil || r.ExplicitOwner == "" {
		return own, err
	}
	return r.ExplicitOwner, nil
}

// Write stores a changed record. One that the store does not take stays known as it is: whoever gives
// up has to name it.
func (r Records) Write(ctx context.Context, record *store.Record) error {
	stored, err := r.Store.Update(ctx, *record)
	if err == nil {
		*record = stored
	}
	return err
}

// ByID returns a record, nil when there is none.
func (r Records) ByID(ctx context.Context, id string) (*store.Record, error) {
	if id == "" {
		return nil, nil
	}
	record, err := r.Store.Get(ctx, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &record, nil
}

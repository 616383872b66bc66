package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// increments is how often each process raises the shared counter.
const increments = 10

func ensureOwnerTask(ctx context.Context, s store.Store, _ string, answer func(string)) error {
	owner, err := s.EnsureOwner(ctx)
	answer(owner)
	return err
}

// incrementTask raises the generation of a record by fenced updates alone.
func incrementTask(ctx context.Context, s store.Store, id string, _ func(string)) error {
	for range increments {
		if err := increment(ctx, s, id); err != nil {
			return err
		}
	}
	return nil
}

// increment reads, changes and writes back until nobody came between.
func increment(ctx context.Context, s store.Store, id string) error {
	for {
		record, err := s.Get(ctx, id)
		if err != nil {
			return err
		}
		record.Generation++
		_, err = s.Update(ctx, record)
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

// insertTask inserts a record of one key under an id of its own.
func insertTask(ctx context.Context, s store.Store, id string, answer func(string)) error {
	record := sample(1)
	record.ID = id
	_, err := s.Insert(ctx, record)
	if errors.Is(err, store.ErrConflict) {
		answer("conflict")
		return nil
	}
	answer("inserted")
	return err
}

// writeForeverTask inserts records until it is killed and answers each that it was promised.
func writeForeverTask(ctx context.Context, s store.Store, _ string, answer func(string)) error {
	for number := 1; ; number++ {
		record, err := s.Insert(ctx, sample(number))
		if err != nil {
			return err
		}
		answer(record.ID)
	}
}

// countUnderLockTask raises a number in a file, which is safe under a lock only.
func countUnderLockTask(ctx context.Context, s store.Store, path string, _ func(string)) error {
	for range increments {
		held, err := s.Lock(ctx, "counter")
		if err != nil {
			return err
		}
		err = countUp(path)
		if err := errors.Join(err, held.Unlock()); err != nil {
			return err
		}
	}
	return nil
}

func countUp(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return err
	}
	return os.WriteFile(path, fmt.Appendf(nil, "%d", number+1), 0o600)
}

// holdLockTask takes a lock and keeps it until it is killed.
func holdLockTask(ctx context.Context, s store.Store, key string, answer func(string)) error {
	if _, err := s.Lock(ctx, key); err != nil {
		return err
	}
	answer("held")
	<-ctx.Done()
	return ctx.Err()
}

// incrementUnderLockTask raises the generation of a record, each time under a lock.
func incrementUnderLockTask(ctx context.Context, s store.Store, id string, _ func(string)) error {
	for range increments {
		held, err := s.Lock(ctx, id)
		if err != nil {
			return err
		}
		under := held.Context(ctx)
		record, err := s.Get(under, id)
		if err == nil {
			record.Generation++
			_, err = s.Update(under, record)
		}
		if err := errors.Join(err, held.Unlock()); err != nil {
			return err
		}
	}
	return nil
}

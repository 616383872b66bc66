package storetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// moment is long enough that a lock that does not exclude would have been got.
const moment = 200 * time.Millisecond

func mustLock(t *testing.T, s store.Store, key string) store.Lock {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), processLimit)
	defer cancel()
	held, err := s.Lock(ctx, key)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func mustUnlock(t *testing.T, held store.Lock) {
	t.Helper()
	if err := held.Unlock(); err != nil {
		t.Fatal(err)
	}
}

// wantHeld checks that somebody else holds the lock of key.
func wantHeld(t *testing.T, s store.Store, key string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), moment)
	defer cancel()
	held, err := s.Lock(ctx, key)
	if err == nil {
		t.Fatalf("got the lock of %q, which is held: %v", key, held.Unlock())
	}
	named := strings.Contains(err.Error(), key) || strings.Contains(err.Error(), strconv.Quote(key))
	if !errors.Is(err, context.DeadlineExceeded) || !named {
		t.Errorf("waiting ended with %q, want the deadline and the key %q", err, key)
	}
}

func testLockExcludes(t *testing.T, suite suite) {
	s, other := suite.client(t), suite.client(t)
	held := mustLock(t, s, "key")
	wantHeld(t, s, "key")
	wantHeld(t, other, "key")
	mustUnlock(t, mustLock(t, s, "another key"))
	got := make(chan store.Lock)
	go func() {
		lock, err := other.Lock(t.Context(), "key")
		if err != nil {
			t.Error(err)
		}
		got <- lock
	}()
	time.Sleep(moment)
	mustUnlock(t, held)
	select {
	case held = <-got:
	case <-time.After(time.Second):
		t.Fatal("the waiting one did not get the lock")
	}
	wantHeld(t, s, "key")
	mustUnlock(t, held)

	path := filepath.Join(t.TempDir(), "counter")
	if err := os.WriteFile(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			if err := countUnderLockTask(t.Context(), s, path, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	wantCount(t, path)
}

func wantCount(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil || string(content) != fmt.Sprint(workers*increments) {
		t.Errorf("counted %q, %v, want %d", content, err, workers*increments)
	}
}

func testLockKeys(t *testing.T, suite suite) {
	s := suite.client(t)
	keys := []string{"a", "A", "a/b", "../../escape", "", " ", "a\x00b", "ключ", strings.Repeat("long", 1000)}
	for _, key := range keys {
		held := mustLock(t, s, key)
		wantHeld(t, s, key)
		defer mustUnlock(t, held)
	}
}

func testLockContext(t *testing.T, suite suite) {
	s := suite.client(t)
	held := mustLock(t, s, "key")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(moment, cancel)
	started := time.Now()
	_, err := s.Lock(ctx, "key")
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "key") {
		t.Errorf("waiting ended with %v", err)
	}
	if waited := time.Since(started); waited > moment+2*time.Second {
		t.Errorf("waited %v after the cancellation", waited)
	}
	// Whoever gave up does not stand in the way of the next one.
	mustUnlock(t, held)
	mustUnlock(t, mustLock(t, s, "key"))
}

func testLockProcesses(t *testing.T, suite suite) {
	path := filepath.Join(t.TempDir(), "counter")
	if err := os.WriteFile(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	var children []*process
	for range workers {
		children = append(children, suite.start(t, "count", path))
	}
	for _, child := range children {
		child.finish()
	}
	wantCount(t, path)
}

func testKilledHolder(t *testing.T, suite suite) {
	child := suite.start(t, "hold", "key")
	child.next()
	s := suite.client(t)
	wantHeld(t, s, "key")
	child.kill()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	held, err := s.Lock(ctx, "key")
	if err != nil {
		t.Fatalf("the dead holder kept its lock: %v", err)
	}
	mustUnlock(t, held)
}

// testWritesUnderLock lets many change one record under its lock: nobody meets a conflict, and what
// the next holder reads is what the last one wrote.
func testWritesUnderLock(t *testing.T, suite suite) {
	first := mustInsert(t, suite.client(t), sample(1))
	var children []*process
	for range workers {
		children = append(children, suite.start(t, "increment under lock", first.ID))
	}
	s := suite.client(t)
	if err := incrementUnderLockTask(t.Context(), s, first.ID, nil); err != nil {
		t.Error(err)
	}
	for _, child := range children {
		child.finish()
	}
	want := first.Generation + (workers+1)*increments
	if got := mustGet(t, s, first.ID).Generation; got != want {
		t.Errorf("the counter stands at %d, want %d", got, want)
	}

	outer := mustLock(t, s, "outer")
	inner, err := s.Lock(outer.Context(t.Context()), "inner")
	if err != nil {
		t.Fatal(err)
	}
	both := inner.Context(outer.Context(t.Context()))
	if _, err := s.Insert(both, sample(2)); err != nil {
		t.Errorf("a write under two locks: %v", err)
	}
	mustUnlock(t, inner)
	if _, err := s.Insert(outer.Context(t.Context()), sample(3)); err != nil {
		t.Errorf("a write under the lock that is left: %v", err)
	}
	mustUnlock(t, outer)
}

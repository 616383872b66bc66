package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// workers is how many goroutines or processes work on one record.
const workers = 4

func testConcurrentUpdates(t *testing.T, suite suite) {
	first := mustInsert(t, suite.client(t), sample(1))
	clients := []store.Store{suite.client(t), suite.client(t)}
	var wait sync.WaitGroup
	for worker := range workers {
		wait.Go(func() {
			for range increments {
				if err := increment(t.Context(), clients[worker%len(clients)], first.ID); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	wantGeneration(t, suite, first)
}

func testConcurrentProcesses(t *testing.T, suite suite) {
	first := mustInsert(t, suite.client(t), sample(1))
	var children []*process
	for range workers {
		children = append(children, suite.start(t, "increment", first.ID))
	}
	for _, child := range children {
		child.finish()
	}
	wantGeneration(t, suite, first)
}

// wantGeneration checks that no increment of any worker was lost.
func wantGeneration(t *testing.T, suite suite, first store.Record) {
	t.Helper()
	got := mustGet(t, suite.client(t), first.ID).Generation
	if want := first.Generation + workers*increments; got != want {
		t.Errorf("the counter stands at %d, want %d", got, want)
	}
}

func testOneInsertWins(t *testing.T, suite suite) {
	var children []*process
	for number := range workers {
		children = append(children, suite.start(t, "insert", fmt.Sprintf("id-of-%d", number)))
	}
	inserted := 0
	for _, child := range children {
		if child.next() == "inserted" {
			inserted++
		}
		child.finish()
	}
	records, err := suite.client(t).Find(t.Context(), store.Query{})
	if err != nil || len(records) != 1 || inserted != 1 {
		t.Errorf("%d processes inserted, found %d records, %v", inserted, len(records), err)
	}
}

// testKilledWriter kills a process in the midst of its writes: what it was promised is there, and
// the store goes on.
func testKilledWriter(t *testing.T, suite suite) {
	child := suite.start(t, "write", "")
	var promised string
	for range 20 {
		promised = child.next()
	}
	child.kill()
	s := suite.client(t)
	mustGet(t, s, promised)
	records, err := s.Find(t.Context(), store.Query{})
	if err != nil || len(records) < 20 {
		t.Fatalf("found %d records, %v", len(records), err)
	}
	for i, record := range records {
		if record.ID != sample(i+1).ID {
			t.Fatalf("record %d is %s", i+1, record.ID)
		}
	}
	mustInsert(t, s, sample(9999))
}

func testClose(t *testing.T, suite suite) {
	s := suite.client(t)
	if err := s.Close(); err != nil {
		t.Fatalf("close of an unused store: %v", err)
	}
	first := mustInsert(t, s, sample(1))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantSame(t, mustGet(t, s, first.ID), first)
	mustInsert(t, s, sample(2))
}

func testCanceled(t *testing.T, suite suite) {
	s := suite.client(t)
	first := mustInsert(t, s, sample(1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range map[string]func() error{
		"Owner":       func() error { _, err := s.Owner(ctx); return err },
		"EnsureOwner": func() error { _, err := s.EnsureOwner(ctx); return err },
		"Get":         func() error { _, err := s.Get(ctx, first.ID); return err },
		"Find":        func() error { _, err := s.Find(ctx, store.Query{}); return err },
		"Insert":      func() error { _, err := s.Insert(ctx, sample(2)); return err },
		"Update":      func() error { _, err := s.Update(ctx, first); return err },
		"Delete":      func() error { return s.Delete(ctx, first) },
		"Lock":        func() error { _, err := s.Lock(ctx, "key"); return err },
	} {
		if err := call(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want canceled", name, err)
		}
	}
	wantSame(t, mustGet(t, s, first.ID), first)
	if records, err := s.Find(t.Context(), store.Query{}); err != nil || len(records) != 1 {
		t.Errorf("found %d records, %v", len(records), err)
	}
	short, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	held, err := s.Lock(short, "key")
	if err != nil {
		t.Fatalf("the canceled Lock kept the lock: %v", err)
	}
	if err := held.Unlock(); err != nil {
		t.Error(err)
	}
}

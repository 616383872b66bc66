package vercel_test

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// TestGlanceByThePage: many sandboxes are read by as many requests as there are pages, and what they
// tell is what single reads tell.
func TestGlanceByThePage(t *testing.T) {
	const count, page = 25, 20 // the API's own size of a page
	server := simulator.Start(t, simulator.Config{Plan: simulator.PlanEnterprise})
	var requests atomic.Int64
	counted := config(server)
	counted.Observer = func(_ context.Context, phase effects.Phase, _ effects.Effect) {
		if phase == effects.Before {
			requests.Add(1)
		}
	}
	backend := vercel.New(counted)
	spec := backends.Spec{Labels: map[string]string{"a": "b"}}
	for i := range count {
		if _, err := backend.Create(t.Context(), marks(fmt.Sprintf("box-%d", i), backends.Persistent), spec); err != nil {
			t.Fatal(err)
		}
	}
	requests.Store(0)
	var wait sync.WaitGroup
	seen := make([]backends.Observed, count)
	for i := range count {
		wait.Go(func() {
			var err error
			if seen[i], err = backend.Glance(t.Context(), fmt.Sprintf("box-%d", i), spec); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if sent, pages := requests.Load(), int64((count+page-1)/page); sent != pages {
		t.Errorf("%d requests were sent, want %d", sent, pages)
	}
	for i := range count {
		single, err := backend.Get(t.Context(), fmt.Sprintf("box-%d", i))
		if err != nil || !reflect.DeepEqual(seen[i], single) {
			t.Fatalf("at a glance it is %+v, read singly %+v, %v", seen[i], single, err)
		}
	}
	if made := server.Inventory().SessionsMade; made != count {
		t.Errorf("looking made %d sessions", made-count)
	}
}

// TestGlanceProvesNothing: what a listing does not tell is read singly, and what this backend changes is
// listed anew.
func TestGlanceProvesNothing(t *testing.T) {
	server := simulator.Start(t, simulator.Config{})
	backend, other := vercel.New(config(server)), vercel.New(config(server))
	ctx := t.Context()
	if _, err := backend.Create(ctx, marks("first", backends.Persistent), backends.Spec{}); err != nil {
		t.Fatal(err)
	}
	if _, err := backend.Glance(ctx, "first", backends.Spec{}); err != nil {
		t.Fatal(err)
	}
	ports := backends.Spec{Ports: []backends.Port{{Port: 3000, Public: true}}}
	if _, err := other.Create(ctx, marks("second", backends.Persistent), ports); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []backends.Spec{{}, ports} {
		if found, err := backend.Glance(ctx, "second", spec); err != nil || len(found.Endpoints) != 1 {
			t.Errorf("what is not in the listing is %+v, %v", found, err)
		}
	}
	if err := backend.Stop(ctx, "first"); err != nil {
		t.Fatal(err)
	}
	if found, err := backend.Glance(ctx, "first", backends.Spec{}); err != nil || found.Status != backends.StatusStopped {
		t.Errorf("after a stop of our own it is %+v, %v", found, err)
	}
	_, err := backend.Glance(ctx, "third", backends.Spec{})
	fixture{t, server, backend}.wantKind("Glance of an absent sandbox", err, backends.NotFound)
}

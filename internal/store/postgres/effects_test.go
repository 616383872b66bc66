package postgres

import (
	"context"
	"slices"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func TestEffects(t *testing.T) {
	var seen []string
	s := New(Config{URL: testkit.Postgres(t).URL(), Observer: func(_ context.Context, phase effects.Phase, effect effects.Effect) {
		if effect.System != "store" || !effect.Write {
			t.Errorf("effect %+v", effect)
		}
		seen = append(seen, string(phase)+" "+effect.Action+" "+effect.Object)
	}})
	expect := func(step string, err error, actions ...string) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", step, err)
		}
		var want []string
		for _, action := range actions {
			want = append(want, "before "+action, "after "+action)
		}
		if !slices.Equal(seen, want) {
			t.Errorf("%s had the effects %q, want %q", step, seen, want)
		}
		seen = nil
	}
	_, err := s.Find(t.Context(), store.Query{})
	expect("reading", err)
	expect("delete of nothing", s.Delete(t.Context(), record("id")))
	held, err := s.Lock(t.Context(), "key")
	expect("first lock", err, "migrate sandlot", "lock key")
	_, err = s.EnsureOwner(t.Context())
	expect("owner", err, "make owner owner")
	inserted, err := s.Insert(held.Context(t.Context()), record("id"))
	expect("insert", err, "insert record name of id")
	expect("unlock", held.Unlock())
	expect("close", s.Close())
	_, err = s.Update(t.Context(), inserted)
	expect("update", err, "update record name of id")
	expect("close", s.Close())
}

package api

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// TestEffects: every request is told before and after, repeated ones each time; reads are told as
// reads, and what wakes a sandbox as a write.
func TestEffects(t *testing.T) {
	var mu sync.Mutex
	var told []string
	s := serve(t, inTurn(alwaysError(503, "x", "y"), anyAnswer))
	c := clientOf(t, s, func(c *Config) {
		c.Observer = func(_ context.Context, phase effects.Phase, effect effects.Effect) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, fmt.Sprintf("%s %s %s [%s] %v", phase, effect.System, effect.Action, effect.Object, effect.Write))
		}
	})
	ctx := t.Context()
	for _, test := range []struct {
		send func() error
		want string // without phase; told before and after
	}{
		{func() error { _, err := c.GetSandbox(ctx, "demo"); return err }, "vercel GET /v2/sandboxes/{name} [demo] false"}, // the first one is repeated
		{func() error { _, err := c.ResumeSandbox(ctx, "demo"); return err }, "vercel GET /v2/sandboxes/{name} [demo] true"},
		{func() error { return create(t, c) }, "vercel POST /v3/sandboxes [demo] true"},
		{func() error { return update(t, c) }, "vercel PATCH /v2/sandboxes/{name} [demo] true"},
		{func() error { return remove(t, c) }, "vercel DELETE /v2/sandboxes/{name} [demo] true"},
		{func() error { return drain(c.ListSandboxes(ctx, SandboxFilter{})) }, "vercel GET /v2/sandboxes [] false"},
		{func() error { _, err := c.StopSession(ctx, "sbx_S"); return err }, "vercel POST /v2/sandboxes/sessions/{id}/stop [sbx_S] true"},
		{func() error { _, err := c.GetCommand(ctx, "sbx_S", "cmd_C"); return err }, "vercel GET /v2/sandboxes/sessions/{id}/cmd/{command} [cmd_C] false"},
		{func() error { _, err := c.KillCommand(ctx, "sbx_S", "cmd_C", SIGKILL); return err }, "vercel POST /v2/sandboxes/sessions/{id}/cmd/{command}/kill [cmd_C] true"},
		{func() error { return c.MakeDir(ctx, "sbx_S", "/d") }, "vercel POST /v2/sandboxes/sessions/{id}/fs/mkdir [/d] true"},
		{func() error { return c.WriteFiles(ctx, "sbx_S", File{Path: "/f"}) }, "vercel POST /v2/sandboxes/sessions/{id}/fs/write [/f] true"},
		{func() error {
			body, err := c.ReadFile(ctx, "sbx_S", "/f")
			if err == nil {
				body.Close()
			}
			return err
		}, "vercel POST /v2/sandboxes/sessions/{id}/fs/read [/f] false"},
		{func() error { _, err := c.DeleteSnapshot(ctx, "snap_1"); return err }, "vercel DELETE /v2/sandboxes/snapshots/{id} [snap_1] true"},
	} {
		mu.Lock()
		first := len(told) == 0
		told = told[:0]
		mu.Unlock()
		if err := test.send(); err != nil {
			t.Fatal(err)
		}
		want := []string{"before " + test.want, "after " + test.want}
		if first {
			want = slices.Concat(want, want)
		}
		mu.Lock()
		if !slices.Equal(told, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
		}
		mu.Unlock()
	}
}

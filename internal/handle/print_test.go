package handle_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
)

func TestPrintOnlyWhatIsKnown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape  handle.Shape
		object handle.Object
		want   string
	}{
		{
			handle.VercelPersistent,
			handle.Object{WorkspaceID: "w", Backend: "vercel", Kind: handle.KindPersistent, Name: "n", CreatedAt: at(1)},
			`{"kind":"vercel-persistent","workspaceId":"w","sandboxName":"n","persistent":true,"createdAt":"2026-04-30T01:00:00.123Z","lastUsedAt":"2026-04-30T01:00:00.123Z","handleKind":"persistent-name"}`,
		},
		{
			handle.VercelSession,
			handle.Object{WorkspaceID: "w", Backend: "vercel", Kind: handle.KindSession, SessionID: "sbx_1", CreatedAt: at(1), UpdatedAt: at(2)},
			`{"kind":"vercel-session","workspaceId":"w","sandboxId":"sbx_1","createdAt":"2026-04-30T01:00:00.123Z","lastUsedAt":"2026-04-30T02:00:00.123Z","handleKind":"session"}`,
		},
		{
			// A session elsewhere is found by its name; its session id changes with each start.
			handle.WorkspaceResource,
			handle.Object{WorkspaceID: "w", Backend: "docker", Kind: handle.KindSession, Name: "n", SessionID: "c1", State: handle.StateReady, CreatedAt: at(1)},
			`{"workspaceId":"w","provider":"docker","resourceKind":"sandbox","handleKind":"session","handle":"n","currentSessionId":"c1","state":"ready","createdAt":"2026-04-30T01:00:00.123Z","updatedAt":"2026-04-30T01:00:00.123Z"}`,
		},
		{handle.Spawnbox, handle.Object{Backend: "orbstack", Name: "n"}, `{"name":"n","driver":"orbstack"}`},
		{
			// A driver that an application registered under a name of its own.
			handle.Spawnbox, handle.Object{Backend: "firecracker", Name: "n"}, `{"name":"n","driver":"firecracker"}`,
		},
	} {
		if got := mustPrint(t, c.shape, c.object); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestPrintTimes keeps to the form that the applications write, whatever zone a time came in.
func TestPrintTimes(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]time.Time{
		"":                         {},
		"2026-04-30T00:00:00.000Z": time.Date(2026, time.April, 30, 2, 0, 0, 0, time.FixedZone("", 2*60*60)),
		"2026-04-30T01:00:00.123Z": at(1),
	} {
		if got := handle.FormatTime(value); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPrintMismatch(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shape  handle.Shape
		object handle.Object
		// The message names each of these.
		names []string
	}{
		"persistent on docker":  {handle.VercelPersistent, instance(), []string{"vercel-persistent", `"docker"`, `"vercel"`, "workspace-resource"}},
		"session on docker":     {handle.VercelSession, instance(), []string{"vercel-session", `"docker"`, `"vercel"`}},
		"session, persistent":   {handle.VercelSession, persistent(), []string{`"persistent"`, `"session"`, "Ask for vercel-persistent", "reset it explicitly"}},
		"persistent, session":   {handle.VercelPersistent, session(), []string{`"session"`, `"persistent"`, "Ask for vercel-session", "reset it explicitly"}},
		"persistent, volume":    {handle.VercelPersistent, handle.Object{Backend: "vercel", Kind: handle.KindVolume}, []string{`"volume"`, "workspace-resource"}},
		"persistent, unknown":   {handle.VercelPersistent, handle.Object{}, []string{"(unknown)", `"vercel"`}},
		"spawnbox on docker":    {handle.Spawnbox, instance(), []string{"spawnbox", `"docker"`, `"orbstack"`}},
		"spawnbox on vercel":    {handle.Spawnbox, persistent(), []string{`"vercel"`}},
		"eve on local":          {handle.Eve, handle.Object{Backend: "local", Name: "n", SessionKey: "k"}, []string{"eve", `"local"`}},
		"agent-env on vercel":   {handle.AgentEnv, persistent(), []string{"agent-env", `"vercel"`, `"docker"`}},
		"agent-env on orbstack": {handle.AgentEnv, handle.Object{Backend: "orbstack"}, []string{`"orbstack"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := handle.Print(c.shape, c.object)
			var mismatch *handle.MismatchError
			if !errors.As(err, &mismatch) || mismatch.Shape != c.shape || mismatch.Backend != c.object.Backend || mismatch.Kind != c.object.Kind {
				t.Fatalf("got %#v", err)
			}
			for _, part := range c.names {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q does not name %s", err, part)
				}
			}
		})
	}
}

func TestPrintNeeds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		shape  handle.Shape
		object handle.Object
		change func(*handle.Object)
		key    string
	}{
		{handle.VercelPersistent, persistent(), func(o *handle.Object) { o.WorkspaceID = "" }, "workspaceId"},
		{handle.VercelPersistent, persistent(), func(o *handle.Object) { o.Name = "" }, "sandboxName"},
		{handle.VercelPersistent, persistent(), func(o *handle.Object) { o.Name = "sbx_1" }, "sandboxName"},
		{handle.VercelPersistent, persistent(), func(o *handle.Object) { o.CreatedAt = time.Time{} }, "createdAt"},
		{handle.VercelSession, session(), func(o *handle.Object) { o.WorkspaceID = "" }, "workspaceId"},
		{handle.VercelSession, session(), func(o *handle.Object) { o.SessionID = "" }, "sandboxId"},
		{handle.WorkspaceResource, persistent(), func(o *handle.Object) { o.Backend = "" }, "provider"},
		{handle.WorkspaceResource, persistent(), func(o *handle.Object) { o.Kind = "" }, "handleKind"},
		{handle.WorkspaceResource, persistent(), func(o *handle.Object) { o.Name = "" }, "handle"},
		{handle.WorkspaceResource, persistent(), func(o *handle.Object) { o.Name = "sbx_1" }, "handle"},
		{handle.WorkspaceResource, session(), func(o *handle.Object) { o.SessionID = "" }, "handle"},
		{handle.WorkspaceResource, session(), func(o *handle.Object) { o.State = "" }, "state"},
		{handle.WorkspaceResource, session(), func(o *handle.Object) { o.State = "running" }, "state"},
		{handle.Spawnbox, machine(), func(o *handle.Object) { o.Name = "" }, "name"},
		{handle.Spawnbox, machine(), func(o *handle.Object) { o.Backend = "" }, "driver"},
		{handle.Eve, machine(), func(o *handle.Object) { o.SessionKey = "" }, "sessionKey"},
		{handle.Eve, machine(), func(o *handle.Object) { o.Name = "" }, "metadata.machine"},
		{handle.AgentEnv, instance(), func(o *handle.Object) { o.Backend = "" }, "spec.provider"},
		{handle.AgentEnv, instance(), func(o *handle.Object) { o.Owner = "" }, "spec.owner"},
		{handle.AgentEnv, instance(), func(o *handle.Object) { o.Name = "" }, "spec.name"},
		{handle.AgentEnv, instance(), func(o *handle.Object) { o.Directory = "" }, "spec.cwd"},
		{handle.AgentEnv, instance(), func(o *handle.Object) { o.Directory = "checkout" }, "spec.cwd"},
		{handle.AgentEnv, instance(), func(o *handle.Object) { o.Services = nil }, "spec.services"},
		{handle.AgentEnv, instance(), func(o *handle.Object) { o.Services = map[string]handle.Service{"a": {}} }, "services.a.port"},
		{handle.AgentEnv, instance(), func(o *handle.Object) { o.Services = map[string]handle.Service{"a": {Port: 65536}} }, "services.a.port"},
		{handle.AgentEnv, instance(), func(o *handle.Object) {
			o.Services = map[string]handle.Service{"a": {Port: 1, ContainerPort: 65536}}
		}, "services.a.containerPort"},
		{handle.AgentEnv, instance(), func(o *handle.Object) { o.Services = map[string]handle.Service{"a": {Port: 1, Internal: true}} }, "services.a"},
	} {
		c.change(&c.object)
		_, err := handle.Print(c.shape, c.object)
		var wrong *handle.KeyError
		if !errors.As(err, &wrong) || wrong.Shape != c.shape || wrong.Key != c.key {
			t.Errorf("%s without %s: got %v", c.shape, c.key, err)
		}
	}
}

func TestPrintRefuses(t *testing.T) {
	t.Parallel()
	if _, err := handle.Print("fly", persistent()); err == nil || !strings.Contains(err.Error(), `"fly"`) {
		t.Errorf("an unknown shape: got %v", err)
	}
	object := persistent()
	object.Metadata = map[string]any{"connection": make(chan int)}
	if _, err := handle.Print(handle.WorkspaceResource, object); err == nil {
		t.Error("a record holds a live connection")
	}
}

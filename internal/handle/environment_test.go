package handle_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
)

// The names and values: @hachej/boring-agent 0.1.18, docs/runtime.md; docs/plans/
// vercel-persistent-sandbox-adapter.md, "Runtime Selection" and "Phase 1"; docs/plans/
// vercel-base-snapshot-template-plan.md, "App-Level Configuration".
func TestAgentEnvironment(t *testing.T) {
	t.Parallel()
	none := int64(0)
	full := handle.Settings{
		NamePrefix: "boring", Namespace: "dev", Timeout: 45 * time.Minute, SnapshotKeep: &none,
		ManifestPath: "./sandbox-template.manifest.json", CachePath: "~/.config/boring-agent/base-snapshots.json",
	}
	for name, c := range map[string]struct {
		object   handle.Object
		settings handle.Settings
		want     map[string]string
	}{
		"persistent": {persistent(), full, map[string]string{
			"BORING_AGENT_MODE":                               "vercel-sandbox",
			"BORING_AGENT_VERCEL_SANDBOX_CHANNEL":             "persistent-beta",
			"BORING_AGENT_VERCEL_SANDBOX_NAME_PREFIX":         "boring",
			"BORING_AGENT_VERCEL_SANDBOX_NAMESPACE":           "dev",
			"BORING_AGENT_VERCEL_SANDBOX_TIMEOUT_MS":          "2700000",
			"BORING_AGENT_SNAPSHOT_KEEP":                      "0",
			"BORING_AGENT_VERCEL_BASE_SNAPSHOT_ID":            "snap_1",
			"BORING_AGENT_VERCEL_BASE_SNAPSHOT_VERSION":       "boring-node24-2026-04-30-a1b2c3d4",
			"BORING_AGENT_VERCEL_BASE_SNAPSHOT_RUNTIME":       "node24",
			"BORING_AGENT_VERCEL_BASE_SNAPSHOT_MANIFEST_PATH": "./sandbox-template.manifest.json",
			"BORING_AGENT_VERCEL_BASE_SNAPSHOT_CACHE_PATH":    "~/.config/boring-agent/base-snapshots.json",
		}},
		"session without a base": {
			handle.Object{Backend: "vercel", Kind: handle.KindSession, BaseSnapshotVersion: "v", Runtime: "node24"},
			handle.Settings{Timeout: time.Microsecond},
			map[string]string{"BORING_AGENT_MODE": "vercel-sandbox", "BORING_AGENT_VERCEL_SANDBOX_CHANNEL": "stable"},
		},
		"local": {
			handle.Object{Backend: "local", Kind: handle.KindPersistent, Directory: "/srv/ws", BaseSnapshotID: "b"},
			full,
			map[string]string{"BORING_AGENT_MODE": "local", "BORING_AGENT_WORKSPACE_ROOT": "/srv/ws"},
		},
		"directory": {
			handle.Object{Backend: "local", Kind: handle.KindVolume, Directory: "/srv/ws"},
			handle.Settings{},
			map[string]string{"BORING_AGENT_MODE": "direct", "BORING_AGENT_WORKSPACE_ROOT": "/srv/ws"},
		},
		"docker":  {instance(), full, map[string]string{}},
		"unknown": {handle.Object{}, full, map[string]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := handle.AgentEnvironment(c.object, c.settings)
			if err != nil || !maps.Equal(got, c.want) {
				t.Errorf("got %v, %v\nwant %v", got, err, c.want)
			}
		})
	}
}

func TestAgentEnvironmentNeedsVersion(t *testing.T) {
	t.Parallel()
	object := persistent()
	object.BaseSnapshotVersion = ""
	_, err := handle.AgentEnvironment(object, handle.Settings{})
	if err == nil || !strings.Contains(err.Error(), "BORING_AGENT_VERCEL_BASE_SNAPSHOT_VERSION has no value") {
		t.Errorf("got %v", err)
	}
}

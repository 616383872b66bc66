package handle_test

import (
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
)

// The shapes belong to other projects, which change them without telling us. Each golden record says
// where its keys were taken from; look there before you change one.
var goldens = []struct {
	name   string
	shape  handle.Shape
	object handle.Object
	record string
}{
	// @hachej/boring-agent 0.1.18, docs/plans/vercel-persistent-sandbox-adapter.md, "Store Contract":
	// the arm "vercel-persistent". The last four keys: docs/plans/vercel-base-snapshot-template-plan.md,
	// "Phase 1 - Contracts and Config".
	{"persistent", handle.VercelPersistent, persistent(), `{
		"kind": "vercel-persistent",
		"workspaceId": "ws-1",
		"sandboxName": "boring-dev-ws-6f8d4a9c2b0e",
		"currentSessionId": "sbx_2",
		"currentSnapshotId": "snap_2",
		"status": "running",
		"persistent": true,
		"createdAt": "2026-04-30T01:00:00.123Z",
		"lastUsedAt": "2026-04-30T03:00:00.123Z",
		"lastSeenAt": "2026-04-30T04:00:00.123Z",
		"baseSnapshotId": "snap_1",
		"baseSnapshotVersion": "boring-node24-2026-04-30-a1b2c3d4",
		"runtime": "node24",
		"handleKind": "persistent-name"
	}`},
	// As above, the arm "vercel-session".
	{"session", handle.VercelSession, session(), `{
		"kind": "vercel-session",
		"workspaceId": "ws-1",
		"sandboxId": "sbx_1",
		"snapshotId": "snap_2",
		"createdAt": "2026-04-30T01:00:00.123Z",
		"lastUsedAt": "2026-04-30T03:00:00.123Z",
		"currentSnapshotId": "snap_2",
		"baseSnapshotId": "snap_1",
		"baseSnapshotVersion": "boring-node24-2026-04-30-a1b2c3d4",
		"runtime": "node24",
		"handleKind": "session"
	}`},
	// @hachej/boring-agent 0.1.18, docs/plans/vercel-base-snapshot-template-plan.md, "Provider-Neutral
	// DB Model": the type WorkspaceRuntimeResource, filled in as "For Vercel persistent beta" says.
	{"resource of a persistent one", handle.WorkspaceResource, persistent(), `{
		"workspaceId": "ws-1",
		"provider": "vercel",
		"resourceKind": "sandbox",
		"handleKind": "persistent-name",
		"handle": "boring-dev-ws-6f8d4a9c2b0e",
		"currentSessionId": "sbx_2",
		"currentSnapshotId": "snap_2",
		"baseSnapshotId": "snap_1",
		"baseSnapshotVersion": "boring-node24-2026-04-30-a1b2c3d4",
		"templateVersion": "3",
		"runtime": "node24",
		"state": "ready",
		"status": "running",
		"expiresAt": "2026-04-30T05:00:00.123Z",
		"createdAt": "2026-04-30T01:00:00.123Z",
		"updatedAt": "2026-04-30T02:00:00.123Z",
		"lastUsedAt": "2026-04-30T03:00:00.123Z",
		"lastSeenAt": "2026-04-30T04:00:00.123Z"
	}`},
	// As above, filled in as "For Vercel stable" says.
	{"resource of a session", handle.WorkspaceResource, session(), `{
		"workspaceId": "ws-1",
		"provider": "vercel",
		"resourceKind": "sandbox",
		"handleKind": "session",
		"handle": "sbx_1",
		"currentSnapshotId": "snap_2",
		"baseSnapshotId": "snap_1",
		"baseSnapshotVersion": "boring-node24-2026-04-30-a1b2c3d4",
		"runtime": "node24",
		"state": "ready",
		"createdAt": "2026-04-30T01:00:00.123Z",
		"updatedAt": "2026-04-30T03:00:00.123Z",
		"lastUsedAt": "2026-04-30T03:00:00.123Z"
	}`},
	// As above, for a directory that no sandbox surrounds: the kind "volume-path".
	{"resource of a volume", handle.WorkspaceResource, handle.Object{
		WorkspaceID: "ws-1", Backend: "local", Kind: handle.KindVolume, Directory: "/srv/ws-1", State: handle.StateProvisioning,
		ProvisionLockToken: "token-1", Metadata: map[string]any{"b": []any{1, nil}, "a": "<&>"}, CreatedAt: at(1),
	}, `{
		"workspaceId": "ws-1",
		"provider": "local",
		"resourceKind": "volume",
		"handleKind": "volume-path",
		"handle": "/srv/ws-1",
		"state": "provisioning",
		"provisionLockToken": "token-1",
		"metadata": {"a": "<&>", "b": [1, null]},
		"createdAt": "2026-04-30T01:00:00.123Z",
		"updatedAt": "2026-04-30T01:00:00.123Z"
	}`},
	// As above: "provider" is any string, and a name that is none of ours is kept.
	{"resource of another provider", handle.WorkspaceResource, handle.Object{
		WorkspaceID: "ws-1", Backend: "modal", Kind: "app-name", ResourceKind: "app", Name: "a", SessionID: "s",
		State: handle.StateStopped, CreatedAt: at(1),
	}, `{
		"workspaceId": "ws-1",
		"provider": "modal",
		"resourceKind": "app",
		"handleKind": "app-name",
		"handle": "a",
		"currentSessionId": "s",
		"state": "stopped",
		"createdAt": "2026-04-30T01:00:00.123Z",
		"updatedAt": "2026-04-30T01:00:00.123Z"
	}`},
	// spawnbox (github.com/seripap/orbbox 6d1822b), src/core/sandbox.ts: the arguments of
	// Sandbox.attach and the read-only members of Sandbox.
	{"spawnbox", handle.Spawnbox, machine(), `{
		"name": "eve-ticket-1-a1b2c3",
		"driver": "apple",
		"user": "agent",
		"workspace": "/workspace",
		"isolated": true
	}`},
	// spawnbox, as above, src/connectors/eve/backend.ts: captureState and create; the type is
	// SandboxBackendSessionState of github.com/vercel/eve 0d5ce37, packages/eve/src/shared/sandbox-backend.ts.
	{"eve", handle.Eve, machine(), `{
		"backendName": "spawnbox",
		"sessionKey": "ticket-1",
		"metadata": {"machine": "eve-ticket-1-a1b2c3"}
	}`},
	// @desplega.ai/agent-env 0.3.0, src/providers/README.md, the specification and "The returned
	// handle"; src/providers/CLOUD_SANDBOX.md, "Cloud integration", for the keys of cloud.
	{"agent-env", handle.AgentEnv, instance(), `{
		"spec": {
			"provider": "docker",
			"owner": "installation-hash",
			"name": "instance-name",
			"cwd": "/absolute/local/checkout",
			"host": "demo",
			"sshConfig": "/state/cloud/1/config",
			"services": {
				"cache": {"image": "redis:8", "internal": true},
				"web": {
					"image": "node:22-bookworm-slim",
					"port": 3000,
					"containerPort": 3000,
					"protocol": "http",
					"command": "npm run dev && wait",
					"env": {"CI": ""},
					"volumes": {"dependencies": "/workspace/node_modules"}
				}
			},
			"cloud": {
				"provider": "hetzner",
				"type": "cx23",
				"location": "fsn1",
				"image": "ubuntu-24.04",
				"idleTimeoutMs": 1800000,
				"expiresAt": null,
				"recordId": "0123456789abcdef",
				"owner": "installation-hash",
				"name": "instance-name",
				"serverId": 42,
				"keyId": 43,
				"primaryIpIds": [44],
				"createdAt": "2026-04-30T01:00:00.123Z",
				"createdForStart": true
			}
		},
		"services": {
			"cache": {"internal": true},
			"web": {"port": 3000, "protocol": "http"}
		}
	}`},
}

// TestGolden holds every shape to its source, and to a round trip that changes no byte.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			printed := mustPrint(t, g.shape, g.object)
			if want := compact(t, g.record); printed != want {
				t.Errorf("got  %s\nwant %s", printed, want)
			}
			parsed, shape := mustParse(t, printed)
			if shape != g.shape {
				t.Errorf("it was recognized as %s, not as %s", shape, g.shape)
			}
			if again := mustPrint(t, shape, parsed); again != printed {
				t.Errorf("got  %s\nwant %s", again, printed)
			}
		})
	}
}

// TestShapes keeps the list and the goldens together.
func TestShapes(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, g := range goldens {
		seen[string(g.shape)] = true
	}
	for _, shape := range handle.Shapes() {
		if !seen[shape] {
			t.Errorf("the shape %s has no golden record", shape)
		}
	}
	if len(seen) != len(handle.Shapes()) {
		t.Errorf("a golden record has a shape that is not listed: %v", seen)
	}
}

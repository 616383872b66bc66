package handle_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
)

// compact takes the white space out of a golden record and keeps the order of its keys.
func compact(t *testing.T, record string) string {
	t.Helper()
	var buffer bytes.Buffer
	if err := json.Compact(&buffer, []byte(record)); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func mustPrint(t *testing.T, shape handle.Shape, object handle.Object) string {
	t.Helper()
	record, err := handle.Print(shape, object)
	if err != nil {
		t.Fatal(err)
	}
	return string(record)
}

func mustParse(t *testing.T, record string) (handle.Object, handle.Shape) {
	t.Helper()
	object, shape, err := handle.Parse(record)
	if err != nil {
		t.Fatalf("%s: %v", record, err)
	}
	return object, shape
}

// at is a moment of one day, with more digits than a record keeps.
func at(hour int) time.Time {
	return time.Date(2026, time.April, 30, hour, 0, 0, 123_456_789, time.UTC)
}

func persistent() handle.Object {
	return handle.Object{
		WorkspaceID: "ws-1", Backend: "vercel", Kind: handle.KindPersistent, Name: "boring-dev-ws-6f8d4a9c2b0e",
		SessionID: "sbx_2", SnapshotID: "snap_2", BaseSnapshotID: "snap_1", BaseSnapshotVersion: "boring-node24-2026-04-30-a1b2c3d4",
		TemplateVersion: "3", Runtime: "node24", State: handle.StateReady, Status: "running",
		CreatedAt: at(1), UpdatedAt: at(2), LastUsedAt: at(3), LastSeenAt: at(4), ExpiresAt: at(5),
	}
}

func session() handle.Object {
	return handle.Object{
		WorkspaceID: "ws-1", Backend: "vercel", Kind: handle.KindSession, SessionID: "sbx_1", SnapshotID: "snap_2",
		BaseSnapshotID: "snap_1", BaseSnapshotVersion: "boring-node24-2026-04-30-a1b2c3d4", Runtime: "node24",
		State: handle.StateReady, CreatedAt: at(1), LastUsedAt: at(3),
	}
}

func machine() handle.Object {
	isolated := true
	return handle.Object{
		Backend: "apple_container", Kind: handle.KindPersistent, Name: "eve-ticket-1-a1b2c3", SessionKey: "ticket-1",
		User: "agent", Workspace: "/workspace", Isolated: &isolated,
	}
}

func instance() handle.Object {
	return handle.Object{
		Backend: "docker", Kind: handle.KindPersistent, Owner: "installation-hash", Name: "instance-name", Directory: "/absolute/local/checkout",
		Host: "demo", SSHConfig: "/state/cloud/1/config",
		Services: map[string]handle.Service{
			"web": {
				Image: "node:22-bookworm-slim", Port: 3000, ContainerPort: 3000, Command: "npm run dev && wait",
				Env: map[string]string{"CI": ""}, Volumes: map[string]string{"dependencies": "/workspace/node_modules"},
			},
			"cache": {Image: "redis:8", Internal: true},
		},
		Cloud: &handle.Cloud{
			Provider: "hetzner", Type: "cx23", Location: "fsn1", Image: "ubuntu-24.04", IdleTimeout: 30 * time.Minute,
			RecordID: "0123456789abcdef", Owner: "installation-hash", Name: "instance-name", ServerID: 42, KeyID: 43, PrimaryIPIDs: []int64{44},
			CreatedAt: at(1), CreatedForStart: true,
		},
	}
}

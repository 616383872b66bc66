package handle_test

import (
	"errors"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
)

// TestConvert goes from either arm of the union to the neutral record and back, without a loss:
// what the union holds, the neutral record holds as well.
func TestConvert(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		object handle.Object
		arm    handle.Shape
		// neutral is the record that the arm becomes.
		neutral string
	}{
		{persistent(), handle.VercelPersistent, `{
			"workspaceId": "ws-1", "provider": "vercel", "resourceKind": "sandbox",
			"handleKind": "persistent-name", "handle": "boring-dev-ws-6f8d4a9c2b0e",
			"currentSessionId": "sbx_2", "currentSnapshotId": "snap_2",
			"baseSnapshotId": "snap_1", "baseSnapshotVersion": "boring-node24-2026-04-30-a1b2c3d4", "runtime": "node24",
			"state": "ready", "status": "running",
			"createdAt": "2026-04-30T01:00:00.123Z", "updatedAt": "2026-04-30T03:00:00.123Z",
			"lastUsedAt": "2026-04-30T03:00:00.123Z", "lastSeenAt": "2026-04-30T04:00:00.123Z"
		}`},
		{session(), handle.VercelSession, `{
			"workspaceId": "ws-1", "provider": "vercel", "resourceKind": "sandbox",
			"handleKind": "session", "handle": "sbx_1", "currentSnapshotId": "snap_2",
			"baseSnapshotId": "snap_1", "baseSnapshotVersion": "boring-node24-2026-04-30-a1b2c3d4", "runtime": "node24",
			"state": "ready",
			"createdAt": "2026-04-30T01:00:00.123Z", "updatedAt": "2026-04-30T03:00:00.123Z",
			"lastUsedAt": "2026-04-30T03:00:00.123Z"
		}`},
	} {
		record := mustPrint(t, c.arm, c.object)
		neutral, err := handle.Convert(record, handle.WorkspaceResource)
		if err != nil {
			t.Fatal(err)
		}
		if want := compact(t, c.neutral); string(neutral) != want {
			t.Errorf("got  %s\nwant %s", neutral, want)
		}
		back, err := handle.Convert(string(neutral), c.arm)
		if err != nil {
			t.Fatal(err)
		}
		if string(back) != record {
			t.Errorf("got  %s\nwant %s", back, record)
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	t.Parallel()
	var mismatch *handle.MismatchError
	if _, err := handle.Convert(mustPrint(t, handle.WorkspaceResource, session()), handle.VercelPersistent); !errors.As(err, &mismatch) {
		t.Errorf("a session became persistent: %v", err)
	}
	var record *handle.RecordError
	if _, err := handle.Convert("{}", handle.VercelPersistent); !errors.As(err, &record) {
		t.Errorf("got %v", err)
	}
}

package functions_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// parsed calls parse_handle and returns the attributes that are not null.
func parsed(t *testing.T, record string) (map[string]tftypes.Value, *tfprotov6.FunctionError) {
	t.Helper()
	response := send(t, "parse_handle", record)
	if response.Error != nil {
		return nil, response.Error
	}
	value, err := response.Result.Unmarshal(handleType)
	if err != nil {
		t.Fatal(err)
	}
	var attributes map[string]tftypes.Value
	if err := value.As(&attributes); err != nil {
		t.Fatal(err)
	}
	for name, attribute := range attributes {
		if attribute.IsNull() {
			delete(attributes, name)
		}
	}
	return attributes, nil
}

// handleType is spelled out here, apart from the code: callers depend on each name and type.
var handleType = func() tftypes.Object {
	attributes := map[string]tftypes.Type{
		"isolated": tftypes.Bool,
		"services": tftypes.Map{ElementType: tftypes.Object{AttributeTypes: map[string]tftypes.Type{
			"image": tftypes.String, "port": tftypes.Number, "container_port": tftypes.Number,
			"protocol": tftypes.String, "command": tftypes.String, "internal": tftypes.Bool,
		}}},
	}
	for _, name := range []string{
		"shape", "workspace_id", "backend", "name", "kind", "handle_kind", "handle", "resource_kind", "session_id", "snapshot_id",
		"base_snapshot_id", "base_snapshot_version", "template_version", "runtime", "state", "status", "session_key",
		"owner", "host", "directory", "workspace", "user", "metadata", "created_at", "updated_at", "last_used_at", "last_seen_at", "expires_at",
	} {
		attributes[name] = tftypes.String
	}
	return tftypes.Object{AttributeTypes: attributes}
}()

func TestParseHandle(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		record string
		want   map[string]string
		others int // attributes that are not strings
	}{
		"persistent": {
			`{"kind":"vercel-persistent","workspaceId":"w","sandboxName":"n","currentSessionId":"sbx_1","currentSnapshotId":"snap_1","status":"stopped","persistent":true,
			"createdAt":"2026-04-30T01:00:00Z","lastUsedAt":"2026-04-30T02:00:00Z","lastSeenAt":"2026-04-30T03:00:00Z","baseSnapshotId":"snap_0","baseSnapshotVersion":"v1","runtime":"node24"}`,
			map[string]string{
				"shape": "vercel-persistent", "workspace_id": "w", "backend": "vercel", "name": "n", "kind": "persistent", "handle_kind": "persistent-name",
				"handle": "n", "resource_kind": "sandbox", "session_id": "sbx_1", "snapshot_id": "snap_1", "base_snapshot_id": "snap_0", "base_snapshot_version": "v1",
				"runtime": "node24", "state": "stopped", "status": "stopped",
				"created_at": "2026-04-30T01:00:00.000Z", "last_used_at": "2026-04-30T02:00:00.000Z", "last_seen_at": "2026-04-30T03:00:00.000Z",
			},
			0,
		},
		"without a kind": {
			`{"workspaceId":"w","sandboxId":"sbx_1","createdAt":"2026-04-30T01:00:00Z","lastUsedAt":"2026-04-30T02:00:00Z"}`,
			map[string]string{
				"shape": "vercel-session", "workspace_id": "w", "backend": "vercel", "kind": "session", "handle_kind": "session", "handle": "sbx_1",
				"resource_kind": "sandbox", "session_id": "sbx_1", "state": "ready",
				"created_at": "2026-04-30T01:00:00.000Z", "last_used_at": "2026-04-30T02:00:00.000Z",
			},
			0,
		},
		"resource": {
			`{"workspaceId":"w","provider":"docker","resourceKind":"sandbox","handleKind":"persistent-name","handle":"n","templateVersion":"3","state":"error","metadata":{"a":[1]},
			"expiresAt":"2026-05-30T01:00:00Z","createdAt":"2026-04-30T01:00:00Z","updatedAt":"2026-04-30T02:00:00Z"}`,
			map[string]string{
				"shape": "workspace-resource", "workspace_id": "w", "backend": "docker", "name": "n", "kind": "persistent", "handle_kind": "persistent-name",
				"handle": "n", "resource_kind": "sandbox", "template_version": "3", "state": "error", "metadata": `{"a":[1]}`,
				"expires_at": "2026-05-30T01:00:00.000Z", "created_at": "2026-04-30T01:00:00.000Z", "updated_at": "2026-04-30T02:00:00.000Z",
			},
			0,
		},
		"spawnbox": {
			`{"name":"n","driver":"apple","user":"agent","workspace":"/workspace","isolated":false}`,
			map[string]string{
				"shape": "spawnbox", "backend": "apple_container", "name": "n", "handle": "n", "resource_kind": "sandbox",
				"user": "agent", "workspace": "/workspace",
			},
			1,
		},
		"eve": {
			`{"backendName":"spawnbox","sessionKey":"k","metadata":{"machine":"n"}}`,
			map[string]string{"shape": "eve", "name": "n", "handle": "n", "resource_kind": "sandbox", "session_key": "k"},
			0,
		},
		"agent-env": {
			`{"spec":{"provider":"docker","owner":"o","name":"n","cwd":"/c","host":"h","services":{"web":{"image":"i","port":3000,"containerPort":80,"command":"c"}}},"services":{"web":{"port":3000,"protocol":"http"}}}`,
			map[string]string{
				"shape": "agent-env", "backend": "docker", "name": "n", "handle": "n", "resource_kind": "sandbox",
				"owner": "o", "host": "h", "directory": "/c",
			},
			1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, failure := parsed(t, c.record)
			if failure != nil {
				t.Fatal(failure.Text)
			}
			if len(got) != len(c.want)+c.others {
				t.Errorf("got %v", got)
			}
			for attribute, want := range c.want {
				if !got[attribute].Equal(tftypes.NewValue(tftypes.String, want)) {
					t.Errorf("%s: got %v, want %q", attribute, got[attribute], want)
				}
			}
		})
	}
}

func TestParseHandleRefuses(t *testing.T) {
	t.Parallel()
	for record, message := range map[string]string{
		"":                 "not valid JSON",
		"[]":               "not a JSON object",
		"{}":               "none of the keys",
		`{"sandboxId":7}`:  "`sandboxId` of the shape vercel-session is not a string",
		`{"kind":"other"}`: `known are "vercel-persistent" and "vercel-session"`,
		`{"kind":"vercel-persistent","workspaceId":"w","sandboxName":"sbx_1","createdAt":"2026-04-30T01:00:00Z","lastUsedAt":"2026-04-30T01:00:00Z"}`: "starts with sbx_",
		strings.Repeat(" ", 1<<20) + "{}": "1048578 bytes",
	} {
		_, failure := parsed(t, record)
		if failure == nil || failure.FunctionArgument == nil || *failure.FunctionArgument != 0 ||
			!strings.Contains(failure.Text, message) || !strings.HasSuffix(failure.Text, "Code: invalid_value") {
			t.Errorf("%.80s: got %+v", record, failure)
		}
	}
}

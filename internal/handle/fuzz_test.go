package handle_test

import (
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/handle"
)

// FuzzParse holds Parse to more than not panicking: whatever it accepts can be printed in the same
// shape, and reading that again changes nothing.
func FuzzParse(f *testing.F) {
	for _, g := range goldens {
		f.Add(g.record)
	}
	for _, record := range []string{
		`{"workspaceId":"w","sandboxId":"boring-6f8d","createdAt":"2026-04-30T01:00:00Z","lastUsedAt":"2026-04-30T01:00:00.5+02:00"}`,
		`{"handleKind":"volume","resourceKind":"x","provider":"local","handle":"/","workspaceId":"\ud800","state":"error","metadata":{"a":1e400},"createdAt":"1970-01-01T00:00:00Z","updatedAt":"9999-12-31T23:59:59Z"}`,
		`{"driver":"auto","name":"n"}`, `{"kind":null,"spec":null}`, `{"backendName":"spawnbox","metadata":[]}`, `[]`, `null`, ``,
	} {
		f.Add(record)
	}
	f.Fuzz(func(t *testing.T, text string) {
		object, shape, err := handle.Parse(text)
		if err != nil {
			return
		}
		first := mustPrint(t, shape, object)
		again, sameShape := mustParse(t, first)
		if second := mustPrint(t, sameShape, again); second != first || sameShape != shape {
			t.Errorf("%s became %s\n%s became %s", shape, sameShape, first, second)
		}
	})
}

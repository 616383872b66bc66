package file

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// The hashes are those of sha256sum.
const (
	hashOfABC    = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	hashOfBinary = "06eb7d6a69ee19e5fbdf749018d3d2abfa04bcbd1365db312eb86dc7169389b8" // 0x00 0xff
)

func TestParseMode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]fs.FileMode{"644": 0o644, "0644": 0o644, "0000": 0, "777": 0o777, "0600": 0o600} {
		if found, err := parseMode(text); err != nil || found != want {
			t.Errorf("parseMode(%q) = %o, %v, want %o", text, found, err, want)
		}
	}
	for _, text := range []string{"", "0", "64", "00644", "999", "4755", "1777", "0o644", "rw", "+644", "-644", "6_44", " 644", "rw-r--r--"} {
		if found, err := parseMode(text); err == nil {
			t.Errorf("parseMode(%q) = %o, want an error", text, found)
		}
	}
	if found := formatMode(0o40 | fs.ModeDir); found != "0040" {
		t.Errorf("formatMode gives %q", found)
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	if err := os.WriteFile(source, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(large, sandbox.MaxFileSize+1); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name string
		m    model
		hash string // "" means an error
	}{
		{"text", model{Content: types.StringValue("abc")}, hashOfABC},
		{"Base64", model{ContentBase64: types.StringValue("AP8=")}, hashOfBinary},
		{"source", model{Source: types.StringValue(source)}, hashOfABC},
		{"bad Base64", model{ContentBase64: types.StringValue("AP8")}, ""},
		{"missing source", model{Source: types.StringValue(source + "x")}, ""},
		{"directory", model{Source: types.StringValue(dir)}, ""},
		{"too large", model{Source: types.StringValue(large)}, ""},
		{"device", model{Source: types.StringValue("/dev/zero")}, ""},
		{"too large text", model{Content: types.StringValue(strings.Repeat("a", sandbox.MaxFileSize+1))}, ""},
		{"unknown", model{Content: types.StringUnknown()}, ""},
	} {
		content, err := test.m.wanted(t.Context())
		if (err == nil) != (test.hash != "") || err == nil && hashOf(content) != test.hash {
			t.Errorf("%s: %s, %v, want %q", test.name, hashOf(content), err, test.hash)
		}
	}
}

// TestPlanned checks that a source which changed after the plan is not written.
func TestPlanned(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name      string
		hash      types.String
		overwrite bool
		ok        bool
	}{
		{"as planned", types.StringValue(hashOfABC), true, true},
		{"unknown at plan", types.StringUnknown(), true, true},
		{"changed since", types.StringValue(hashOfBinary), true, false},
		{"a seed", types.StringValue(hashOfBinary), false, true},
	} {
		m := model{Content: types.StringValue("abc"), SHA256: test.hash, Overwrite: types.BoolValue(test.overwrite)}
		if _, err := m.planned(t.Context()); (err == nil) != test.ok {
			t.Errorf("%s: %v, want ok %v", test.name, err, test.ok)
		}
	}
}

func TestObserve(t *testing.T) {
	t.Parallel()
	state := func(alter func(*model)) model {
		m := model{
			Content: types.StringValue("old"), Mode: types.StringValue("644"), Overwrite: types.BoolValue(true),
			SHA256: types.StringValue("old"), Size: types.Int64Value(3),
		}
		alter(&m)
		return m
	}
	found := sandbox.FileState{SHA256: hashOfABC, Size: 3, Mode: 0o644}
	for _, test := range []struct {
		name    string
		m       model
		found   sandbox.FileState
		content []byte
		check   func(model) bool
	}{
		{"changed text", state(func(*model) {}), found, []byte("abc"), func(m model) bool {
			return m.Content.ValueString() == "abc" && m.SHA256.ValueString() == hashOfABC && m.Mode.ValueString() == "644"
		}},
		{"changed mode", state(func(*model) {}), sandbox.FileState{SHA256: "old", Mode: 0o600}, nil, func(m model) bool {
			return m.Content.ValueString() == "old" && m.Mode.ValueString() == "0600"
		}},
		{"no longer text", state(func(*model) {}), found, []byte{0xff}, func(m model) bool {
			return m.Content.ValueString() == "old" && m.SHA256.ValueString() == hashOfABC
		}},
		{"too large to read back", state(func(*model) {}), found, nil, func(m model) bool { return m.Content.ValueString() == "old" }},
		{"Base64", state(func(m *model) { m.Content, m.ContentBase64 = types.StringNull(), types.StringValue("") }), found, []byte{0, 0xff}, func(m model) bool {
			return m.ContentBase64.ValueString() == "AP8=" && m.Content.IsNull()
		}},
		{"Base64 too large to read back", state(func(m *model) { m.Content, m.ContentBase64 = types.StringNull(), types.StringValue("AAAA") }), found, nil, func(m model) bool {
			return m.ContentBase64.ValueString() == "AAAA" && m.SHA256.ValueString() == hashOfABC
		}},
		{"source", state(func(m *model) { m.Content, m.Source = types.StringNull(), types.StringValue("/x") }), found, []byte("abc"), func(m model) bool {
			return m.Content.IsNull() && m.Source.ValueString() == "/x" && m.SHA256.ValueString() == hashOfABC
		}},
		{"a seed that was edited", state(func(m *model) { m.Overwrite = types.BoolValue(false) }), found, []byte("abc"), func(m model) bool {
			return m.Content.ValueString() == "old" && m.SHA256.ValueString() == hashOfABC
		}},
	} {
		if test.m.observe(test.found, test.content); !test.check(test.m) {
			t.Errorf("%s: became %+v", test.name, test.m)
		}
	}
}

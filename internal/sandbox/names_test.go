package sandbox

import (
	"strings"
	"testing"
)

func TestCheckName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		ok   bool
	}{
		{"a", true},
		{"0", true},
		{"a-b", true},
		{"a--b", true},
		{"9lives", true},
		{strings.Repeat("a", 63), true},
		{"", false},
		{strings.Repeat("a", 64), false},
		{"-a", false},
		{"a-", false},
		{"-", false},
		{"A", false},
		{"aB", false},
		{"a_b", false},
		{"a.b", false},
		{"a b", false},
		{"a/b", false},
		{"..", false},
		{"../a", false},
		{"a\n", false},
		{"a\x00", false},
		{"é", false},
		{"а", false}, // Cyrillic
	} {
		if err := CheckName(test.name); (err == nil) != test.ok {
			t.Errorf("CheckName(%q) = %v, want ok %v", test.name, err, test.ok)
		}
	}
}

// The hashes are the first 12 digits that sha256sum prints for the trimmed id.
func TestWorkspaceHash(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ id, want string }{
		{"w1", "60c5590f72ee"},
		{" w1", "60c5590f72ee"},
		{"w1 ", "60c5590f72ee"},
		{"\t\nw1\r\n", "60c5590f72ee"},
		{"workspace-1", "484d4f88b59b"},
		{"a", "ca978112ca1b"},
		{"ünïcode", "b8be8967e4de"},
		{"order 66", "7860496e8189"},
		{"a b", "c8687a08aa5d"},
		{"a\nb", "7e18f737311b"},
		{strings.Repeat("x", 1024), "49abd65bbf7f"},
	} {
		if found := WorkspaceHash(test.id); found != test.want {
			t.Errorf("WorkspaceHash(%q) = %s, want %s", test.id, found, test.want)
		}
	}
}

func TestDeriveName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		prefix, namespace, id string
		generation            int64
		want                  string // "" means an error
	}{
		{"sandlot", "dev", "w1", 1, "sandlot-dev-ws-60c5590f72ee"},
		{"sandlot", "dev", " w1 ", 1, "sandlot-dev-ws-60c5590f72ee"},
		{"sandlot", "dev", "w1", 0, "sandlot-dev-ws-60c5590f72ee"},
		{"sandlot", "dev", "w1", 2, "sandlot-dev-ws-60c5590f72ee-g2"},
		{"sandlot", "prod", "w1", 999999, "sandlot-prod-ws-60c5590f72ee-g999999"},
		{"p", "n", "ünïcode", 1, "p-n-ws-b8be8967e4de"},
		// 45 + len("-n-ws-60c5590f72ee") is 63: the longest.
		{strings.Repeat("p", 45), "n", "w1", 1, strings.Repeat("p", 45) + "-n-ws-60c5590f72ee"},
		{strings.Repeat("p", 46), "n", "w1", 1, ""},
		{strings.Repeat("p", 45), "n", "w1", 2, ""},
		{"sandlot", "dev", "", 1, ""},
		{"sandlot", "dev", " \t\n", 1, ""},
		{"Sandlot", "dev", "w1", 1, ""},
		{"sandlot", "a/b", "w1", 1, ""},
		{"", "dev", "w1", 1, ""},
	} {
		found, err := DeriveName(test.prefix, test.namespace, test.id, test.generation)
		if (err == nil) != (test.want != "") || found != test.want {
			t.Errorf("DeriveName(%q, %q, %q, %d) = %q, %v, want %q", test.prefix, test.namespace, test.id, test.generation, found, err, test.want)
		}
		if err == nil && CheckName(found) != nil {
			t.Errorf("DeriveName made %q, which is no name", found)
		}
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ id, backend, name string }{
		{"local/a", "local", "a"},
		{"docker/a-1", "docker", "a-1"},
		{"other/a", "other", "a"}, // an open set: whoever needs a closed one asks for the backend
		{"", "", ""},
		{"a", "", ""},
		{"/a", "", ""},
		{"local/", "", ""},
		{"local/a/b", "", ""},
		{"local/..", "", ""},
		{"local/A", "", ""},
		{"local/a:b", "", ""},
	} {
		backend, name, err := ParseID(test.id)
		if (err == nil) != (test.name != "") || backend != test.backend || name != test.name {
			t.Errorf("ParseID(%q) = %q, %q, %v, want %q, %q", test.id, backend, name, err, test.backend, test.name)
		}
		if err == nil && ID(backend, name) != test.id {
			t.Errorf("ID(%q, %q) is not %q", backend, name, test.id)
		}
	}
}

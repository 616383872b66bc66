package basesnapshot

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

func TestLooksSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"TOKEN": true, "NPM_TOKEN": true, "npm_token": true, "Api_Keys": true, "AWS_SECRET_ACCESS": true, "DB_PASSWORD": true,
		"CREDENTIALS": true, "GOOGLE_CREDENTIAL": true, "KEY": true, "SECRETS_DIR": true,
		"MONKEY": false, "KEYBOARD": false, "TOKENIZER": false, "PATH": false, "LANG": false, "HTTPS_PROXY": false, "APIKEYFILE": false, "": false,
	} {
		if got := LooksSecret(name); got != want {
			t.Errorf("LooksSecret(%q) is %v", name, got)
		}
	}
}

func TestCheckEnvironmentNames(t *testing.T) {
	err := CheckEnvironmentNames([]string{"LANG", "NPM_TOKEN", "PUBLIC_KEY", "DB_PASSWORD"}, []string{"PUBLIC_KEY"})
	if !errors.Is(err, CodeSecretName) {
		t.Fatalf("got %v", err)
	}
	for name, named := range map[string]bool{"NPM_TOKEN": true, "DB_PASSWORD": true, "PUBLIC_KEY": false, "LANG": false} {
		if strings.Contains(err.Error(), name) != named {
			t.Errorf("the error names %s: %v, want %v", name, !named, named)
		}
	}
	request := Request{Lane: shop, Manifest: plain(), Environment: Environment{Values: map[string]string{"NPM_TOKEN": "the-value"}, Allowlist: []string{"MY_SECRET"}}}
	err = request.Check()
	if !errors.Is(err, CodeSecretName) || strings.Contains(err.Error(), "the-value") || !strings.Contains(err.Error(), "MY_SECRET") {
		t.Errorf("got %v", err)
	}
	request.Environment.AllowNames = []string{"NPM_TOKEN", "MY_SECRET"}
	if err := request.Check(); err != nil {
		t.Errorf("with the names allowed: %v", err)
	}
}

func TestManifestCheck(t *testing.T) {
	for field, change := range map[string]func(*Manifest){
		"manifest.schema_version":        func(m *Manifest) { m.SchemaVersion = 2 },
		"manifest.name":                  func(m *Manifest) { m.Name = "Web App" },
		"manifest.runtime":               func(m *Manifest) { m.Runtime = "node 24" },
		"manifest.system_packages[1]":    func(m *Manifest) { m.SystemPackages = []string{"git", "--force"} },
		"manifest.system_packages[0]":    func(m *Manifest) { m.SystemPackages = []string{"git-"} },
		"manifest.package_managers.npm":  func(m *Manifest) { m.PackageManagers = map[string]string{"npm": " "} },
		"manifest.package_managers./npm": func(m *Manifest) { m.PackageManagers = map[string]string{"/npm": "1"} },
		"manifest.commands[0]":           func(m *Manifest) { m.Commands = [][]string{{}} },
		"manifest.commands[1]":           func(m *Manifest) { m.Commands = [][]string{{"a"}, {"b", "\x00"}} },
		"manifest.template_version":      func(m *Manifest) { m.TemplateVersion = "1\n2" },
		"manifest.marker_path":           func(m *Manifest) { m.MarkerPath = "relative" },
	} {
		t.Run(field, func(t *testing.T) {
			manifest := plain()
			change(&manifest)
			var wrong *FieldError
			if err := manifest.Check(); !errors.As(err, &wrong) || wrong.Field != field {
				t.Errorf("got %v", err)
			}
		})
	}
	good := plain()
	good.SystemPackages = []string{"g++", "libstdc++6:amd64", "curl=7.88.1-10+deb12u5", "git>=2.39", " python3.13 ", "0ad"}
	good.MarkerPath = "/opt/marker.json"
	if err := good.Check(); err != nil {
		t.Errorf("a good one: %v", err)
	}
	request := Request{Lane: Lane{App: "a", Template: "t", Runtime: "node24"}, Manifest: good}
	var wrong *FieldError
	if err := request.Check(); !errors.As(err, &wrong) || wrong.Field != "manifest.runtime" {
		t.Errorf("another runtime than the lane's: %v", err)
	}
}

func TestPackageNames(t *testing.T) {
	for _, name := range []string{"", " ", "-y", "--root=/", "a b", "a;b", "$(id)", "./evil.deb", "/evil.deb", "https://x/evil.rpm", "pkg/unstable", "git-", "é"} {
		if CheckPackage(name) == nil {
			t.Errorf("%q is accepted", name)
		}
	}
}

func TestGaps(t *testing.T) {
	attributes := func(request Request, table backends.Capabilities) []string {
		var all []string
		for _, gap := range request.Gaps(table) {
			all = append(all, gap.Attribute)
		}
		return all
	}
	request := Request{Lane: shop, Manifest: plain()}
	host := backends.Capabilities{Snapshot: true, SnapshotSource: true, HostSource: true, NetworkModes: []string{"deny-all"}}
	if got := attributes(request, host); got != nil {
		t.Errorf("gaps where there are none: %q", got)
	}
	request.Manifest.SystemPackages, request.Manifest.Runtime = []string{"git"}, "node24"
	request.Manifest.Source.Image = "debian"
	request.Network.Mode = "host"
	want := []string{"manifest.runtime", "manifest.system_packages", "manifest.source.image", "network.mode"}
	if got := attributes(request, host); !slices.Equal(got, want) {
		t.Errorf("gaps %q, want %q", got, want)
	}
	if got := attributes(Request{Manifest: plain()}, backends.Capabilities{HostSource: true}); !slices.Equal(got, []string{"backend"}) {
		t.Errorf("without snapshots: %q", got)
	}
}

func TestLanes(t *testing.T) {
	for id, want := range map[string]Lane{
		"docker/shop/web":        {App: "shop", Template: "web"},
		"local/a/b/python3.13":   {App: "a", Template: "b", Runtime: "python3.13"},
		"docker/shop/web/node24": {App: "shop", Template: "web", Runtime: "node24"},
	} {
		backend, lane, err := ParseID(id)
		if err != nil || lane != want || ID(backend, lane) != id || laneOf(recordPrefix+lane.String()) != want {
			t.Errorf("%s: %q, %+v, %v", id, backend, lane, err)
		}
	}
	for _, id := range []string{"", "docker", "docker/shop", "docker/shop/", "/shop/web", "docker/Shop/web", "docker/shop/web/", "docker/shop/web/x/y", "docker/shop/web/X", "docker//web"} {
		if _, lane, err := ParseID(id); err == nil {
			t.Errorf("%q is accepted as %+v", id, lane)
		}
	}
}

func TestLabel(t *testing.T) {
	at := time.Date(2026, 4, 30, 23, 30, 0, 0, time.FixedZone("west", -3600))
	hash := "a1b2c3d4" + strings.Repeat("0", 56)
	if got := Label(Manifest{Name: "web"}, hash, at); got != "web-2026-05-01-a1b2c3d4" {
		t.Errorf("got %q", got)
	}
	if got := Label(Manifest{Name: "web", Runtime: "node24"}, hash, at); got != "web-node24-2026-05-01-a1b2c3d4" {
		t.Errorf("got %q", got)
	}
}

func TestContainsVersion(t *testing.T) {
	for _, c := range []struct {
		output, version string
		want            bool
	}{
		{"10.9.2\n", "10.9.2", true},
		{"v24.1.0\n", "24.1.0", true},
		{"git version 2.39.5", "2.39.5", true},
		{"pip 23.0.1 from /usr/lib (python 3.11)", "3.11", true},
		{"the version is 1.2.", "1.2", true},
		{"ripgrep 14.1.0 (rev 1)\n-SIMD", "14.1.0", true},
		{"10.9.2", "10.9", false},
		{"110.9", "10.9", false},
		{"1.10.9", "10.9", false},
		{"10.9-rc1", "10.9", false},
		{"10x9", "10.9", false},
		{"", "1", false},
	} {
		if got := containsVersion([]byte(c.output), []byte(c.version)); got != c.want {
			t.Errorf("%q in %q: %v, want %v", c.version, c.output, got, c.want)
		}
	}
}

func TestWithoutValues(t *testing.T) {
	environment := map[string]string{"PROXY": "http://proxy.internal"}
	step := &StepError{
		Step: "command 1", Command: []string{"curl", "-x", "http://proxy.internal"}, ExitCode: 7, Output: "via http://proxy.internal",
		Err: &backends.Error{Kind: backends.TimedOut, Backend: "local", Operation: "run", Detail: "http://proxy.internal"},
	}
	err := withoutValues(step, environment)
	if strings.Contains(err.Error(), "proxy.internal") || !strings.Contains(err.Error(), "(PROXY redacted)") || backends.KindOf(err) != backends.TimedOut {
		t.Errorf("got %v", err)
	}
	refusal := &sandbox.Refusal{Code: CodeBakeFailed, Err: err}
	if !errors.As(refusal, &step) || step.ExitCode != 7 {
		t.Errorf("the step is lost: %v", refusal)
	}
}

package acceptance_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// badRow is one configuration with one fault.
type badRow struct {
	name string
	// provider is added to the provider block; data_dir and owner are there unless it sets them.
	provider string
	hcl      string
	// at is the attribute that every error is on, and code the code that it carries.
	at, code string
	// plan marks what `validate` cannot know.
	plan bool
}

// world is what a run of the provider could touch, with everything in it watched.
type world struct {
	socket string
	// platform is the address in place of a platform's.
	platform string
	// connections counts those to the engine's socket and to the platform.
	connections atomic.Int64
	// programs holds recorders in place of what the provider could start.
	programs, started string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := os.MkdirTemp("", "badinput")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	w := &world{socket: filepath.Join(dir, "engine.sock"), programs: filepath.Join(dir, "bin"), started: filepath.Join(dir, "started")}
	w.listen(t, "unix", w.socket)
	w.platform = w.listen(t, "tcp", "127.0.0.1:0").String()
	if err := os.Mkdir(w.programs, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, program := range []string{"bwrap", "prlimit", "setpriv", "slirp4netns", "pasta", "docker", "ssh", "sh", "getent"} {
		script := fmt.Sprintf("#!/bin/sh\necho %s >> %s\nexit 1\n", program, w.started)
		if err := os.WriteFile(filepath.Join(w.programs, program), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// listen counts connections to an address, and closes each.
func (w *world) listen(t *testing.T, network, address string) net.Addr {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			w.connections.Add(1)
			_ = connection.Close()
		}
	}()
	return listener.Addr()
}

// workspace returns a workspace in which the provider finds nothing but the recorders.
func (w *world) workspace(t *testing.T, cli acctest.CLI, row badRow) *acctest.Workspace {
	t.Helper()
	made := acctest.NewWorkspace(t, cli, "")
	made.Setenv("PATH", w.programs)
	made.Setenv("DOCKER_HOST", "unix://"+w.socket)
	for _, variable := range []string{"VERCEL_TOKEN", "VERCEL_TEAM_ID", "VERCEL_PROJECT_ID"} {
		made.Setenv(variable, "recorded")
	}
	filled := strings.NewReplacer("{DATA}", made.DataDir, "{SOCKET}", w.socket, "{SOCKET_DIR}", filepath.Dir(w.socket), "{DIR}", made.Dir, "{BASE}", filepath.Dir(made.DataDir))
	body := filled.Replace(row.provider)
	for _, given := range []struct{ name, value string }{
		{"data_dir", strconv.Quote(made.DataDir)}, {"owner", strconv.Quote(made.Owner)}, {"vercel", fmt.Sprintf("{ base_url = %q }", "http://"+w.platform+"/api")},
	} {
		if !regexp.MustCompile(`(?m)^\s*` + given.name + `\s*=`).MatchString(body) {
			body += fmt.Sprintf("\n  %s = %s", given.name, given.value)
		}
	}
	made.ProviderBlock(body)
	made.Config(filled.Replace(row.hcl))
	return made
}

// untouched checks that nothing was called or started.
func (w *world) untouched(t *testing.T) {
	t.Helper()
	if count := w.connections.Load(); count > 0 {
		t.Errorf("the engine or the platform was connected to %d times", count)
	}
	if started, err := os.ReadFile(w.started); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("these programs were started: %s (%v)", started, err)
	}
}

// TestBadInput runs every bad configuration under both CLIs. Each is an error on its attribute, and
// no file, call or process is made.
func TestBadInput(t *testing.T) {
	t.Parallel()
	rows := badRows()
	if len(rows) < 80 {
		t.Fatalf("there are only %d rows", len(rows))
	}
	seen := map[string]bool{}
	for _, row := range rows {
		if seen[row.name] {
			t.Fatalf("two rows are called %q", row.name)
		}
		seen[row.name] = true
	}
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := newWorld(t)
		t.Run("rows", func(t *testing.T) {
			for _, row := range rows {
				t.Run(row.name, func(t *testing.T) {
					t.Parallel()
					w.refuses(t, cli, row)
				})
			}
		})
		w.untouched(t)
	})
}

func (w *world) refuses(t *testing.T, cli acctest.CLI, row badRow) {
	t.Helper()
	made := w.workspace(t, cli, row)
	logFile := filepath.Join(t.TempDir(), "log")
	logged := []acctest.Option{acctest.Env("TF_LOG_PROVIDER", "ERROR"), acctest.Env("TF_LOG_PATH", logFile)}
	before := filesBelow(t, filepath.Dir(made.Dir))
	var result *acctest.Result
	if row.plan {
		made.Validate().Succeed()
		result = made.Plan(logged...).Result
	} else {
		result = made.Validate(logged...)
	}
	if after := filesBelow(t, filepath.Dir(made.Dir)); !slices.Equal(before, after) {
		t.Errorf("there are the files %q, and before there were %q", after, before)
	}
	result.FailWith(row.code)
	log, err := os.ReadFile(logFile)
	if err != nil {
		t.Fatal(err)
	}
	found := attributePaths(string(log))
	if len(found) == 0 {
		t.Errorf("the provider reported no error:\n%s", result)
	}
	for _, at := range found {
		if at != row.at {
			t.Errorf("an error is on %q, want %q:\n%s", at, row.at, result)
		}
	}
}

// filesBelow lists all files of a tree but OpenTofu's own directory.
func filesBelow(t *testing.T, dir string) []string {
	t.Helper()
	var files []string
	for name := range acctest.ReadTree(t, dir) {
		if !strings.Contains(name, ".terraform.d") {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return files
}

var (
	reported = regexp.MustCompile(`Response contains error diagnostic`)
	logPath  = regexp.MustCompile(`diagnostic_attribute="((?:[^"\\]|\\.)*)"`)
	logStep  = regexp.MustCompile(`AttributeName\("([^"]*)"\)|ElementKeyString\("([^"]*)"\)|ElementKeyInt\((\d+)\)|ElementKeyValue\(`)
)

// attributePaths takes the paths of all errors out of a log of the provider, which has them in full
// where the CLI only shows lines. An error without a path is "".
func attributePaths(log string) []string {
	var paths []string
	for _, record := range reported.Split(log, -1)[1:] {
		path := ""
		if found := logPath.FindStringSubmatch(record); found != nil {
			for _, step := range logStep.FindAllStringSubmatch(strings.ReplaceAll(found[1], `\"`, `"`), -1) {
				switch {
				case step[1] != "":
					path += "." + step[1]
				case step[3] != "":
					path += "[" + step[3] + "]"
				case strings.HasPrefix(step[0], "ElementKeyValue"):
					path += "[*]"
				default:
					path += fmt.Sprintf("[%q]", step[2])
				}
			}
		}
		paths = append(paths, strings.TrimPrefix(path, "."))
	}
	return paths
}

// TestBadInputRecorders shows that what TestBadInput watches would be seen.
func TestBadInputRecorders(t *testing.T) {
	t.Parallel()
	acctest.EachCLI(t, func(t *testing.T, cli acctest.CLI) {
		w := newWorld(t)
		local := w.workspace(t, cli, badRow{hcl: badSession("local", "")})
		result := local.Apply()
		if result.ExitCode == 0 {
			t.Errorf("an apply without bubblewrap succeeded:\n%s", result)
		}
		if started, err := os.ReadFile(w.started); err != nil || len(started) == 0 {
			t.Errorf("no start of a program was seen: %q, %v\n%s", started, err, result)
		}
		docker := w.workspace(t, cli, badRow{hcl: badSession("docker", `source = { image = "debian" }`)})
		if result := docker.Apply(); result.ExitCode == 0 {
			t.Errorf("an apply without an engine succeeded:\n%s", result)
		}
		toEngine := w.connections.Load()
		if toEngine == 0 {
			t.Error("a call of the engine was not seen")
		}
		vercel := w.workspace(t, cli, badRow{hcl: badSession("vercel", "")})
		if result := vercel.Apply(); result.ExitCode == 0 {
			t.Errorf("an apply without a platform succeeded:\n%s", result)
		}
		if w.connections.Load() == toEngine {
			t.Error("a call of the platform was not seen")
		}
	})
}

//go:build linux

package conformance_test

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/conformance"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/docker"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/local"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// subject is a backend that mutants are made of.
type subject struct {
	harness conformance.Harness
	make    func(conformance.T) whole
}

func localSubject(t *testing.T) subject {
	t.Helper()
	testkit.Bubblewrap(t)
	return subject{
		harness: conformance.Harness{Name: "local", Lacks: func(_ conformance.T, capability string) string {
			if capability == "network_allow_all" || capability == "source_rootfs" {
				return "it depends on the machine"
			}
			return ""
		}},
		make: func(t conformance.T) whole {
			return local.New(local.Config{DataDir: filepath.Join(t.TempDir(), "data")})
		},
	}
}

func dockerSubject(t *testing.T) subject {
	t.Helper()
	if testing.Short() {
		t.Skip("containers take their time")
	}
	return subject{
		harness: conformance.Harness{Name: "docker", Source: backends.Source{Image: testkit.DockerImage(t)}},
		make:    func(conformance.T) whole { return docker.New(docker.Config{}) },
	}
}

// wantCaught runs the suite, or some of its checks, on a mutant and wants it to fail.
func (s subject) wantCaught(t *testing.T, mutate func(whole) backends.Backend, checks ...string) {
	t.Helper()
	v := s.judge(t, mutate, checks)
	if v.failure == "" {
		t.Errorf("the suite does not notice; it ran %q and skipped %q", v.ran, v.skipped)
		return
	}
	first, _, _ := strings.Cut(v.failure, "\n")
	t.Log(first)
}

func (s subject) judge(t *testing.T, mutate func(whole) backends.Backend, checks []string) *verdict {
	t.Helper()
	var mu sync.Mutex
	var made []backends.Marks
	harness := s.harness
	harness.New = func(t conformance.T) backends.Backend {
		real := s.make(t)
		t.Cleanup(func() { sweep(t, real, made) })
		return mutate(tracked{whole: real, mu: &mu, marks: &made})
	}
	return judge(t, harness, checks)
}

// sweep removes with the real backend what a mutant left.
func sweep(t conformance.T, real whole, made []backends.Marks) {
	ctx := context.WithoutCancel(t.Context())
	for _, marks := range made {
		err := real.Delete(ctx, marks, backends.DeleteOptions{Volumes: true, Snapshots: true})
		if err != nil && !errors.Is(err, backends.NotOurs) {
			t.Errorf("sweep %s: %v", marks.Name, err)
		}
	}
	if closer, ok := real.(interface{ Close() error }); ok {
		if err := closer.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func untouched(backend whole) backends.Backend { return backend }

// methods are all methods of the interfaces that a backend implements.
func methods() []string {
	var names []string
	for _, contract := range []reflect.Type{reflect.TypeFor[backends.Backend](), reflect.TypeFor[backends.Snapshotter]()} {
		for i := range contract.NumMethod() {
			names = append(names, contract.Method(i).Name)
		}
	}
	return names
}

// TestIdleHasEveryMethod: a method that idle lacks would be called on the absent backend below it.
func TestIdleHasEveryMethod(t *testing.T) {
	for _, name := range methods() {
		t.Run(name, func(t *testing.T) {
			method := reflect.ValueOf(idle{method: name}).MethodByName(name)
			arguments := make([]reflect.Value, method.Type().NumIn())
			for i := range arguments {
				arguments[i] = reflect.Zero(method.Type().In(i))
			}
			for _, result := range method.Call(arguments) {
				if !result.IsZero() {
					t.Errorf("the no-op returns %v", result)
				}
			}
		})
	}
}

// TestSoundBackendPasses shows that failures below come from the mutations.
func TestSoundBackendPasses(t *testing.T) {
	t.Parallel()
	v := localSubject(t).judge(t, untouched, nil)
	if v.failure != "" {
		t.Error(v.failure)
	}
	for _, name := range backends.CapabilityNames() {
		if !slices.Contains(v.ran, "capability "+name) {
			t.Errorf("the suite has no check of the capability %s: %q", name, v.ran)
		}
	}
}

// TestIdleMethodIsCaught replaces each method by a no-op.
func TestIdleMethodIsCaught(t *testing.T) {
	t.Parallel()
	s := localSubject(t)
	for _, name := range methods() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var checks []string
			if strings.Contains(name, "Snapshot") {
				checks = []string{"capability snapshot"} // to get there sooner
			}
			s.wantCaught(t, func(backend whole) backends.Backend { return idle{backend, name} }, checks...)
		})
	}
}

// TestFalseTableIsCaught turns each row of the capability table around.
func TestFalseTableIsCaught(t *testing.T) {
	t.Parallel()
	t.Run("local", func(t *testing.T) { falseTables(t, localSubject(t), nil) })
	t.Run("docker", func(t *testing.T) { falseTables(t, dockerSubject(t), dockerOnly()) })
}

// dockerOnly are the members of a table and of a specification that local has no use for.
func dockerOnly() []string {
	return []string{
		"ImageSource", "Ports", "PublicPorts", "Volumes", "CPUs", "Memory", "MemoryMiB", "User", "SystemPackages", "MainProcess", "Command",
		"Timeout", "AbsolutePaths", "DockerOptions", "Docker",
	}
}

// vercelOnly are the members of a specification that neither of them has a use for.
func vercelOnly() []string { return []string{"Vercel", "Retention"} }

// falseTables turns the members named by only around, nil for all.
func falseTables(t *testing.T, s subject, only []string) {
	table := local.New(local.Config{}).Capabilities()
	if s.harness.Name == "docker" {
		table = docker.New(docker.Config{}).Capabilities()
	}
	tables := map[string]backends.Capabilities{}
	fields := reflect.TypeFor[backends.Capabilities]()
	for i := range fields.NumField() {
		changed := table
		switch field := reflect.ValueOf(&changed).Elem().Field(i); field.Kind() {
		case reflect.Bool:
			field.SetBool(!field.Bool())
		case reflect.String:
			field.SetString("")
		case reflect.Slice, reflect.Struct:
			continue // the network modes, below; and defaults, which these two have none of
		default:
			t.Fatalf("the test cannot change %s", fields.Field(i).Name)
		}
		tables[fields.Field(i).Name] = changed
	}
	for _, mode := range []string{backends.NetworkDenyAll, backends.NetworkAllowAll, backends.NetworkHost, backends.NetworkRestricted} {
		changed := table
		changed.NetworkModes = slices.DeleteFunc(slices.Clone(table.NetworkModes), func(m string) bool { return m == mode })
		if len(changed.NetworkModes) == len(table.NetworkModes) {
			changed.NetworkModes = append(changed.NetworkModes, mode)
		}
		tables[mode] = changed
	}
	for name, changed := range tables {
		if only != nil && !slices.Contains(only, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := s
			s.harness.Lacks = nil // being refused needs nothing of the machine
			s.wantCaught(t, func(backend whole) backends.Backend { return boastful{backend, changed} }, changedRows(table, changed)...)
		})
	}
}

// changedRows are the checks of the rows in which two tables differ.
func changedRows(a, b backends.Capabilities) []string {
	checks := []string{"table"}
	noticed := map[string]string{
		"StopEmptiesSession": "stop of a session", "StopEndsSession": "stop of a session", "SnapshotEndsSession": "capability snapshot", "EnvironmentUnreadable": "environment",
		"SourceUnreadable": "capability source_rootfs", "ChangesAtStart": "reconfigure", "FilesNeedCompute": "files of a stopped sandbox",
		"TextOutput": "exec results", "AssignedSnapshotIDs": "capability snapshot", "UnmarkedSnapshots": "capability snapshot",
		"CloneNeedsStop": "capability clone",
	}
	for member, check := range noticed {
		if reflect.ValueOf(a).FieldByName(member).Bool() != reflect.ValueOf(b).FieldByName(member).Bool() {
			checks = append(checks, check)
		}
	}
	before, after := a.Map(), b.Map()
	for _, name := range backends.CapabilityNames() {
		if before[name] != after[name] {
			checks = append(checks, "capability "+name)
		}
	}
	return checks
}

// listeners are the checks that notice when a member of the specification is dropped.
func listeners() map[string][]string {
	return map[string][]string{
		"Source":           {"create", "capability source_rootfs", "capability clone", "capability source_snapshot"},
		"CPUs":             {"capability cpus"},
		"MemoryMiB":        {"capability memory"},
		"Environment":      {"environment"},
		"Secrets":          {"secrets"},
		"SecretNames":      {"secrets"},
		"WorkingDirectory": {"capability working_directory"},
		"User":             {"capability user"},
		"Command":          {"capability command"},
		"Ports":            {"capability ports"},
		"Mounts":           {"capability mounts"},
		"Volumes":          {"capability volumes"},
		"Network":          {"capability network_deny_all", "capability network_host"},
		"Timeout":          {"capability timeout"},
		"Labels":           {"labels"},
		"Docker":           {"capability docker_options"},
		"Vercel":           {"capability vercel_options"},
		"Retention":        {"capability native_retention"},
	}
}

// TestDroppedOptionIsCaught drops each member of the specification: in Create or in Reconfigure
// only, and in both while telling what was asked for.
func TestDroppedOptionIsCaught(t *testing.T) {
	t.Parallel()
	t.Run("local", func(t *testing.T) {
		droppedOptions(t, localSubject(t), func(member string) bool {
			return !slices.Contains(dockerOnly(), member) && !slices.Contains(vercelOnly(), member)
		})
	})
	t.Run("docker", func(t *testing.T) {
		droppedOptions(t, dockerSubject(t), func(member string) bool { return slices.Contains(dockerOnly(), member) })
	})
}

func droppedOptions(t *testing.T, s subject, chosen func(member string) bool) {
	members := reflect.TypeFor[backends.Spec]()
	for i := range members.NumField() {
		member := members.Field(i).Name
		if member == "EnvironmentKept" {
			continue // nobody asks for it: it only spares a platform a request, as its own tests hold
		}
		checks, known := listeners()[member]
		if !known {
			t.Errorf("no check is known to notice that %s is dropped", member)
		}
		if !chosen(member) {
			continue
		}
		drop := func(name string, create, reconfigure, echo bool) {
			t.Run(member+" "+name, func(t *testing.T) {
				t.Parallel()
				s.wantCaught(t, func(backend whole) backends.Backend {
					return newDeaf(backend, member, create, reconfigure, echo)
				}, checks...)
			})
		}
		if member != "SecretNames" { // beside the secrets themselves, the names say nothing new
			drop("in Create", true, false, false)
		}
		if member != "Source" { // it is used at creation only
			drop("in Reconfigure", false, true, false)
		}
		if member != "Labels" && member != "SecretNames" { // these have no effect inside
			drop("and told", true, true, true)
		}
	}
}

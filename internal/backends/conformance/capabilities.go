package conformance

import (
	"errors"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// ability is one row of the capability table in the words of the suite.
type ability struct {
	// exercise uses the capability for real.
	exercise func(T, *env)
	// ask makes a specification that needs the capability; nil when no option does.
	ask func(*backends.Spec)
	// attribute is what the refusal has to name.
	attribute string
	// creation is true for options that matter at creation only, so that Reconfigure ignores them.
	creation bool
	// refuse checks the refusal of what is not an option.
	refuse func(T, *env)
}

func abilities() map[string]ability {
	mode := func(mode string, exercise func(T, *env)) ability {
		return ability{exercise: exercise, attribute: "network.mode", ask: func(s *backends.Spec) { s.Network.Mode = mode }}
	}
	source := func(attribute string, source backends.Source, exercise func(T, *env)) ability {
		return ability{exercise: exercise, attribute: attribute, creation: true, ask: func(s *backends.Spec) { s.Source = source }}
	}
	return map[string]ability{
		"source_host":        {exercise: exerciseHostSource, refuse: refuseNoSource},
		"source_default":     {exercise: exerciseDefaultSource, refuse: refuseNoSource},
		"source_runtime":     source("source.runtime", backends.Source{Runtime: "node24"}, exerciseRuntimeSource),
		"source_git":         source("source.git", backends.Source{GitURL: "https://example.invalid/x.git"}, exerciseGitSource),
		"source_tarball":     source("source.tarball_url", backends.Source{TarballURL: "https://example.invalid/x.tar.gz"}, exerciseTarballSource),
		"source_image":       source("source.image", backends.Source{Image: "example.invalid/image:1"}, exerciseImageSource),
		"source_rootfs":      source("source.rootfs", backends.Source{Rootfs: "/nonexistent/rootfs"}, exerciseRootfsSource),
		"source_snapshot":    source("source.snapshot_id", backends.Source{SnapshotID: "no-such-snapshot"}, exerciseSnapshotSource),
		"clone":              source("source.clone_of", backends.Source{CloneOf: "no-such-sandbox"}, exerciseClone),
		"persistent":         {exercise: checkStopStart, refuse: refusePersistent},
		"snapshot":           {exercise: exerciseSnapshot, refuse: refuseSnapshot},
		"network_deny_all":   mode(backends.NetworkDenyAll, exerciseDenyAll),
		"network_allow_all":  mode(backends.NetworkAllowAll, exerciseAllowAll),
		"network_host":       mode(backends.NetworkHost, exerciseHostNetwork),
		"network_restricted": mode(backends.NetworkRestricted, exerciseRestricted),
		"mounts": {exercise: exerciseMounts, attribute: "mounts", ask: func(s *backends.Spec) {
			s.Mounts = []backends.Mount{{Source: "/usr", Target: "/mnt"}}
		}},
		"ports": {exercise: exercisePorts, attribute: "ports", ask: func(s *backends.Spec) {
			s.Ports = []backends.Port{{Port: 8080}}
		}},
		"public_ports": {exercise: exercisePublicPorts, attribute: "ports", ask: func(s *backends.Spec) {
			s.Ports = []backends.Port{{Port: 8080, Public: true}}
		}},
		"volumes": {exercise: exerciseVolumes, attribute: "volumes", ask: func(s *backends.Spec) {
			s.Volumes = map[string]backends.Volume{"data": {Target: "/data"}}
		}},
		"cpus":              {exercise: exerciseCPUs, attribute: "cpus", ask: func(s *backends.Spec) { s.CPUs = 1 }},
		"memory":            {exercise: exerciseMemory, attribute: "memory_mib", ask: func(s *backends.Spec) { s.MemoryMiB = 128 }},
		"user":              {exercise: exerciseUser, attribute: "user", ask: func(s *backends.Spec) { s.User = "1234" }},
		"working_directory": {exercise: checkWorkingDirectory, attribute: "working_directory", ask: func(s *backends.Spec) { s.WorkingDirectory = "/tmp" }},
		"system_packages": {
			exercise: exerciseSystemPackages, refuse: refuseSystemPackages,
		},
		"command": {exercise: exerciseMainProcess, attribute: "command", ask: func(s *backends.Spec) { s.Command = []string{"sleep", "100"} }},
		"timeout": {exercise: exerciseTimeout, attribute: "timeout", ask: func(s *backends.Spec) { s.Timeout = 1e9 }},
		"absolute_paths": {
			exercise: exerciseAbsolutePaths, refuse: refuseAbsolutePaths,
		},
		"docker_options": {exercise: exerciseDockerOptions, attribute: "docker", ask: func(s *backends.Spec) {
			s.Docker = &backends.DockerOptions{PidsLimit: 100}
		}},
		"vercel_options": {exercise: exerciseVercelOptions, attribute: "vercel", ask: func(s *backends.Spec) {
			s.Vercel = &backends.VercelOptions{Region: "iad1"}
		}},
		"native_retention": {exercise: exerciseRetention, attribute: "snapshot_retention", ask: func(s *backends.Spec) {
			s.Retention = &backends.SnapshotRetention{KeepLast: 1}
		}},
	}
}

// capabilityChecks makes one check of each row of the table, whether declared or not. A row that
// this suite does not know fails.
func capabilityChecks() []check {
	known := abilities()
	checks := []check{{"unknown network mode", checkUnknownNetworkMode}}
	for _, name := range backends.CapabilityNames() {
		checks = append(checks, check{"capability " + name, func(t T, e *env) {
			row, ok := known[name]
			if !ok {
				t.Fatalf("the suite does not know the capability %q", name)
			}
			e.checkAbility(t, name, row)
		}})
	}
	return checks
}

func (e *env) checkAbility(t T, name string, row ability) {
	if !slices.Contains(e.capabilities.Names(), name) {
		if row.ask != nil {
			e.checkRefused(t, row)
		}
		if row.refuse != nil {
			row.refuse(t, e)
		}
		return
	}
	if e.harness.Lacks != nil {
		if lack := e.harness.Lacks(t, name); lack != "" {
			t.Skipf("this machine cannot exercise %s: %s", name, lack)
		}
	}
	row.exercise(t, e)
}

// checkRefused checks that an option without its capability is refused before anything is made
// or changed.
func (e *env) checkRefused(t T, row ability) {
	marks := e.marks()
	e.cleanup(t, marks)
	_, err := e.backend.Create(e.ctx(t), marks, e.spec(row.ask))
	e.wantRefusal(t, "Create", err, row.attribute)
	e.wantAbsent(t, marks.Name)
	if row.creation {
		return
	}
	b := e.create(t)
	before := b.get()
	_, err = e.backend.Reconfigure(e.ctx(t), b.marks, e.spec(row.ask, change))
	e.wantRefusal(t, "Reconfigure", err, row.attribute)
	wantSame(t, "the sandbox after a refused change", b.get(), before)
}

func (e *env) wantRefusal(t T, what string, err error, attribute string) {
	t.Helper()
	e.wantKind(t, what, err, backends.Unsupported)
	var typed *backends.Error
	if errors.As(err, &typed) && (typed.Object != attribute || typed.Detail == "") {
		t.Errorf("%s refuses %q with the detail %q, want %q and a detail", what, typed.Object, typed.Detail, attribute)
	}
}

func checkUnknownNetworkMode(t T, e *env) {
	e.checkRefused(t, ability{attribute: "network.mode", ask: func(s *backends.Spec) { s.Network.Mode = "carrier-pigeon" }})
}

func refusePersistent(t T, e *env) {
	marks := e.marks()
	marks.Kind = backends.Persistent
	e.cleanup(t, marks)
	_, err := e.backend.Create(e.ctx(t), marks, e.spec())
	e.wantKind(t, "Create of a persistent sandbox", err, backends.Unsupported)
	e.wantAbsent(t, marks.Name)
}

// exerciseAbsolutePaths works outside the workspace, in a directory that every system has.
func exerciseAbsolutePaths(t T, e *env) {
	b := e.create(t)
	const directory, file = "/tmp/conformance", "/tmp/conformance/file"
	for _, state := range e.fileStates() {
		if state == "stopped" {
			b.stop()
		}
		content := []byte(state + "\x00\xff")
		if err := e.backend.WriteFile(e.ctx(t), b.marks.Name, file, content, 0o640); err != nil {
			t.Errorf("%s: WriteFile: %v", state, err)
		}
		if got, _, err := b.open(file); err != nil || string(got) != string(content) {
			t.Errorf("%s: OpenFile: %q, %v", state, got, err)
		}
		if info, err := e.backend.StatFile(e.ctx(t), b.marks.Name, file); err != nil || info.Mode != 0o640 {
			t.Errorf("%s: StatFile: %+v, %v", state, info, err)
		}
		if entries, err := e.backend.ListFiles(e.ctx(t), b.marks.Name, directory); err != nil || len(entries) != 1 || entries[0].Path != file {
			t.Errorf("%s: ListFiles: %+v, %v", state, entries, err)
		}
		if state == "running" {
			if got := b.run(backends.Command{Argv: []string{"cat", file}}); got != e.printed(string(content)) {
				t.Errorf("inside the file holds %q", got)
			}
		}
		if err := e.backend.RemoveFile(e.ctx(t), b.marks.Name, file); err != nil {
			t.Errorf("%s: RemoveFile: %v", state, err)
		}
		_, err := e.backend.StatFile(e.ctx(t), b.marks.Name, file)
		e.wantKind(t, state+": StatFile of a removed file", err, backends.FileNotFound)
	}
}

func refuseAbsolutePaths(t T, e *env) {
	b := e.create(t)
	ctx := e.ctx(t)
	for what, call := range map[string]func(file string) error{
		"StatFile":   func(file string) error { _, err := e.backend.StatFile(ctx, b.marks.Name, file); return err },
		"OpenFile":   func(file string) error { _, _, err := b.open(file); return err },
		"ListFiles":  func(file string) error { _, err := e.backend.ListFiles(ctx, b.marks.Name, file); return err },
		"WriteFile":  func(file string) error { return e.backend.WriteFile(ctx, b.marks.Name, file, []byte("x"), 0o644) },
		"RemoveFile": func(file string) error { return e.backend.RemoveFile(ctx, b.marks.Name, file) },
	} {
		for _, file := range []string{"/etc/passwd", "/tmp/file", "/", b.workspace + "-not/file"} {
			e.wantKind(t, what+" outside the workspace", call(file), backends.Unsupported, backends.PathEscapes)
		}
	}
}

package docker

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// full asks for everything that has an effect.
func (b *bench) full() backends.Spec {
	return backends.Spec{
		Source:           backends.Source{Image: b.image},
		CPUs:             0.5,
		MemoryMiB:        64,
		Environment:      map[string]string{"PLAIN": "one two", "EMPTY": ""},
		Secrets:          map[string]string{"TOKEN": "s3cr3t-" + b.marks.Name},
		SecretNames:      []string{"TOKEN"},
		WorkingDirectory: "/srv/app",
		User:             "agent",
		Command:          []string{"sh", "-c", "trap 'exit 0' TERM; while :; do sleep 1; done"},
		Ports:            []backends.Port{{Port: 81, Public: true}, {Port: 80, Protocol: "tcp"}, {Port: 53, Protocol: "udp"}},
		Mounts:           []backends.Mount{{Source: b.t.TempDir(), Target: "/mnt/host", ReadOnly: true}},
		Volumes:          map[string]backends.Volume{"cache": {Target: "/var/cache/app"}, "data": {Target: "/data"}},
		Network:          backends.Network{Mode: backends.NetworkAllowAll},
		Timeout:          time.Hour,
		Labels:           map[string]string{"team": "agents"},
		Docker:           &backends.DockerOptions{PidsLimit: 200, AddCapabilities: []string{"SYS_PTRACE", "NET_RAW"}, PullPolicy: pullNever},
	}
}

// asObserved is what a backend tells of spec: no secret values.
func asObserved(spec backends.Spec) backends.Spec {
	spec.Secrets = nil
	return spec
}

func TestCreatedAsConfigured(t *testing.T) {
	for name, specOf := range map[string]func(*bench) backends.Spec{"smallest": (*bench).spec, "full": (*bench).full} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			spec := specOf(b)
			created := b.create(spec)
			if want := asObserved(spec); !reflect.DeepEqual(created.Spec, want) {
				t.Errorf("observed\n%+v, want\n%+v", created.Spec, want)
			}
			if got := b.get(); !reflect.DeepEqual(got, created) {
				t.Errorf("read\n%+v, created\n%+v", got, created)
			}
			listed, err := b.backend.List(b.ctx())
			b.must(err)
			if !slices.ContainsFunc(listed, func(o backends.Observed) bool { return reflect.DeepEqual(o, created) }) {
				t.Errorf("the listing does not have it: %+v", listed)
			}
			b.calls.take()
			again, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
			b.must(err)
			if done := writes(b.calls.take()); len(done) > 0 {
				t.Errorf("a change to the same wrote: %v", done)
			}
			if !reflect.DeepEqual(again, created) {
				t.Errorf("changed to the same\n%+v, created\n%+v", again, created)
			}
		})
	}
}

func TestFullSandboxInside(t *testing.T) {
	b := newBench(t)
	created := b.create(b.full())
	if got := b.sh("id -u; pwd; echo $PLAIN; echo $TOKEN | sha256sum | head -c 8; touch /workspace/w /data/d /var/cache/app/c && echo writable"); !strings.HasPrefix(got, "1000\n/srv/app\none two\n") || !strings.HasSuffix(got, "writable") {
		t.Errorf("inside: %q", got)
	}
	if got := b.sh("grep NoNewPrivs /proc/1/status | tr -dc 0-9"); got != "1" {
		t.Errorf("NoNewPrivs is %q", got)
	}
	if len(created.Endpoints) != 3 || !strings.HasPrefix(created.Endpoints["80/tcp"], "127.0.0.1:") || created.Endpoints["81/tcp"] == "" {
		t.Errorf("endpoints: %v", created.Endpoints)
	}
	c := b.inspect()
	if binding := c.HostConfig.PortBindings["80/tcp"][0].HostIP; binding != "127.0.0.1" {
		t.Errorf("port 80 is bound to %s", binding)
	}
	if binding := c.HostConfig.PortBindings["81/tcp"][0].HostIP; binding != "0.0.0.0" {
		t.Errorf("port 81 is bound to %s", binding)
	}
}

// changes is the row of each attribute: how it is changed, and how that shows inside.
var changes = map[string]struct {
	change func(*backends.Spec)
	script string
	want   string
	live   bool
}{
	"cpus":              {change: func(s *backends.Spec) { s.CPUs = 0.75 }, live: true},
	"memory_mib":        {change: func(s *backends.Spec) { s.MemoryMiB = 256 }, live: true},
	"cpus lifted":       {change: func(s *backends.Spec) { s.CPUs = 0 }},
	"environment":       {change: func(s *backends.Spec) { s.Environment = map[string]string{"OTHER": "x"} }, script: "echo ${PLAIN-unset}${OTHER}", want: "unsetx"},
	"secret value":      {change: func(s *backends.Spec) { s.Secrets = map[string]string{"TOKEN": "changed"} }, script: "[ \"$TOKEN\" = changed ] && echo $TOKEN", want: "(TOKEN redacted)"},
	"secret dropped":    {change: func(s *backends.Spec) { s.Secrets, s.SecretNames = nil, nil }, script: "echo ${TOKEN-unset}", want: "unset"},
	"working_directory": {change: func(s *backends.Spec) { s.WorkingDirectory = "" }, script: "pwd", want: "/workspace"},
	"user":              {change: func(s *backends.Spec) { s.User = "" }, script: "id -u", want: "0"},
	"command":           {change: func(s *backends.Spec) { s.Command = nil }},
	"ports":             {change: func(s *backends.Spec) { s.Ports = s.Ports[:1] }},
	"mounts":            {change: func(s *backends.Spec) { s.Mounts = nil }, script: "ls /mnt/host 2>&1 | wc -l", want: "0"},
	"volumes":           {change: func(s *backends.Spec) { s.Volumes = map[string]backends.Volume{"data": {Target: "/elsewhere"}} }, script: "cat /elsewhere/kept", want: "volume"},
	"network":           {change: func(s *backends.Spec) { s.Network.Mode = backends.NetworkDenyAll; s.Ports = nil }, script: "ls /sys/class/net", want: "lo"},
	"timeout":           {change: func(s *backends.Spec) { s.Timeout = 0 }},
	"labels":            {change: func(s *backends.Spec) { s.Labels = map[string]string{"squad": "b"} }},
	"docker":            {change: func(s *backends.Spec) { s.Docker = &backends.DockerOptions{PullPolicy: pullNever} }},
}

func TestChanges(t *testing.T) {
	for name, row := range changes {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			spec := b.full()
			created := b.create(spec)
			b.sh("echo workspace > /workspace/kept; echo volume > /data/kept")
			_, err := b.backend.Exec(b.ctx(), b.marks.Name, backends.Command{Argv: []string{"sh", "-c", "mkdir -p /opt; echo tool > /opt/tool"}, User: "root"})
			b.must(err)
			before := b.inspect()
			row.change(&spec)
			changed, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
			b.must(err)
			if want := asObserved(spec); !reflect.DeepEqual(changed.Spec, want) {
				t.Errorf("observed\n%+v, want\n%+v", changed.Spec, want)
			}
			if got := b.get(); !reflect.DeepEqual(got, changed) {
				t.Errorf("read\n%+v, changed\n%+v", got, changed)
			}
			if changed.Status != backends.StatusRunning || changed.ResolvedImage != created.ResolvedImage || !changed.CreatedAt.Equal(created.CreatedAt) {
				t.Errorf("changed %+v, created %+v", changed, created)
			}
			if got := b.sh("cat /workspace/kept /opt/tool"); got != "workspace\ntool" {
				t.Errorf("files after the change: %q", got)
			}
			if row.script != "" {
				if got := b.sh(row.script); got != row.want {
					t.Errorf("%q printed %q, want %q", row.script, got, row.want)
				}
			}
			if live := before.ID == b.inspect().ID; live != row.live {
				t.Errorf("changed live: %t, want %t", live, row.live)
			}
			b.calls.take()
			_, err = b.backend.Reconfigure(b.ctx(), b.marks, spec)
			b.must(err)
			if done := writes(b.calls.take()); len(done) > 0 {
				t.Errorf("a second change to the same wrote: %v", done)
			}
			if found := b.count(); !slices.Equal(found.Containers, []string{b.marks.Name}) || len(found.Volumes) != 3 || !row.live && len(found.Images) != 1 {
				t.Errorf("on the engine: %+v", found)
			}
			b.delete(everything)
			if left := b.count(); !reflect.DeepEqual(left, counts{}) {
				t.Errorf("left behind: %+v", left)
			}
		})
	}
}

// TestRootFilesSurviveManyChanges walks both ways to save a root file system, one after the other.
func TestRootFilesSurviveManyChanges(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	spec.Environment = map[string]string{"A": "1"}
	b.create(spec)
	root := func(script string) {
		t.Helper()
		result, err := b.backend.Exec(b.ctx(), b.marks.Name, backends.Command{Argv: []string{"sh", "-c", script}, User: "root"})
		b.must(err)
		if result.ExitCode != 0 {
			t.Fatalf("%q: %s", script, result.Stderr)
		}
	}
	root("mkdir -p /opt /home; echo 1 > /opt/one; rm /bin/tee; echo own > /home/agent-file; chown 1000:1000 /home/agent-file")
	steps := []func(){
		func() { spec.Environment, spec.User = map[string]string{"B": "2"}, "agent" },
		func() { spec.Labels = map[string]string{"a": "b"} },
		func() { spec.Secrets, spec.SecretNames = map[string]string{"S": "x"}, []string{"S"} },
		func() { spec.Environment, spec.User = nil, "" },
		func() { spec.Secrets, spec.SecretNames, spec.Labels = nil, nil, nil },
		func() { spec.WorkingDirectory = "/tmp" },
	}
	for i, step := range steps {
		step()
		started := time.Now()
		changed, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
		b.must(err)
		t.Logf("step %d took %v", i, time.Since(started))
		if want := asObserved(spec); !reflect.DeepEqual(changed.Spec, want) {
			t.Errorf("step %d: observed\n%+v, want\n%+v", i, changed.Spec, want)
		}
		if got := b.sh("cat /opt/one; test -e /bin/tee && echo tee; stat -c %u /home/agent-file"); got != "1\n1000" {
			t.Errorf("step %d: %q", i, got)
		}
		root("echo " + strings.Repeat("x", i+1) + " > /opt/more")
	}
	if got := b.sh("echo ${A-unset} ${B-unset} ${S-unset} ${PATH:+path}; id -u"); got != "unset unset unset path\n0" {
		t.Errorf("environment at the end: %q", got)
	}
	labels := maps.Clone(b.inspect().Config.Labels)
	if labels["a"] != "" {
		t.Errorf("label at the end: %q", labels["a"])
	}
	if found := b.count(); len(found.Containers) != 1 || len(found.Images) != 1 || len(found.Volumes) != 1 {
		t.Errorf("on the engine: %+v", found)
	}
	b.delete(backends.DeleteOptions{})
	if left := b.count(); !reflect.DeepEqual(left, counts{}) {
		t.Errorf("left behind: %+v", left)
	}
}

func TestStoppedStaysStopped(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	b.create(spec)
	b.sh("echo kept > /workspace/kept; mkdir /opt; echo tool > /opt/tool")
	b.must(b.backend.Stop(b.ctx(), b.marks.Name))
	b.must(b.backend.Stop(b.ctx(), b.marks.Name))
	spec.Environment = map[string]string{"A": "1"}
	changed, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
	b.must(err)
	if changed.Status != backends.StatusStopped || changed.SessionID != "" {
		t.Errorf("after a change while stopped: %+v", changed)
	}
	b.must(b.backend.Start(b.ctx(), b.marks.Name))
	b.must(b.backend.Start(b.ctx(), b.marks.Name))
	if got := b.sh("cat /workspace/kept /opt/tool; echo $A"); got != "kept\ntool\n1" {
		t.Errorf("after the start: %q", got)
	}
}

func TestUnchangedRootNeedsNoImage(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	spec.WorkingDirectory = "/srv/deep/er"
	spec.Mounts = []backends.Mount{{Source: t.TempDir(), Target: "/mnt/a/b"}}
	b.create(spec)
	b.sh("echo kept > /workspace/kept")
	spec.Environment = map[string]string{"A": "1"}
	_, err := b.backend.Reconfigure(b.ctx(), b.marks, spec)
	b.must(err)
	if found := b.count(); len(found.Images) != 0 {
		t.Errorf("images: %v", found.Images)
	}
	if b.inspect().Config.WorkingDir != "/srv/deep/er" {
		t.Error("the working directory changed")
	}
}

func TestFailedChangeIsTakenBack(t *testing.T) {
	b := newBench(t)
	spec := b.spec()
	created := b.create(spec)
	b.sh("mkdir /opt; echo tool > /opt/tool; echo kept > /workspace/kept")
	for name, change := range map[string]func(*backends.Spec){
		"docker.runtime": func(s *backends.Spec) { s.Docker = &backends.DockerOptions{Runtime: "no-such-runtime"} },
		"command":        func(s *backends.Spec) { s.Command = []string{"/no/such/program"} },
		"user":           func(s *backends.Spec) { s.User = "nobody-here" },
		"mounts":         func(s *backends.Spec) { s.Mounts = []backends.Mount{{Source: "/no/such/source", Target: "/mnt"}} },
	} {
		wanted := spec
		wanted.Volumes = map[string]backends.Volume{"new": {Target: "/new"}}
		change(&wanted)
		_, err := b.backend.Reconfigure(b.ctx(), b.marks, wanted)
		if failure := b.wantKind(err, backends.Invalid); failure.Object != name || len(failure.Left) > 0 {
			t.Errorf("%s: %v, left %v", name, failure, failure.Left)
		}
		after := b.get()
		if after.Status != backends.StatusRunning || !reflect.DeepEqual(after.Spec, created.Spec) {
			t.Errorf("%s: after the failure %+v", name, after)
		}
		if got := b.sh("cat /opt/tool /workspace/kept"); got != "tool\nkept" {
			t.Errorf("%s: files %q", name, got)
		}
		if found := b.count(); len(found.Containers) != 1 || len(found.Images) != 0 || len(found.Volumes) != 1 {
			t.Errorf("%s: on the engine %+v", name, found)
		}
	}
}

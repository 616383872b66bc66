package conformance

import (
	"strconv"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// firstFile prints the first of some files that exists inside, nothing when none does.
func (b *box) firstFile(paths ...string) string {
	b.t.Helper()
	return b.sh(`for file; do if [ -r "$file" ]; then cat "$file"; exit; fi; done`, paths...)
}

// exercisePairs: where memory follows from CPUs, either asks for both.
func exercisePairs(t T, e *env, ask func(s *backends.Spec, cpus float64)) {
	b := e.create(t, func(s *backends.Spec) { ask(s, 4) })
	want := func() {
		t.Helper()
		told, full := b.get().Spec, e.capabilities.Effective(b.spec)
		if told.CPUs != full.CPUs || told.MemoryMiB != full.MemoryMiB {
			t.Errorf("CPUs and memory are %v and %d MiB, want %v and %d", told.CPUs, told.MemoryMiB, full.CPUs, full.MemoryMiB)
		}
	}
	want()
	b.write("file", []byte("kept"), 0o644)
	b.reconfigure(func(s *backends.Spec) { ask(s, 1) })
	want()
	b.restartForChanges()
	want()
	b.stop()
	b.reconfigure(func(s *backends.Spec) { ask(s, 8) })
	want()
	b.start()
	b.reconfigure(func(s *backends.Spec) { ask(s, 0) })
	want()
	b.wantFile("file", []byte("kept"))
	_, err := e.backend.Reconfigure(e.ctx(t), b.marks, e.spec(func(s *backends.Spec) { s.CPUs, s.MemoryMiB = 4, 1 }))
	e.wantRefusal(t, "Reconfigure with memory that does not fit the CPUs", err, "memory_mib")
	want()
}

// exerciseVercelOptions checks what is told of the regions.
func exerciseVercelOptions(t T, e *env) {
	b := e.create(t, func(s *backends.Spec) {
		s.Vercel = &backends.VercelOptions{Region: "fra1", FailoverRegions: []string{"iad1", "cdg1"}}
	})
	wantSame(t, "the regions", b.get().Spec.Vercel, b.spec.Vercel)
	b.reconfigure(func(s *backends.Spec) { s.Vercel = &backends.VercelOptions{Region: "fra1"} })
	wantSame(t, "the regions", b.get().Spec.Vercel, b.spec.Vercel)
	plain := e.create(t)
	wantSame(t, "the regions that nobody asked for", plain.get().Spec.Vercel, e.capabilities.Effective(plain.spec).Vercel)
	_, err := e.backend.Reconfigure(e.ctx(t), b.marks, e.spec(func(s *backends.Spec) {
		s.Vercel = &backends.VercelOptions{Region: "fra1", FailoverRegions: []string{"fra1"}}
	}))
	e.wantRefusal(t, "Reconfigure with a region that fails over to itself", err, "vercel.failover_regions")
}

// exerciseRetention lets the platform evict what stops save.
func exerciseRetention(t T, e *env) {
	b := e.create(t, func(s *backends.Spec) {
		s.Retention = &backends.SnapshotRetention{KeepLast: 1, Expiration: 48 * time.Hour}
	})
	want := func() {
		t.Helper()
		wantSame(t, "the retention", b.get().Spec.Retention, b.spec.Retention)
	}
	count := func(wanted int) {
		t.Helper()
		listed, err := e.snapshots(t).ListSnapshots(e.ctx(t), b.marks.Record)
		if err != nil || len(listed) != wanted {
			t.Errorf("there are %d snapshots, want %d: %v", len(listed), wanted, err)
		}
	}
	want()
	for range 2 {
		b.stop()
		b.start()
		count(1)
	}
	b.reconfigure(func(s *backends.Spec) { s.Retention = nil })
	want()
	b.stop()
	count(2)
	b.reconfigure(func(s *backends.Spec) { s.Retention = &backends.SnapshotRetention{Expiration: 24 * time.Hour} })
	want()
}

func exerciseCPUs(t T, e *env) {
	if e.capabilities.Defaults.MemoryPerCPU != 0 {
		exercisePairs(t, e, func(s *backends.Spec, cpus float64) { s.CPUs = cpus })
		return
	}
	b := e.create(t, func(s *backends.Spec) { s.CPUs = 0.5 })
	want := func(cpus float64) {
		t.Helper()
		if got := b.get().Spec.CPUs; got != cpus {
			t.Errorf("the CPUs are %v, want %v", got, cpus)
		}
		limit, known := b.cpuLimit()
		if known && limit != cpus {
			t.Errorf("inside the limit is %v CPUs, want %v", limit, cpus)
		}
	}
	want(0.5)
	b.write("file", []byte("kept"), 0o644)
	b.reconfigure(func(s *backends.Spec) { s.CPUs = 1 })
	want(1)
	b.stop()
	b.reconfigure(func(s *backends.Spec) { s.CPUs = 0.25 })
	b.wantStatus(backends.StatusStopped)
	b.start()
	want(0.25)
	b.reconfigure(func(s *backends.Spec) { s.CPUs = 0 })
	want(0)
	b.wantFile("file", []byte("kept"))
}

// cpuLimit reads the limit from the control group, 0 for none.
func (b *box) cpuLimit() (cpus float64, known bool) {
	b.t.Helper()
	fields := strings.Fields(b.firstFile("/sys/fs/cgroup/cpu.max"))
	if len(fields) == 0 {
		fields = strings.Fields(b.firstFile("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") + " " + b.firstFile("/sys/fs/cgroup/cpu/cpu.cfs_period_us"))
	}
	if len(fields) != 2 {
		return 0, false
	}
	if fields[0] == "max" || fields[0] == "-1" {
		return 0, true
	}
	quota, err := strconv.ParseFloat(fields[0], 64)
	if err != nil {
		b.t.Fatalf("the quota is %q", fields[0])
	}
	period, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		b.t.Fatalf("the period is %q", fields[1])
	}
	return quota / period, true
}

func exerciseMemory(t T, e *env) {
	if perCPU := e.capabilities.Defaults.MemoryPerCPU; perCPU != 0 {
		exercisePairs(t, e, func(s *backends.Spec, cpus float64) { s.MemoryMiB = int64(cpus) * perCPU })
		return
	}
	b := e.create(t, func(s *backends.Spec) { s.MemoryMiB = 64 })
	want := func(size int64) {
		t.Helper()
		if got := b.get().Spec.MemoryMiB; got != size {
			t.Errorf("the memory is %d MiB, want %d", got, size)
		}
		text := b.firstFile("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
		limit, err := strconv.ParseInt(text, 10, 64)
		if err == nil && size != 0 && limit != size<<20 {
			t.Errorf("inside the limit is %d bytes, want %d MiB", limit, size)
		}
		if err == nil && size == 0 && limit < 1<<40 {
			t.Errorf("inside the limit is %d bytes, want none", limit)
		}
	}
	want(64)
	b.write("file", []byte("kept"), 0o644)
	b.reconfigure(func(s *backends.Spec) { s.MemoryMiB = 96 })
	want(96)
	b.reconfigure(func(s *backends.Spec) { s.MemoryMiB = 48 })
	want(48)
	b.stop()
	b.reconfigure(func(s *backends.Spec) { s.MemoryMiB = 80 })
	b.wantStatus(backends.StatusStopped)
	b.start()
	want(80)
	b.reconfigure(func(s *backends.Spec) { s.MemoryMiB = 0 })
	want(0)
	b.wantFile("file", []byte("kept"))
}

func exerciseUser(t T, e *env) {
	b := e.create(t, func(s *backends.Spec) { s.User = "1234" })
	if got := b.get().Spec.User; got != "1234" {
		t.Errorf("the user is %q", got)
	}
	if got := b.sh("id -u"); got != "1234" {
		t.Errorf("a command runs as %q", got)
	}
	// The workspace and what is written into it are the user's own.
	b.write("written/file", []byte("a"), 0o600)
	if got := b.sh("printf b >> written/file; cat written/file; : > own; : > written/own; stat -c %u written/file written"); got != "ab1234\n1234" {
		t.Errorf("in the workspace a command printed %q", got)
	}
	if got := strings.TrimSpace(b.run(backends.Command{Argv: []string{"id", "-u"}, User: "0"})); got != "0" {
		t.Errorf("a command as root ran as %q", got)
	}
	b.stop()
	b.write("while-stopped", []byte("a"), 0o600)
	b.start()
	if got := b.sh("cat while-stopped; stat -c %u while-stopped"); got != "a1234" {
		t.Errorf("a file written while it was stopped: %q", got)
	}
	b.reconfigure(func(s *backends.Spec) { s.User = "2345:3456" })
	if got := b.sh("id -u; id -g"); got != "2345\n3456" || b.get().Spec.User != "2345:3456" {
		t.Errorf("after the change a command runs as %q, the user is %q", got, b.get().Spec.User)
	}
	b.reconfigure(func(s *backends.Spec) { s.User = "" })
	if got := b.get().Spec.User; got != "" {
		t.Errorf("after it was removed the user is %q", got)
	}
}

// arguments returns the argument lists of all processes inside.
func (b *box) arguments() string {
	b.t.Helper()
	return b.sh(`for file in /proc/[0-9]*/cmdline; do tr '\000' ' ' < "$file" 2> /dev/null; echo; done`)
}

func exerciseMainProcess(t T, e *env) {
	script := `printf '%s|' "$@" > started; exec sleep 98765`
	b := e.create(t, func(s *backends.Spec) {
		s.Command = []string{"sh", "-c", script, "sh", "it's", "a  b", "$HOME"}
		s.WorkingDirectory = ""
	})
	wantSame(t, "the command", b.get().Spec.Command, b.spec.Command)
	eventually(t, "the main process", 10*time.Second, func() bool { return strings.Contains(b.arguments(), "sleep 98765") })
	b.wantFile("started", []byte("it's|a  b|$HOME|"))
	b.reconfigure(func(s *backends.Spec) { s.Command = []string{"sleep", "87654"} })
	wantSame(t, "the command", b.get().Spec.Command, b.spec.Command)
	eventually(t, "the changed main process", 10*time.Second, func() bool { return strings.Contains(b.arguments(), "sleep 87654") })
	if strings.Contains(b.arguments(), "98765") {
		t.Errorf("the former main process still runs")
	}
	b.wantFile("started", []byte("it's|a  b|$HOME|"))
	b.reconfigure(func(s *backends.Spec) { s.Command = nil })
	if got := b.get().Spec.Command; len(got) > 0 {
		t.Errorf("after it was removed the command is %q", got)
	}
	b.wantStatus(backends.StatusRunning)

	// A main process that ends leaves a stopped sandbox, with its files.
	ended := e.create(t, func(s *backends.Spec) { s.Command = []string{"sh", "-c", "echo done > file; sleep 1"} })
	eventually(t, "the end of the main process", 30*time.Second, func() bool { return ended.get().Status == backends.StatusStopped })
	ended.wantFile("file", []byte("done\n"))
}

func exerciseTimeout(t T, e *env) {
	for _, command := range [][]string{nil, {"sleep", "1000"}} {
		if command != nil && !e.capabilities.MainProcess {
			continue
		}
		b := e.create(t, func(s *backends.Spec) { s.Command, s.Timeout = command, 2*time.Second })
		if got := b.get().Spec.Timeout; got != 2*time.Second {
			t.Errorf("the timeout is %v", got)
		}
		eventually(t, "the end by the timeout", 40*time.Second, func() bool { return b.get().Status == backends.StatusStopped })
		b.reconfigure(func(s *backends.Spec) { s.Timeout = time.Hour })
		b.start()
		b.wantStatus(backends.StatusRunning)
		if got := b.get().Spec.Timeout; got != time.Hour {
			t.Errorf("the changed timeout is %v", got)
		}
		b.reconfigure(func(s *backends.Spec) { s.Timeout = 0 })
		if got := b.get().Spec.Timeout; got != e.capabilities.Defaults.Timeout {
			t.Errorf("after it was removed the timeout is %v", got)
		}
	}
}

// netAdmin is the bit of CAP_NET_ADMIN.
const netAdmin = 1 << 12

func exerciseDockerOptions(t T, e *env) {
	b := e.create(t, func(s *backends.Spec) {
		s.Docker = &backends.DockerOptions{PidsLimit: 123, AddCapabilities: []string{"NET_ADMIN"}}
	})
	want := func(pids int64, admin bool) {
		t.Helper()
		wantSame(t, "the docker options", b.get().Spec.Docker, b.spec.Docker)
		if text := b.firstFile("/sys/fs/cgroup/pids.max", "/sys/fs/cgroup/pids/pids.max"); text != "" && text != strconv.FormatInt(pids, 10) {
			t.Errorf("inside the limit of processes is %s, want %d", text, pids)
		}
		_, text, _ := strings.Cut(b.firstFile("/proc/1/status"), "CapBnd:")
		bounds, err := strconv.ParseUint(strings.Fields(text)[0], 16, 64)
		if err != nil || (bounds&netAdmin != 0) != admin {
			t.Errorf("inside the capabilities are %x, %v, want NET_ADMIN %v", bounds, err, admin)
		}
	}
	want(123, true)
	b.reconfigure(func(s *backends.Spec) { s.Docker = &backends.DockerOptions{PidsLimit: 234} })
	want(234, false)
	b.reconfigure(func(s *backends.Spec) { s.Docker = nil })
	if got := b.get().Spec.Docker; got != nil {
		t.Errorf("after they were removed the docker options are %+v", got)
	}
	plain := e.create(t)
	if got := plain.get().Spec.Docker; got != nil {
		t.Errorf("docker options that nobody asked for: %+v", got)
	}
}

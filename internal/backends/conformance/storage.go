package conformance

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func exerciseMounts(t T, e *env) {
	open, closed := e.hostDir(t), e.hostDir(t)
	for _, directory := range []string{open, closed} {
		if err := os.WriteFile(filepath.Join(directory, "from-host"), []byte("host"), 0o644); err != nil {
			t.Fatalf("write on the host: %v", err)
		}
		// The sandbox's user is not the one who runs this test.
		if err := os.Chmod(directory, 0o777); err != nil {
			t.Fatalf("open a directory on the host: %v", err)
		}
	}
	mounts := []backends.Mount{
		{Source: open, Target: "/mnt/open"},
		{Source: closed, Target: "/mnt/closed", ReadOnly: true},
		{Source: filepath.Join(closed, "from-host"), Target: "/mnt/file", ReadOnly: true},
	}
	b := e.create(t, func(s *backends.Spec) { s.Mounts = mounts })
	want := func() {
		t.Helper()
		wantSame(t, "the mounts", byTarget(b.get().Spec.Mounts), byTarget(mounts))
		if got := b.sh("cat /mnt/open/from-host /mnt/closed/from-host /mnt/file"); got != "hosthosthost" {
			t.Errorf("inside the mounts hold %q", got)
		}
		for _, path := range []string{"/mnt/closed/new", "/mnt/closed/from-host", "/mnt/file"} {
			result, err := b.exec(backends.Command{Argv: []string{"sh", "-c", `: > "$0"`, path}})
			if err != nil || result.ExitCode == 0 {
				t.Errorf("a write to the read-only %s: %+v, %v", path, result, err)
			}
		}
		b.sh("printf inside > /mnt/open/from-sandbox")
		if content, err := os.ReadFile(filepath.Join(open, "from-sandbox")); err != nil || string(content) != "inside" {
			t.Errorf("on the host the mount holds %q, %v", content, err)
		}
		if content, err := os.ReadFile(filepath.Join(closed, "from-host")); err != nil || string(content) != "host" {
			t.Errorf("on the host the read-only mount holds %q, %v", content, err)
		}
	}
	want()
	b.write("file", []byte("kept"), 0o644)
	b.reconfigure(func(s *backends.Spec) { s.Mounts = nil })
	if got := b.sh("ls /mnt/open /mnt/closed 2> /dev/null || true"); strings.Contains(got, "from-host") {
		t.Errorf("a removed mount still shows %q", got)
	}
	if got := b.get().Spec.Mounts; len(got) > 0 {
		t.Errorf("the removed mounts are told as %v", got)
	}
	b.wantFile("file", []byte("kept"))
	b.reconfigure(func(s *backends.Spec) { s.Mounts = mounts })
	want()
	b.wantFile("file", []byte("kept"))
	b.delete(backends.DeleteOptions{Volumes: true, Snapshots: true})
	if content, err := os.ReadFile(filepath.Join(open, "from-sandbox")); err != nil || string(content) != "inside" {
		t.Errorf("after Delete the mounted directory holds %q, %v", content, err)
	}
}

func byTarget(mounts []backends.Mount) map[string]backends.Mount {
	all := map[string]backends.Mount{}
	for _, mount := range mounts {
		all[mount.Target] = mount
	}
	return all
}

func exerciseVolumes(t T, e *env) {
	volumes := map[string]backends.Volume{"data": {Target: "/data"}, "cache": {Target: "/var/cache/conformance"}}
	marks := e.marks()
	marks.Kind = backends.Session
	b := e.createAs(t, marks, e.spec(func(s *backends.Spec) { s.Volumes = volumes }))
	want := func(b *box, content string) {
		t.Helper()
		wantSame(t, "the volumes", b.get().Spec.Volumes, b.spec.Volumes)
		if got := b.sh("cat /data/file 2> /dev/null || echo none"); got != content {
			t.Errorf("the volume holds %q, want %q", got, content)
		}
	}
	want(b, "none")
	b.sh("printf kept > /data/file; printf cached > /var/cache/conformance/file; printf own > file")
	b.stop()
	b.start()
	want(b, "kept")
	b.reconfigure(change)
	b.wantChange()
	want(b, "kept")

	// Taken away and given back, a volume still has its data.
	b.reconfigure(func(s *backends.Spec) { s.Volumes = map[string]backends.Volume{"cache": volumes["cache"]} })
	want(b, "none")
	b.reconfigure(func(s *backends.Spec) { s.Volumes = volumes })
	want(b, "kept")
	b.reconfigure(func(s *backends.Spec) {
		s.Volumes = map[string]backends.Volume{"data": {Target: "/elsewhere"}, "cache": volumes["cache"]}
	})
	if got := b.sh("cat /elsewhere/file"); got != "kept" {
		t.Errorf("at its new target the volume holds %q", got)
	}

	// It outlives a Delete that does not ask for it, and only that.
	b.delete(backends.DeleteOptions{})
	e.wantAbsent(t, marks.Name)
	again := e.createAs(t, marks, e.spec(func(s *backends.Spec) { s.Volumes = volumes }))
	want(again, "kept")
	if names := again.names("."); len(names) > 0 {
		t.Errorf("the workspace of the deleted sandbox came back with %q", names)
	}
	again.reconfigure(func(s *backends.Spec) { s.Volumes = map[string]backends.Volume{"data": volumes["data"]} })
	again.delete(backends.DeleteOptions{Volumes: true})
	fresh := e.createAs(t, marks, e.spec(func(s *backends.Spec) { s.Volumes = volumes }))
	want(fresh, "none")
	if got := fresh.sh("cat /var/cache/conformance/file 2> /dev/null || echo none"); got != "none" {
		t.Errorf("a volume that was not attached outlived a Delete of volumes: %q", got)
	}
	// The volumes of a sandbox that is gone already go too.
	fresh.sh("printf kept > /data/file")
	fresh.delete(backends.DeleteOptions{})
	fresh.delete(backends.DeleteOptions{Volumes: true})
	last := e.createAs(t, marks, e.spec(func(s *backends.Spec) { s.Volumes = volumes }))
	want(last, "none")
}

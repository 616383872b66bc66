package conformance

import (
	"os"
	"path/filepath"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func exerciseHostSource(t T, e *env) {
	b := e.createAs(t, e.marks(), backends.Spec{})
	result, err := b.exec(backends.Command{Argv: []string{"sh", "-c", ": > /usr/planted"}})
	if err != nil || result.ExitCode == 0 {
		t.Errorf("a write to the host's system: %+v, %v", result, err)
	}
	if _, err := os.Lstat("/usr/planted"); err == nil {
		t.Errorf("a command wrote to the host's system")
	}
}

// exerciseDefaultSource: a sandbox without a source has a working system.
func exerciseDefaultSource(t T, e *env) {
	b := e.createAs(t, e.marks(), backends.Spec{})
	if got := b.sh("echo text > file && cat file"); got != "text" {
		t.Errorf("a command in the default system read %q", got)
	}
	wantSame(t, "the source", b.get().Spec.Source, backends.Source{})
}

// refuseNoSource: where there is neither the host's system nor a default one, a source is required.
func refuseNoSource(t T, e *env) {
	if !e.capabilities.HostSource && !e.capabilities.DefaultSource {
		e.checkRefused(t, ability{attribute: "source", creation: true, ask: func(s *backends.Spec) { s.Source = backends.Source{} }})
	}
}

func exerciseRuntimeSource(t T, e *env) {
	if e.harness.Runtime == "" {
		t.Fatalf("the harness names no runtime")
	}
	b := e.createAs(t, e.marks(), backends.Spec{Source: backends.Source{Runtime: e.harness.Runtime}})
	if observed := b.get(); observed.Spec.Source.Runtime != e.told(e.harness.Runtime) || observed.ResolvedImage == "" {
		t.Errorf("the runtime is %q, resolved to %q", observed.Spec.Source.Runtime, observed.ResolvedImage)
	}
	marks := e.marks()
	e.cleanup(t, marks)
	_, err := e.backend.Create(e.ctx(t), marks, backends.Spec{Source: backends.Source{Runtime: "no-such-runtime"}})
	e.wantKind(t, "Create from a runtime that does not exist", err, backends.Invalid)
	e.wantAbsent(t, marks.Name)
}

func exerciseGitSource(t T, e *env) {
	e.exerciseFetched(t, e.harness.Git, backends.Source{GitURL: e.harness.Git}, backends.Source{GitURL: "https://example.invalid/absent.git"})
}

func exerciseTarballSource(t T, e *env) {
	e.exerciseFetched(t, e.harness.Tarball, backends.Source{TarballURL: e.harness.Tarball}, backends.Source{TarballURL: "https://example.invalid/absent.tar.gz"})
}

// exerciseFetched starts from what is fetched from an address.
func (e *env) exerciseFetched(t T, address string, source, absent backends.Source) {
	t.Helper()
	if address == "" {
		t.Fatalf("the harness has no address for this source")
	}
	b := e.createAs(t, e.marks(), backends.Spec{Source: source})
	b.wantFile("marker", []byte("marker"))
	wantSame(t, "the source", b.get().Spec.Source, backends.Source{})
	b.stop()
	b.start()
	b.wantFile("marker", []byte("marker"))
	marks := e.marks()
	e.cleanup(t, marks)
	if _, err := e.backend.Create(e.ctx(t), marks, backends.Spec{Source: absent}); err == nil {
		t.Errorf("Create from %+v, which does not exist, succeeded", absent)
	}
	e.wantAbsent(t, marks.Name)
}

// told is what reads tell of a source.
func (e *env) told(source string) string {
	if e.capabilities.SourceUnreadable {
		return ""
	}
	return source
}

func exerciseImageSource(t T, e *env) {
	image := e.harness.Source.Image
	if image == "" && e.harness.AnyImage {
		image = "example.invalid/image:1"
	}
	if image == "" {
		t.Fatalf("the harness names no image")
	}
	b := e.createAs(t, e.marks(), backends.Spec{Source: backends.Source{Image: image}})
	if observed := b.get(); observed.Spec.Source.Image != e.told(image) || observed.ResolvedImage == "" {
		t.Errorf("the image is %q, resolved to %q", observed.Spec.Source.Image, observed.ResolvedImage)
	}
	if e.harness.AnyImage {
		return
	}
	marks := e.marks()
	e.cleanup(t, marks)
	if _, err := e.backend.Create(e.ctx(t), marks, backends.Spec{Source: backends.Source{Image: "localhost:1/no/such-image:1"}}); err == nil {
		t.Errorf("Create from an image that does not exist succeeded")
	}
	e.wantAbsent(t, marks.Name)
}

func exerciseRootfsSource(t T, e *env) {
	if e.harness.Rootfs == nil {
		t.Fatalf("the harness has no root file system")
	}
	rootfs := e.harness.Rootfs(t)
	if err := os.WriteFile(filepath.Join(rootfs, "conformance-marker"), []byte("marker"), 0o644); err != nil {
		t.Fatalf("mark the root file system: %v", err)
	}
	b := e.createAs(t, e.marks(), backends.Spec{Source: backends.Source{Rootfs: rootfs}})
	if got := b.sh("cat /conformance-marker"); got != "marker" {
		t.Errorf("the root file system inside is another one: %q", got)
	}
	if got := b.get().Spec.Source.Rootfs; got != e.told(rootfs) {
		t.Errorf("the root file system is told as %q", got)
	}
	// Whatever a sandbox does to its system, the next one starts from the same.
	result, err := b.exec(backends.Command{Argv: []string{"sh", "-c", ": > /conformance-marker"}})
	if err != nil {
		t.Errorf("Exec: %v, %+v", err, result)
	}
	if content, err := os.ReadFile(filepath.Join(rootfs, "conformance-marker")); err != nil || string(content) != "marker" {
		t.Errorf("a command changed the root file system on the host: %q, %v", content, err)
	}
	b.write("file", []byte("kept"), 0o644)
	b.reconfigure(change)
	if got := b.sh("cat /conformance-marker file"); got != "markerkept" {
		t.Errorf("after Reconfigure: %q", got)
	}
	marks := e.marks()
	e.cleanup(t, marks)
	_, err = e.backend.Create(e.ctx(t), marks, backends.Spec{Source: backends.Source{Rootfs: filepath.Join(rootfs, "absent")}})
	e.wantKind(t, "Create from a directory that does not exist", err, backends.Invalid)
	e.wantAbsent(t, marks.Name)
}

func exerciseClone(t T, e *env) {
	original := e.create(t, func(s *backends.Spec) {
		s.Environment = map[string]string{"FROM_ORIGINAL": "x"}
		s.Secrets, s.SecretNames = map[string]string{"ORIGINAL_SECRET": "secret"}, []string{"ORIGINAL_SECRET"}
	})
	original.sh("printf shared > file; chmod 700 file; mkdir dir; ln -s ../file dir/link")
	before := original.get()
	for _, state := range []string{"running", "stopped"} {
		if state == "stopped" {
			original.stop()
		} else if e.capabilities.CloneNeedsStop {
			refused := e.marks()
			e.cleanup(t, refused)
			_, err := e.backend.Create(e.ctx(t), refused, backends.Spec{Source: backends.Source{CloneOf: original.marks.Name}})
			e.wantKind(t, "Create as a clone of a running sandbox", err, backends.Conflict)
			e.wantAbsent(t, refused.Name)
			continue
		}
		clone := e.createAs(t, e.marks(), backends.Spec{Source: backends.Source{CloneOf: original.marks.Name}})
		if got := clone.sh("cat dir/link; stat -c %a file; printf '%s' \"$FROM_ORIGINAL$ORIGINAL_SECRET\""); got != "shared700" {
			t.Errorf("a command in the clone of a %s sandbox printed %q", state, got)
		}
		observed := clone.get()
		if observed.Marks != clone.marks || observed.Status != backends.StatusRunning {
			t.Errorf("the clone is %+v", observed)
		}
		wantSame(t, "the clone's secrets", observed.Spec.SortedSecretNames(), []string{})
		wantSame(t, "the clone's source", observed.Spec.Source, backends.Source{})
		clone.sh("printf changed > file")
		if state == "running" {
			original.wantFile("file", []byte("shared"))
		} else {
			original.wantKept("file", []byte("shared"))
		}
		clone.delete(backends.DeleteOptions{Volumes: true, Snapshots: true})
	}
	after := original.get()
	after.Status, after.SessionID, after.CurrentSnapshotID = before.Status, before.SessionID, before.CurrentSnapshotID
	wantSame(t, "the original", after, before)
	original.wantStatus(backends.StatusStopped)
	original.wantKept("file", []byte("shared"))
	if e.capabilities.FilesNeedCompute {
		original.start()
		original.wantFile("file", []byte("shared"))
	}

	marks := e.marks()
	e.cleanup(t, marks)
	_, err := e.backend.Create(e.ctx(t), marks, backends.Spec{Source: backends.Source{CloneOf: e.uniqueName()}})
	e.wantKind(t, "Create as a clone of an absent sandbox", err, backends.NotFound, backends.Invalid)
	e.wantAbsent(t, marks.Name)
}

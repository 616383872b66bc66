//go:build linux

package local

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// libraries returns the shared libraries of a program, as the host's loader finds them.
func libraries(program string) (found []string) {
	output, err := exec.Command("ldd", program).Output()
	if err != nil {
		return nil
	}
	for _, field := range strings.Fields(string(output)) {
		if strings.HasPrefix(field, "/") {
			found = append(found, field)
		}
	}
	return found
}

const fillTree = `mkdir -p d/deep; echo one > d/deep/file; chmod 640 d/deep/file; ln d/deep/file hard; ln -s d/deep/file soft; ln -s /etc/passwd out
cp /bin/sh setuid; chmod 6755 setuid; mkfifo pipe; mkdir closed; echo in > closed/file; chmod 500 closed; echo home > ~/file; echo tmp > /tmp/file
touch -d 2020-01-02T03:04:05Z old`

const describeTree = `cat d/deep/file ~/file closed/file; readlink soft out; stat -c '%a %h' hard; stat -c %a setuid closed; stat -c %Y old; ls -A /tmp; ls -A; touch mine; stat -c %U d`

func TestSnapshotsAndClones(t *testing.T) {
	b := newBackend(t, nil)
	create(t, b, "origin", backends.Spec{Secrets: map[string]string{"S": "secret"}, Environment: map[string]string{"E": "plain"}})
	shell(t, b, "origin", fillTree)
	saved, err := b.CreateSnapshot(t.Context(), marksOf("origin"), "snap")
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.CreateSnapshot(t.Context(), marksOf("origin"), "snap")
	if err != nil || again != saved {
		t.Errorf("again: %+v, %v, want %+v", again, err, saved)
	}
	if got, err := b.GetSnapshot(t.Context(), "snap"); err != nil || got != saved || got.SizeBytes == 0 {
		t.Errorf("%+v, %v, want %+v", got, err, saved)
	}
	if all, err := b.ListSnapshots(t.Context(), "record-origin"); err != nil || len(all) != 1 || all[0] != saved {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := b.ListSnapshots(t.Context(), "another"); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	want := "one\nhome\nin\nd/deep/file\n/etc/passwd\n640 2\n755\n500\n1577934245\nclosed\nd\nhard\nold\nout\nsetuid\nsoft\nagent"
	for name, source := range map[string]backends.Source{"restored": {SnapshotID: "snap"}, "cloned": {CloneOf: "origin"}} {
		observed := create(t, b, name, backends.Spec{Source: source})
		if observed.Spec.Source != (backends.Source{}) || len(observed.Spec.SecretNames) > 0 {
			t.Errorf("%s: %+v", name, observed.Spec)
		}
		if got := shell(t, b, name, describeTree); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		if got := shell(t, b, name, "echo $S$E"); got != "" {
			t.Errorf("%s: %q was taken over", name, got)
		}
	}
	_, err = b.Create(t.Context(), marksOf("x"), backends.Spec{Source: backends.Source{SnapshotID: "absent"}})
	wantKind(t, err, backends.NotFound)
	_, err = b.Create(t.Context(), marksOf("x"), backends.Spec{Source: backends.Source{CloneOf: "absent"}})
	wantKind(t, err, backends.NotFound)
	other := marksOf("origin")
	other.Owner = "another"
	wantKind(t, b.DeleteSnapshot(t.Context(), other, "snap"), backends.NotOurs)
	_, err = b.CreateSnapshot(t.Context(), other, "snap")
	wantKind(t, err, backends.NotOurs)

	damage(t, b.archivePath("snap"))
	_, err = b.Create(t.Context(), marksOf("x"), backends.Spec{Source: backends.Source{SnapshotID: "snap"}})
	wantKind(t, err, backends.Failed)
	for range 2 {
		if err := b.DeleteSnapshot(t.Context(), marksOf("origin"), "snap"); err != nil {
			t.Error(err)
		}
	}
	_, err = b.GetSnapshot(t.Context(), "snap")
	wantKind(t, err, backends.NotFound)
	for _, found := range treeBelow(t, b.root()) {
		if strings.Contains(found, "/x") || strings.Contains(found, "snap") {
			t.Errorf("left behind: %s", found)
		}
	}
}

func damage(t *testing.T, path string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 1
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestDeleteTakesSnapshotsOnlyWhenAsked(t *testing.T) {
	b := newBackend(t, nil)
	marks := marksOf("with-snapshot")
	if _, err := b.Create(t.Context(), marks, backends.Spec{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateSnapshot(t.Context(), marks, "kept"); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), marks, backends.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.GetSnapshot(t.Context(), "kept"); err != nil {
		t.Error(err)
	}
	if err := b.Delete(t.Context(), marks, backends.DeleteOptions{Snapshots: true}); err != nil {
		t.Fatal(err)
	}
	_, err := b.GetSnapshot(t.Context(), "kept")
	wantKind(t, err, backends.NotFound)
	if found := treeBelow(t, b.root()); len(found) > 0 {
		t.Errorf("left behind: %v", found)
	}
}

package conformance

import (
	"context"
	"errors"
	"path"
	"sync"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

func lifecycleChecks() []check {
	return []check{
		{"create", checkCreate},
		{"list", checkList},
		{"taken name", checkTakenName},
		{"one create wins", checkOneCreateWins},
		{"canceled create", checkCanceledCreate},
		{"stop and start", checkStopStart},
		{"stop of a session", checkSessionStop},
		{"delete", checkDelete},
		{"delete of another's", checkDeleteOthers},
		{"absent sandbox", checkAbsentSandbox},
	}
}

func checkCreate(t T, e *env) {
	for _, kind := range []backends.Kind{backends.Persistent, backends.Session} {
		if kind == backends.Persistent && !e.capabilities.Persistent {
			continue
		}
		marks := e.marks()
		marks.Kind = kind
		if kind == backends.Session {
			marks.Workspace = ""
		}
		before := time.Now().Add(-time.Minute)
		b := e.createAs(t, marks, e.spec())
		got := b.get()
		wantSame(t, "what Create tells and what Get tells", b.created, got)
		if got.Marks != marks || got.Name != marks.Name {
			t.Errorf("the marks are %+v of %q, want %+v", got.Marks, got.Name, marks)
		}
		if got.Status != backends.StatusRunning || !got.Running() || got.SessionID == "" {
			t.Errorf("status %q, session %q after Create", got.Status, got.SessionID)
		}
		if !path.IsAbs(got.Workspace) || path.Clean(got.Workspace) != got.Workspace || got.Workspace == "/" {
			t.Errorf("the workspace is %q", got.Workspace)
		}
		if got.CreatedAt.Before(before) || got.CreatedAt.After(time.Now().Add(time.Minute)) {
			t.Errorf("created at %v", got.CreatedAt)
		}
		if e.harness.Source.Image != "" && got.ResolvedImage == "" {
			t.Errorf("the image is not resolved")
		}
		wantSame(t, "the source", got.Spec.Source, durable(e.harness.Source))
		wantSame(t, "a second Get", b.get(), got)
		if names := b.names("."); len(names) > 0 {
			t.Errorf("a new workspace holds %q", names)
		}
		if owned := b.sh("echo text > file && cat file"); owned != "text" {
			t.Errorf("a command in the workspace read %q", owned)
		}
	}
}

// durable is the part of a source that a backend tells of an existing sandbox.
func durable(source backends.Source) backends.Source {
	source.SnapshotID, source.CloneOf = "", ""
	return source
}

func checkList(t T, e *env) {
	first := e.create(t)
	marks := e.marks()
	marks.Owner = otherOwnerName
	second := e.createAs(t, marks, e.spec())
	second.stop()
	for _, b := range []*box{first, second} {
		listed := e.find(t, b.marks.Name)
		if listed == nil {
			t.Errorf("List lacks %s of %s", b.marks.Name, b.marks.Owner)
			continue
		}
		wantSame(t, "what List tells and what Get tells", *listed, b.get())
	}
}

func checkTakenName(t T, e *env) {
	b := e.create(t)
	b.write("file", []byte("first"), 0o644)
	before := b.get()
	other := b.marks
	other.Owner, other.Record = otherOwnerName, "another-record"
	for _, marks := range []backends.Marks{b.marks, other} {
		_, err := e.backend.Create(e.ctx(t), marks, e.spec())
		e.wantKind(t, "Create of a taken name", err, backends.AlreadyExists)
	}
	wantSame(t, "the sandbox after another Create of its name", b.get(), before)
	b.wantFile("file", []byte("first"))
}

func checkOneCreateWins(t T, e *env) {
	const creators = 4
	contenders := make([]backends.Marks, creators)
	name := e.uniqueName()
	for i := range contenders {
		contenders[i] = e.marks()
		contenders[i].Name = name
		e.cleanup(t, contenders[i])
	}
	errs := make([]error, creators)
	var wait sync.WaitGroup
	for i, marks := range contenders {
		wait.Go(func() { _, errs[i] = e.backend.Create(e.ctx(t), marks, e.spec()) })
	}
	wait.Wait()
	var winners []backends.Marks
	for i, err := range errs {
		if err == nil {
			winners = append(winners, contenders[i])
			continue
		}
		e.wantKind(t, "Create at the same time", err, backends.AlreadyExists)
	}
	if len(winners) != 1 {
		t.Fatalf("%d of %d Creates of one name succeeded: %v", len(winners), creators, errs)
	}
	b := &box{env: e, t: t, marks: winners[0]}
	if observed := b.get(); observed.Marks != winners[0] {
		t.Errorf("the sandbox has the marks %+v, the winner %+v", observed.Marks, winners[0])
	}
}

func checkCanceledCreate(t T, e *env) {
	marks := e.marks()
	e.cleanup(t, marks)
	ctx, cancel := context.WithCancel(e.ctx(t))
	cancel()
	if _, err := e.backend.Create(ctx, marks, e.spec()); err == nil {
		t.Errorf("Create with a canceled context succeeded")
	}
	e.wantAbsent(t, marks.Name)
}

func checkStopStart(t T, e *env) {
	b := e.create(t)
	b.sh("printf 'by a command' > inside")
	b.write("outside", []byte("by the backend"), 0o600)
	session := b.get().SessionID
	b.start()
	if again := b.get(); again.SessionID != session {
		t.Errorf("Start of a running sandbox made a new session")
	}
	for range 2 {
		b.stop()
		b.wantStatus(backends.StatusStopped)
	}
	if listed := e.find(t, b.marks.Name); listed == nil || listed.Status != backends.StatusStopped || listed.Marks != b.marks {
		t.Errorf("List tells of the stopped sandbox %+v", listed)
	}
	_, err := b.exec(backends.Command{Argv: nothing()})
	e.wantKind(t, "Exec in a stopped sandbox", err, backends.NotRunning)
	b.wantStatus(backends.StatusStopped)
	for range 2 {
		b.start()
		b.wantStatus(backends.StatusRunning)
	}
	if observed := b.get(); observed.SessionID == "" || observed.SessionID == session {
		t.Errorf("the session %q follows on %q", observed.SessionID, session)
	}
	if inside := b.sh("cat inside outside"); inside != "by a commandby the backend" {
		t.Errorf("after stop and start the files hold %q", inside)
	}
}

// checkSessionStop: what a stop of a session sandbox loses stands in the table.
func checkSessionStop(t T, e *env) {
	marks := e.marks()
	marks.Kind = backends.Session
	b := e.createAs(t, marks, e.spec())
	b.write("file", []byte("text"), 0o644)
	b.stop()
	b.wantStatus(backends.StatusStopped)
	if e.capabilities.StopEndsSession {
		err := e.backend.Start(e.ctx(t), marks.Name)
		e.wantKind(t, "Start of a session that has ended", err, backends.Expired)
		b.wantStatus(backends.StatusStopped)
		return
	}
	b.start()
	b.wantStatus(backends.StatusRunning)
	if kept := len(b.names(".")) > 0; kept == e.capabilities.StopEmptiesSession {
		t.Errorf("after a stop the files are kept: %v; StopEmptiesSession is %v", kept, e.capabilities.StopEmptiesSession)
	}
	if got := b.sh("echo text > file && cat file"); got != "text" {
		t.Errorf("after a stop a command in the workspace read %q", got)
	}
}

func checkDelete(t T, e *env) {
	for _, stopped := range []bool{false, true} {
		b := e.create(t)
		b.write("file", []byte("old"), 0o644)
		if stopped {
			b.stop()
		}
		for range 2 {
			b.delete(backends.DeleteOptions{})
			e.wantAbsent(t, b.marks.Name)
		}
		again := b.marks
		again.Record = "record-" + randomHex()
		fresh := e.createAs(t, again, e.spec())
		if names := fresh.names("."); len(names) > 0 {
			t.Errorf("a new sandbox of a deleted one's name holds %q", names)
		}
		// The first one's marks no longer reach what bears its name now.
		err := e.backend.Delete(e.ctx(t), b.marks, backends.DeleteOptions{Volumes: true, Snapshots: true})
		e.wantKind(t, "Delete by the record of a predecessor", err, backends.NotOurs)
		fresh.delete(backends.DeleteOptions{})
	}
}

func checkDeleteOthers(t T, e *env) {
	b := e.create(t)
	b.write("file", []byte("kept"), 0o644)
	before := b.get()
	for what, edit := range map[string]func(*backends.Marks){
		"owner":  func(m *backends.Marks) { m.Owner = otherOwnerName },
		"record": func(m *backends.Marks) { m.Record = "another-record" },
	} {
		marks := b.marks
		edit(&marks)
		err := e.backend.Delete(e.ctx(t), marks, backends.DeleteOptions{Volumes: true, Snapshots: true})
		e.wantKind(t, "Delete by another "+what, err, backends.NotOurs)
		_, err = e.backend.Reconfigure(e.ctx(t), marks, e.spec())
		e.wantKind(t, "Reconfigure by another "+what, err, backends.NotOurs)
	}
	wantSame(t, "the sandbox after another's Delete", b.get(), before)
	b.wantFile("file", []byte("kept"))
}

func checkAbsentSandbox(t T, e *env) {
	marks := e.marks()
	ctx, name := e.ctx(t), marks.Name
	file := "/workspace/file"
	for what, call := range map[string]func() error{
		"Get":         func() error { _, err := e.backend.Get(ctx, name); return err },
		"Reconfigure": func() error { _, err := e.backend.Reconfigure(ctx, marks, e.spec()); return err },
		"Start":       func() error { return e.backend.Start(ctx, name) },
		"Stop":        func() error { return e.backend.Stop(ctx, name) },
		"Exec": func() error {
			_, err := e.backend.Exec(ctx, name, backends.Command{Argv: nothing()})
			return err
		},
		"StatFile":   func() error { _, err := e.backend.StatFile(ctx, name, file); return err },
		"OpenFile":   func() error { _, _, err := e.backend.OpenFile(ctx, name, file); return err },
		"ListFiles":  func() error { _, err := e.backend.ListFiles(ctx, name, "/workspace"); return err },
		"WriteFile":  func() error { return e.backend.WriteFile(ctx, name, file, []byte("x"), 0o644) },
		"RemoveFile": func() error { return e.backend.RemoveFile(ctx, name, file) },
	} {
		err := call()
		e.wantKind(t, what+" of an absent sandbox", err, backends.NotFound)
		if errors.Is(err, backends.FileNotFound) {
			t.Errorf("%s takes an absent sandbox for an absent file", what)
		}
	}
	if err := e.backend.Delete(ctx, marks, backends.DeleteOptions{Volumes: true, Snapshots: true}); err != nil {
		t.Errorf("Delete of an absent sandbox: %v", err)
	}
	e.wantAbsent(t, name)
}

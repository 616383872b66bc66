package conformance

import (
	"errors"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// outsideChecks need the harness to act behind the backend's back.
func outsideChecks(harness Harness) []check {
	var checks []check
	if harness.LoseCompute != nil {
		checks = append(checks, check{"lost compute", checkLostCompute}, check{"delete of lost compute", checkDeleteLost})
	}
	if harness.Unreachable != nil {
		checks = append(checks, check{"unreachable engine", checkUnreachable})
	}
	return checks
}

func checkLostCompute(t T, e *env) {
	b := e.create(t, func(s *backends.Spec) {
		s.Environment = map[string]string{"BEFORE": "x"}
		s.Secrets, s.SecretNames = map[string]string{"TOKEN": "secret"}, []string{"TOKEN"}
	})
	b.sh("printf kept > file")
	created := b.get()
	e.harness.LoseCompute(t, b.marks.Name)
	lost := b.get()
	if lost.Status != backends.StatusLost || lost.Running() || lost.Marks != b.marks || lost.Name != b.marks.Name {
		t.Fatalf("a sandbox whose compute is lost is %+v", lost)
	}
	if listed := e.find(t, b.marks.Name); listed == nil || listed.Status != backends.StatusLost || listed.Marks != b.marks {
		t.Errorf("List tells of a lost sandbox %+v", listed)
	}
	_, err := b.exec(backends.Command{Argv: nothing()})
	e.wantKind(t, "Exec in a lost sandbox", err, backends.NotRunning)
	_, err = e.backend.Create(e.ctx(t), b.marks, e.spec())
	e.wantKind(t, "Create of a lost sandbox's name", err, backends.AlreadyExists)
	foreign := b.marks
	foreign.Owner = otherOwnerName
	_, err = e.backend.Reconfigure(e.ctx(t), foreign, e.spec())
	e.wantKind(t, "Reconfigure of another's lost sandbox", err, backends.NotOurs)
	b.wantStatus(backends.StatusLost)

	b.reconfigure(change)
	b.wantStatus(backends.StatusRunning)
	b.wantChange()
	b.wantSecret("TOKEN", "secret")
	b.wantFile("file", []byte("kept"))
	recovered := b.get()
	if recovered.Marks != b.marks || recovered.Workspace != created.Workspace {
		t.Errorf("the recovered sandbox is %+v", recovered)
	}
	wantSame(t, "the source of the recovered sandbox", recovered.Spec.Source, created.Spec.Source)
}

func checkDeleteLost(t T, e *env) {
	b := e.create(t)
	b.sh("printf old > file")
	e.harness.LoseCompute(t, b.marks.Name)
	foreign := b.marks
	foreign.Owner = otherOwnerName
	err := e.backend.Delete(e.ctx(t), foreign, backends.DeleteOptions{Volumes: true, Snapshots: true})
	e.wantKind(t, "Delete of another's lost sandbox", err, backends.NotOurs)
	b.wantStatus(backends.StatusLost)
	b.delete(backends.DeleteOptions{})
	e.wantAbsent(t, b.marks.Name)
	fresh := e.createAs(t, b.marks, e.spec())
	if names := fresh.names("."); len(names) > 0 {
		t.Errorf("the workspace of a deleted sandbox came back with %q", names)
	}
}

// checkUnreachable: an engine that does not answer proves nothing about its objects.
func checkUnreachable(t T, e *env) {
	broken := e.harness.Unreachable(t)
	ctx, marks := e.ctx(t), e.marks()
	if availability := broken.Probe(ctx); availability.Available || availability.Reason == "" {
		t.Errorf("Probe tells %+v", availability)
	}
	for what, call := range map[string]func() error{
		"Binding":     func() error { _, err := broken.Binding(ctx); return err },
		"Prepare":     func() error { _, err := broken.Prepare(ctx); return err },
		"Get":         func() error { _, err := broken.Get(ctx, marks.Name); return err },
		"List":        func() error { _, err := broken.List(ctx); return err },
		"Create":      func() error { _, err := broken.Create(ctx, marks, e.spec()); return err },
		"Reconfigure": func() error { _, err := broken.Reconfigure(ctx, marks, e.spec()); return err },
		"Start":       func() error { return broken.Start(ctx, marks.Name) },
		"Stop":        func() error { return broken.Stop(ctx, marks.Name) },
		"Delete":      func() error { return broken.Delete(ctx, marks, backends.DeleteOptions{}) },
		"Exec": func() error {
			_, err := broken.Exec(ctx, marks.Name, backends.Command{Argv: nothing()})
			return err
		},
		"StatFile":   func() error { _, err := broken.StatFile(ctx, marks.Name, "/workspace/file"); return err },
		"OpenFile":   func() error { _, _, err := broken.OpenFile(ctx, marks.Name, "/workspace/file"); return err },
		"ListFiles":  func() error { _, err := broken.ListFiles(ctx, marks.Name, "/workspace"); return err },
		"WriteFile":  func() error { return broken.WriteFile(ctx, marks.Name, "/workspace/file", nil, 0o644) },
		"RemoveFile": func() error { return broken.RemoveFile(ctx, marks.Name, "/workspace/file") },
	} {
		var typed *backends.Error
		err := call()
		if !errors.As(err, &typed) || errors.Is(err, backends.NotFound) || errors.Is(err, backends.FileNotFound) {
			t.Errorf("%s on an engine that does not answer: %v", what, err)
		}
	}
	kinds := e.harness.UnreachableKinds
	if kinds == nil {
		kinds = []backends.ErrorKind{backends.NotRunning, backends.NotInstalled, backends.Unauthorized}
	}
	e.wantKind(t, "Get on an engine that does not answer", getError(broken, t, e, marks.Name), kinds...)
}

func getError(backend backends.Backend, t T, e *env, name string) error {
	_, err := backend.Get(e.ctx(t), name)
	return err
}

package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"reflect"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// callLimit bounds what one check may take altogether, so that a backend that hangs fails.
const callLimit = 3 * time.Minute

// Marks of the suite's own sandboxes.
const (
	ownerName      = "conformance-owner"
	otherOwnerName = "conformance-other-owner"
)

// env is what the checks of one run share.
type env struct {
	harness      Harness
	backend      backends.Backend
	capabilities backends.Capabilities
}

// newEnv checks what must hold before anything else can be checked.
func newEnv(t T, harness Harness) *env {
	t.Helper()
	e := &env{harness: harness, backend: harness.New(t)}
	ok := true
	for _, c := range identityChecks() {
		ok = t.Run(c.name, func(t T) { c.test(t, e) }) && ok
	}
	if !ok {
		return nil
	}
	e.capabilities = e.backend.Capabilities()
	return e
}

func (e *env) ctx(t T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), callLimit)
	t.Cleanup(cancel)
	return ctx
}

// ctxAfter is a context for what is cleaned up after the check, when the check's own has ended.
func (e *env) ctxAfter(t T) context.Context {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), callLimit)
	t.Cleanup(cancel)
	return ctx
}

func (e *env) uniqueName() string {
	if e.harness.UniqueName != nil {
		return e.harness.UniqueName()
	}
	return "conformance-" + randomHex()
}

func (e *env) hostDir(t T) string {
	if e.harness.HostDir != nil {
		return e.harness.HostDir(t)
	}
	return t.TempDir()
}

func randomHex() string {
	var random [5]byte
	_, _ = rand.Read(random[:]) // documented never to fail
	return hex.EncodeToString(random[:])
}

func (e *env) marks() backends.Marks {
	return backends.Marks{
		Owner: ownerName, Name: e.uniqueName(), Kind: backends.Persistent,
		Workspace: "0123456789ab", Record: "record-" + randomHex(),
	}
}

// spec is a specification that asks for nothing but the harness's source.
func (e *env) spec(edits ...func(*backends.Spec)) backends.Spec {
	spec := backends.Spec{Source: e.harness.Source}
	for _, edit := range edits {
		edit(&spec)
	}
	return spec
}

// create makes a persistent sandbox that is deleted, with all that belongs to it, after the check.
func (e *env) create(t T, edits ...func(*backends.Spec)) *box {
	t.Helper()
	return e.createAs(t, e.marks(), e.spec(edits...))
}

func (e *env) createAs(t T, marks backends.Marks, spec backends.Spec) *box {
	t.Helper()
	e.cleanup(t, marks)
	observed, err := e.backend.Create(e.ctx(t), marks, spec)
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	return &box{env: e, t: t, marks: marks, spec: spec, workspace: observed.Workspace, created: observed}
}

// cleanup deletes what a check leaves, even when it failed.
func (e *env) cleanup(t T, marks backends.Marks) {
	t.Cleanup(func() {
		err := e.backend.Delete(e.ctxAfter(t), marks, backends.DeleteOptions{Volumes: true, Snapshots: true})
		if err != nil && !errors.Is(err, backends.NotOurs) {
			t.Errorf("cleaning up %s: %v", marks.Name, err)
		}
	})
}

// wantKind checks the kind of an error and that it is one of the backend's own.
func (e *env) wantKind(t T, what string, err error, kinds ...backends.ErrorKind) {
	t.Helper()
	if err == nil {
		t.Errorf("%s: no error, want %q", what, kinds)
		return
	}
	var typed *backends.Error
	if !errors.As(err, &typed) {
		t.Errorf("%s: %v is a %T, want a *backends.Error", what, err, err)
		return
	}
	if typed.Backend != e.backend.Name() || typed.Operation == "" {
		t.Errorf("%s: the error names backend %q and operation %q", what, typed.Backend, typed.Operation)
	}
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Errorf("%s: got %q (%v), want %q", what, typed.Kind, err, kinds)
}

// wantAbsent checks that a sandbox of that name is proven not to exist.
func (e *env) wantAbsent(t T, name string) {
	t.Helper()
	_, err := e.backend.Get(e.ctx(t), name)
	e.wantKind(t, "Get of an absent sandbox", err, backends.NotFound)
	if found := e.find(t, name); found != nil {
		t.Errorf("List has the absent sandbox %s", name)
	}
}

// find returns a sandbox from the listing, nil when it is not there.
func (e *env) find(t T, name string) *backends.Observed {
	t.Helper()
	all, err := e.backend.List(e.ctx(t))
	if err != nil {
		t.Fatalf("List: %v", err)
	}
	var found *backends.Observed
	for i, observed := range all {
		if observed.Name != name {
			continue
		}
		if found != nil {
			t.Errorf("List has %s twice", name)
		}
		found = &all[i]
	}
	return found
}

// wantSame compares values by their JSON, so that nil and empty collections are the same.
func wantSame(t T, what string, got, want any) {
	t.Helper()
	if g, w := plain(t, got), plain(t, want); !reflect.DeepEqual(g, w) {
		t.Errorf("%s:\n got %v\nwant %v", what, g, w)
	}
}

func plain(t T, value any) any {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatalf("encode %T: %v", value, err)
	}
	var decoded any
	if err := json.Unmarshal(text, &decoded); err != nil {
		t.Fatalf("decode %T: %v", value, err)
	}
	return withoutEmpty(decoded)
}

// withoutEmpty makes empty collections, and members that hold one, absent.
func withoutEmpty(value any) any {
	switch value := value.(type) {
	case []any:
		if len(value) == 0 {
			return nil
		}
		for i, element := range value {
			value[i] = withoutEmpty(element)
		}
	case map[string]any:
		for name, member := range value {
			if value[name] = withoutEmpty(member); value[name] == nil {
				delete(value, name)
			}
		}
		if len(value) == 0 {
			return nil
		}
	}
	return value
}

// eventually waits until done says so.
func eventually(t T, what string, limit time.Duration, done func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !done() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v", what, limit)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

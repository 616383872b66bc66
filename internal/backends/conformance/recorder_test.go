package conformance_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/conformance"
)

// verdict is what a run of the suite on a mutant came to.
type verdict struct {
	mu sync.Mutex
	// failure is the first failure; the run ends with it.
	failure string
	// ran and skipped are the checks that were begun, by name.
	ran, skipped []string
}

func (v *verdict) fail(name, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failure == "" {
		v.failure = name + ": " + text
	}
}

func (v *verdict) failed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.failure != ""
}

// judge runs the suite, or the named checks of it besides those of the identity.
func judge(t *testing.T, harness conformance.Harness, checks []string) *verdict {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	v := &verdict{}
	root := &recorder{ctx: ctx, verdict: v, checks: checks}
	root.perform(func(t conformance.T) { conformance.Check(t, harness) })
	return v
}

// recorder is a [conformance.T] that ends the whole run at the first failure, panics included.
type recorder struct {
	ctx      context.Context
	verdict  *verdict
	checks   []string
	name     string
	mu       sync.Mutex
	cleanups []func()
}

var _ conformance.T = (*recorder)(nil)

func (r *recorder) Helper()                  {}
func (r *recorder) Parallel()                {}
func (r *recorder) Name() string             { return r.name }
func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Logf(string, ...any)      {}

func (r *recorder) Errorf(format string, arguments ...any) {
	r.verdict.fail(r.name, fmt.Sprintf(format, arguments...))
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, arguments ...any) { r.Errorf(format, arguments...) }

func (r *recorder) Skipf(string, ...any) {
	r.verdict.mu.Lock()
	r.verdict.skipped = append(r.verdict.skipped, r.name)
	r.verdict.mu.Unlock()
	runtime.Goexit()
}

func (r *recorder) TempDir() string {
	directory, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		r.Fatalf("make a temporary directory: %v", err)
	}
	r.Cleanup(func() {
		if err := os.RemoveAll(directory); err != nil {
			r.Errorf("remove a temporary directory: %v", err)
		}
	})
	return directory
}

func (r *recorder) Cleanup(step func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, step)
}

func (r *recorder) Run(name string, test func(conformance.T)) bool {
	if r.verdict.failed() {
		return false
	}
	if len(r.checks) > 0 && !isIdentity(name) && !slices.Contains(r.checks, name) {
		return true
	}
	r.verdict.ran = append(r.verdict.ran, name)
	child := &recorder{ctx: r.ctx, verdict: r.verdict, checks: r.checks, name: name}
	child.perform(test)
	return !r.verdict.failed()
}

func isIdentity(name string) bool {
	return slices.Contains([]string{"name", "table", "probe", "binding"}, name)
}

// perform runs test and then the cleanups, each in a goroutine that a failure may end.
func (r *recorder) perform(test func(conformance.T)) {
	r.guard(func() { test(r) })
	for {
		r.mu.Lock()
		if len(r.cleanups) == 0 {
			r.mu.Unlock()
			return
		}
		last := len(r.cleanups) - 1
		step := r.cleanups[last]
		r.cleanups = r.cleanups[:last]
		r.mu.Unlock()
		r.guard(step)
	}
}

func (r *recorder) guard(step func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if cause := recover(); cause != nil {
				r.verdict.fail(r.name, fmt.Sprintf("panic: %v\n%s", cause, debug.Stack()))
			}
		}()
		step()
	}()
	<-done
}

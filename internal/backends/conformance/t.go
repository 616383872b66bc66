package conformance

import (
	"context"
	"testing"
)

// T is what the suite needs of a [testing.T]. The suite's own test has another implementation,
// that stops at the first failure.
type T interface {
	Helper()
	Name() string
	Logf(format string, arguments ...any)
	Errorf(format string, arguments ...any)
	Fatalf(format string, arguments ...any)
	Skipf(format string, arguments ...any)
	TempDir() string
	Cleanup(func())
	Context() context.Context
	Parallel()
	Run(name string, test func(T)) bool
}

type standard struct{ *testing.T }

func (s standard) Run(name string, test func(T)) bool {
	return s.T.Run(name, func(t *testing.T) { test(standard{t}) })
}

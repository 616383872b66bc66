//go:build linux

package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// operation carries what every error of one call has in common.
type operation struct {
	verb   string // "create sandbox"
	object string
}

func (o operation) fail(kind backends.ErrorKind, format string, arguments ...any) *backends.Error {
	return &backends.Error{
		Kind: kind, Backend: backendName, Operation: o.verb, Object: o.object, Detail: fmt.Sprintf(format, arguments...),
	}
}

// on returns the operation about another object: an attribute or a path.
func (o operation) on(object string) operation {
	return operation{verb: o.verb, object: object}
}

// wrap makes a typed error of err, which may be nil. What is typed already stays as it is.
func (o operation) wrap(err error, detail string) error {
	if err == nil {
		return nil
	}
	var typed *backends.Error
	if errors.As(err, &typed) {
		return err
	}
	kind := backends.Failed
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		kind = backends.TimedOut
	case errors.Is(err, fs.ErrPermission):
		kind = backends.Unauthorized
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		kind = backends.NoCapacity
	}
	failure := o.fail(kind, "%s", detail)
	failure.Err = err
	return failure
}

// plainName is deliberately narrow: the name becomes a folder and a host name.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// begin checks what every call needs: a usable configuration and, unless empty, names that
// are one plain path element.
func (b *Backend) begin(verb, object string, names ...string) (operation, error) {
	op := operation{verb: verb, object: object}
	if !filepath.IsAbs(b.config.DataDir) || filepath.Clean(b.config.DataDir) != b.config.DataDir {
		return op, op.on("data_dir").fail(backends.Invalid, "The data directory must be a clean absolute path.")
	}
	if isolation := b.config.Isolation; isolation != "" && isolation != IsolationBubblewrap && isolation != IsolationNone {
		return op, op.on("local.isolation").fail(backends.Invalid, "Isolation must be %q or %q.", IsolationBubblewrap, IsolationNone)
	}
	for _, name := range names {
		if !plainName.MatchString(name) || strings.Contains(name, "..") {
			return op, op.fail(backends.Invalid, "The name %q is not one plain path element.", name)
		}
	}
	return op, nil
}

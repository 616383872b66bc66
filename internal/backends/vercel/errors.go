package vercel

import (
	"context"
	"errors"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// cleanupTimeout bounds the removal of what a failed or canceled call made.
const cleanupTimeout = time.Minute

// detached is a context for what has to be done although ctx may have ended.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
}

// outliving is a context for a single call that has to be heard to its end. It ends some time after ctx
// would by itself; the call has bounds of its own.
func outliving(ctx context.Context) (context.Context, context.CancelFunc) {
	longer := context.WithoutCancel(ctx)
	if deadline, bound := ctx.Deadline(); bound {
		return context.WithDeadline(longer, deadline.Add(cleanupTimeout))
	}
	return context.WithCancel(longer)
}

func failure(kind backends.ErrorKind, operation, object, detail string) *backends.Error {
	return &backends.Error{Kind: kind, Backend: backendName, Operation: operation, Object: object, Detail: detail}
}

// reason is what a probe tells of an error.
func reason(err error) string {
	var typed *backends.Error
	if !errors.As(err, &typed) {
		return err.Error()
	}
	text := typed.Detail
	if text == "" {
		text = typed.Error()
	}
	if typed.Remedy != "" {
		text += " " + typed.Remedy
	}
	return text
}

// checkOurs returns [backends.NotOurs] unless a sandbox carries the owner and the record of marks.
func checkOurs(operation string, found api.Sandbox, marks backends.Marks) error {
	has := marksOf(found)
	if has.Owner == marks.Owner && has.Record == marks.Record {
		return nil
	}
	err := failure(backends.NotOurs, operation, marks.Name, "It carries other tags than ours. It was not touched.")
	err.Remedy = "Choose another name, or import it if it is yours."
	return err
}

// inSession turns the absence of a session into what it says about the sandbox, which was there a moment
// ago: its session is over. Absence of the sandbox is proven by reading it alone.
func inSession(operation, name string, err error) error {
	if !errors.Is(err, backends.NotFound) {
		return err
	}
	return &backends.Error{
		Kind: backends.NotRunning, Backend: backendName, Operation: operation, Object: name,
		Detail: "Its session is gone.", Err: err,
	}
}

// refusedUse marks the error of a use that the session refused, since it is over or about to end: a use
// of the next session is another try.
func refusedUse(err error) error {
	var typed *backends.Error
	if errors.As(err, &typed) && typed.Kind == backends.NotRunning {
		typed.Repeatable = true
	}
	return err
}

package vercel

import (
	"context"
	"errors"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// The platform prepares a new image for minutes and answers meanwhile that it is not ready.
const (
	imageBudget     = 15 * time.Minute
	firstImagePause = time.Second
	mostImagePause  = 20 * time.Second
)

// Create implements [backends.Backend]. A create whose reply was lost is looked up by name and tags.
func (b *Backend) Create(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	const operation = "create sandbox"
	gaps := append(capabilities().Gaps(spec), b.CheckSpec(marks.Kind, spec)...)
	if err := backends.Refuse(backendName, operation, gaps); err != nil {
		return backends.Observed{}, err
	}
	client, err := b.connect()
	if err != nil {
		return backends.Observed{}, err
	}
	if spec.Source.CloneOf != "" {
		if spec.Source.SnapshotID, err = cloneSource(ctx, client, spec.Source.CloneOf); err != nil {
			return backends.Observed{}, err
		}
	}
	b.remember(marks.Name, spec.Secrets)
	defer b.listing.drop()
	state, err := createWhenReady(ctx, client, createRequest(marks, spec))
	if api.Ambiguous(err) {
		cause := err
		if state, err = reconcile(ctx, client, marks); errors.Is(err, backends.NotFound) {
			return backends.Observed{}, cause
		}
		if errors.Is(err, backends.NotOurs) {
			return backends.Observed{}, taken(operation, marks.Name, err)
		}
		if err != nil {
			return backends.Observed{}, abandoned(marks.Name, errors.Join(cause, err))
		}
	}
	if err != nil {
		return backends.Observed{}, err
	}
	var seen backends.Observed
	if err = awaitRunning(ctx, client, state.Session); err == nil {
		seen, err = read(ctx, client, marks.Name)
	}
	if err != nil {
		return backends.Observed{}, b.undo(ctx, marks, err)
	}
	return seen, nil
}

// reconcile looks for what a create made, also when the time for it is over.
func reconcile(ctx context.Context, client *api.Client, marks backends.Marks) (api.SandboxState, error) {
	ctx, cancel := detached(ctx)
	defer cancel()
	return client.Reconcile(ctx, marks.Name, markTags(marks))
}

// createWhenReady repeats a create while the platform prepares the image: nothing was made then.
func createWhenReady(ctx context.Context, client *api.Client, request api.CreateRequest) (api.SandboxState, error) {
	enough := time.Now().Add(imageBudget)
	for pause := firstImagePause; ; pause = min(2*pause, mostImagePause) {
		state, err := client.CreateSandbox(ctx, request)
		if api.CodeOf(err) != api.CodeImageNotReady || time.Now().Add(pause).After(enough) {
			return state, err
		}
		select {
		case <-ctx.Done():
			return state, err
		case <-time.After(pause):
		}
	}
}

// cloneSource is the snapshot that a clone starts from: the one that the original would be resumed
// from, never its live disk. The platform's own fork is not used, as it copies the secrets too.
func cloneSource(ctx context.Context, client *api.Client, name string) (string, error) {
	const operation = "clone sandbox"
	original, err := client.GetSandbox(ctx, name)
	if err != nil {
		return "", err
	}
	if !original.Session.Status.Terminal() {
		err := failure(backends.Conflict, operation, name, "It runs, and only what was saved by its last stop can be cloned.")
		err.Remedy = "Stop it first."
		return "", err
	}
	if original.Sandbox.CurrentSnapshotID == "" {
		return "", failure(backends.Invalid, operation, name, "It has no snapshot to be cloned from.")
	}
	return original.Sandbox.CurrentSnapshotID, nil
}

func taken(operation, name string, cause error) error {
	err := failure(backends.AlreadyExists, operation, name, "A sandbox of this name exists in the project.")
	err.Remedy, err.Err = "Import it if it is yours, or choose another name.", cause
	return err
}

// abandoned is the error of a create of which nobody knows what it made.
func abandoned(name string, cause error) error {
	err := failure(backends.KindOf(cause), "create sandbox", name, "Its reply was lost, and what became of it could not be found out.")
	err.Left, err.Err = []string{"sandbox " + name}, cause
	return err
}

// undo removes what a failed create made. What could not be removed is named in the error.
func (b *Backend) undo(ctx context.Context, marks backends.Marks, cause error) error {
	ctx, cancel := detached(ctx)
	defer cancel()
	cleanErr := b.Delete(ctx, marks, backends.DeleteOptions{Snapshots: true})
	if cleanErr == nil {
		return cause
	}
	err := failure(backends.KindOf(cause), "create sandbox", marks.Name, "It was made, but does not work, and it could not be removed.")
	err.Left, err.Err = []string{"sandbox " + marks.Name}, errors.Join(cause, cleanErr)
	return err
}

// awaitRunning waits until a session that boots can run commands.
func awaitRunning(ctx context.Context, client *api.Client, session api.Session) error {
	if session.Status == api.StatusRunning {
		return nil
	}
	_, err := client.WaitSession(ctx, session.ID, func(s api.Session) bool { return s.Status == api.StatusRunning })
	return err
}

// Package workspace provisions the runtimes of workspaces: a sandbox that is made once, gets its
// template on top, and is restored from its own data ever after. The order of restoration and the
// record are kept by package sandbox; here stands what makes a sandbox a workspace.
package workspace

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/overlay"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// The variables that a migration finds in its environment.
const (
	FromVariable = "SANDLOT_TEMPLATE_FROM"
	ToVariable   = "SANDLOT_TEMPLATE_TO"
)

// Manager provisions workspaces of one backend.
type Manager struct {
	Sandboxes *sandbox.Manager
}

// Plan is what a workspace runtime has beside its sandbox.
type Plan struct {
	// BaseSnapshotID and BaseSnapshotVersion say what a new workspace starts from; empty: from the
	// source of its sandbox.
	BaseSnapshotID      string
	BaseSnapshotVersion string
	// Template is put on top of a new workspace, nil for none.
	Template *Template
	// KnownTemplateVersion is the version that the caller knows to be applied. It counts where the
	// record is lost.
	KnownTemplateVersion string
}

// Template is a versioned set of files that every new workspace gets.
type Template struct {
	Version string
	Files   overlay.Set
	// Migrate brings an existing workspace from another version to this one; nil when there is no way.
	Migrate []string
	// Verify has to succeed after Migrate; nil for no check.
	Verify []string
}

// Provision makes a workspace, waits for the run that is making it, or takes over the one that is
// there. What was ready once is only ever restored from its own data.
func (m Manager) Provision(ctx context.Context, request sandbox.Request, plan Plan) (sandbox.Result, error) {
	request.Extension = m.Extension(plan)
	return m.Sandboxes.Create(ctx, request)
}

// Extension is what a request about a workspace's sandbox needs: Manager.Create and Manager.Update of
// package sandbox take it.
func (m Manager) Extension(plan Plan) *sandbox.Extension {
	p := provisioner{manager: m, plan: plan}
	return &sandbox.Extension{
		BaseSnapshotID:      plan.BaseSnapshotID,
		BaseSnapshotVersion: plan.BaseSnapshotVersion,

		KnownTemplateVersion: plan.KnownTemplateVersion,
		Complete:             p.complete,
	}
}

type provisioner struct {
	manager Manager
	plan    Plan
}

// complete puts the template on a new workspace and upgrades an existing one. `ready` is what it says
// last.
func (p provisioner) complete(ctx context.Context, stage sandbox.Stage) (sandbox.Workspace, error) {
	w := stage.Workspace
	var err error
	switch template := p.plan.Template; {
	case template == nil:
	case stage.Fresh:
		if err = p.overlay(ctx, stage, *template); err == nil {
			w.TemplateVersion = template.Version
		}
	case w.TemplateVersion != template.Version:
		if err = p.migrate(ctx, stage, *template, w.TemplateVersion); err == nil {
			w.TemplateVersion = template.Version
		}
	}
	if err != nil {
		w.LastError = shortened(err)
		if stage.Fresh {
			w.State = sandbox.WorkspaceError
		}
		return w, err
	}
	w.State, w.LastError = sandbox.WorkspaceReady, ""
	if w.ReadyAt.IsZero() {
		w.ReadyAt = time.Now().UTC()
	}
	return w, nil
}

// overlay writes the template's files into a new workspace.
func (p provisioner) overlay(ctx context.Context, stage sandbox.Stage, template Template) error {
	for _, entry := range template.Files.Entries {
		content, err := entry.Open(ctx)
		if err == nil {
			_, err = p.manager.Sandboxes.WriteFile(ctx, stage.Observed, entry.Path, content, entry.Mode.FileMode())
		}
		if err != nil {
			return &sandbox.Refusal{
				Code:   sandbox.CodeOverlayFailed,
				Detail: fmt.Sprintf("The template %q could not be put on the new workspace: %s was not written. The workspace is not ready; it is kept as it is until the next apply, which makes it anew.", template.Version, entry.Path),
				Err:    err,
			}
		}
	}
	return nil
}

// migrate runs the template's migration inside, and then its check.
func (p provisioner) migrate(ctx context.Context, stage sandbox.Stage, template Template, from string) error {
	if len(template.Migrate) == 0 {
		return &sandbox.Refusal{
			Code:   sandbox.CodeMigrationFailed,
			Detail: fmt.Sprintf("The workspace has the template version %q, %q is wanted, and `template.migrate` does not say how to get there.", from, template.Version),
			Remedy: "Set `template.migrate`, or the version back. Nothing was changed.",
		}
	}
	steps := []struct {
		what string
		argv []string
	}{{"migration", template.Migrate}, {"check after the migration", template.Verify}}
	for _, step := range steps {
		if len(step.argv) == 0 {
			continue
		}
		result, err := stage.Exec(ctx, backends.Command{Argv: step.argv, Environment: map[string]string{FromVariable: from, ToVariable: template.Version}})
		if err == nil && result.ExitCode == 0 {
			continue
		}
		refusal := &sandbox.Refusal{
			Code:   sandbox.CodeMigrationFailed,
			Detail: fmt.Sprintf("The %s from the template version %q to %q could not be run.", step.what, from, template.Version),
			Remedy: "The version on record stays the old one. Mend the cause and apply again: the migration is repeated.",
			Err:    err,
		}
		if err == nil {
			refusal.Detail = fmt.Sprintf("The %s from the template version %q to %q exited with status %d.%s", step.what, from, template.Version, result.ExitCode, sandbox.Said(result, stage.Secrets))
		}
		return refusal
	}
	return nil
}

// lastErrorLimit bounds what a record keeps of an error, in bytes.
const lastErrorLimit = 1024

func shortened(err error) string {
	text := err.Error()
	if len(text) > lastErrorLimit {
		text = strings.ToValidUTF8(text[:lastErrorLimit], "") + " …"
	}
	return text
}

package sandbox

import (
	"context"
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// checkTakeover refuses names that belong to somebody else, or to another object of ours.
func (m *Manager) checkTakeover(ctx context.Context, request Request, binding, owner string, record *store.Record, observed *backends.Observed) error {
	id := ID(m.Backend.Name(), request.Name)
	if observed != nil && observed.Marks.Owner != owner {
		return notOurs(id, observed.Marks.Owner)
	}
	kind := ""
	if record != nil {
		kind = record.Kind
	} else if observed != nil {
		kind = string(observed.Marks.Kind)
	}
	if kind != "" && kind != string(request.Kind) {
		return &Refusal{
			Code:   CodeOtherKind,
			Detail: fmt.Sprintf("%s exists already as a %s sandbox, and a %s one was asked for.", id, kind, request.Kind),
			Remedy: "Choose another name, or purge the existing one first: manage it with its own resource type, set `on_destroy = \"purge\"`, apply, then destroy it.",
		}
	}
	if record != nil && (len(record.Workspace) > 0) != (request.Extension != nil) {
		return &Refusal{
			Code:   CodeOtherKind,
			Detail: fmt.Sprintf("%s exists already as a %s, and a %s was asked for.", id, resourceName(len(record.Workspace) > 0, record.Kind), resourceName(request.Extension != nil, string(request.Kind))),
			Remedy: "Choose another name or workspace id, or purge the existing one first: manage it with its own resource type, set `on_destroy = \"purge\"`, apply, then destroy it.",
		}
	}
	if record != nil && record.WorkspaceID != "" && request.WorkspaceID != "" && record.WorkspaceID != request.WorkspaceID {
		return &Refusal{
			Code:   CodeOtherName,
			Detail: fmt.Sprintf("%s already belongs to the workspace %q.", id, record.WorkspaceID),
			Remedy: "Give this one another workspace id or name.",
		}
	}
	return m.checkWorkspaceName(ctx, request, binding, owner)
}

// resourceName says in words which resource an object belongs to.
func resourceName(workspace bool, kind string) string {
	if workspace {
		return "workspace runtime"
	}
	return kind + " sandbox"
}

// checkWorkspaceName refuses a second name for a workspace of the same generation, which a changed
// prefix or namespace would otherwise make under -replace.
func (m *Manager) checkWorkspaceName(ctx context.Context, request Request, binding, owner string) error {
	if request.WorkspaceID == "" {
		return nil
	}
	records, err := m.Store.Find(ctx, store.Query{Backend: m.Backend.Name(), Binding: binding, Owner: owner, WorkspaceID: request.WorkspaceID})
	if err != nil {
		return err
	}
	for _, other := range records {
		if other.Name != request.Name && other.Generation == request.Generation && other.Committed {
			return &Refusal{
				Code:   CodeOtherName,
				Detail: fmt.Sprintf("The workspace %q of generation %d already lives in %s; %q would be a second one.", request.WorkspaceID, request.Generation, ID(m.Backend.Name(), other.Name), request.Name),
				Remedy: fmt.Sprintf("Keep the stored one by replacing `workspace_id` with `name = %q`, set `name_prefix` and `namespace` back, or raise `generation` to start over.", other.Name),
			}
		}
	}
	return nil
}

func notOurs(id, owner string) error {
	whose := "It carries no mark of Sandlot."
	remedy := "Choose another name, or remove that object yourself."
	if owner != "" {
		whose = fmt.Sprintf("Its owner is %q.", owner)
		remedy = fmt.Sprintf("If it is yours, set the provider's `owner = %q` and run `terraform import <resource address> %s`. Otherwise choose another name.", owner, id)
	}
	return &Refusal{
		Code:   CodeNotOurs,
		Detail: fmt.Sprintf("%s exists already and is not ours. %s", id, whose),
		Remedy: remedy,
	}
}

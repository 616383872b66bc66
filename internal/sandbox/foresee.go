package sandbox

import (
	"context"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Foresight is what the store knows of a name before anything is created.
type Foresight struct {
	// Exists is true when a committed record of ours has the name.
	Exists bool
	// Attached is true when a Terraform state holds it now.
	Attached bool
	// Source describes what it was made from when another source is wanted now.
	Source string
	// Kind says in words what it is when something else is wanted now.
	Kind string
}

// Foresee looks a name up in the store alone, so that a plan can say what a create will meet. No
// backend is asked: plans of new sandboxes work without one.
func (m *Manager) Foresee(ctx context.Context, name string, kind backends.Kind, workspace bool, source backends.Source) (Foresight, error) {
	records, err := m.Records(ctx, store.Query{Name: name})
	if err != nil || len(records) == 0 {
		return Foresight{}, err
	}
	record := records[0]
	kept, err := contentsOf(record)
	if err != nil {
		return Foresight{}, err
	}
	if !record.Committed || len(record.Intent) > 0 {
		return Foresight{}, nil
	}
	seen := Foresight{Exists: true, Attached: record.Attachment != "", Source: changedSource(kept.Spec.Source, source)}
	if is := len(record.Workspace) > 0; record.Kind != string(kind) || is != workspace {
		seen.Kind = resourceName(is, record.Kind)
	}
	return seen, nil
}

// StoredName returns the name that a workspace of a generation has already, "" when it has none.
// Like [Manager.Foresee] it reads the store alone.
func (m *Manager) StoredName(ctx context.Context, workspaceID string, generation int64) (string, error) {
	records, err := m.Records(ctx, store.Query{WorkspaceID: NormalizeWorkspaceID(workspaceID)})
	if err != nil {
		return "", err
	}
	name := ""
	for _, record := range records {
		if record.Generation != generation || !record.Committed {
			continue
		}
		if name != "" && name != record.Name {
			return "", nil // one in each of several places: none of them is the name here
		}
		name = record.Name
	}
	return name, nil
}

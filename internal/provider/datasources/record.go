package datasources

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// recordIDAttribute is how a data source about one object names it. A record id is unknown until
// the object was made, so that the CLI reads after that and not during the plan before; the id is
// known at plan already and would be read too early.
func recordIDAttribute(object string) schema.StringAttribute {
	return schema.StringAttribute{
		MarkdownDescription: "The `record_id` of the " + object + " to look into. It is unknown until the " + object + " was made, so the data source is read after that.",
		Required:            true,
		Validators:          []validator.String{stringvalidator.LengthBetween(1, 128)},
	}
}

// box is an existing sandbox of ours that a data source looks into.
type box struct {
	manager  *sandbox.Manager
	observed backends.Observed
}

// find goes from a record to the sandbox that it stands for. A missing record or sandbox is an
// error, and so is another object that has the name now.
func (c *configured) find(ctx context.Context, recordID, summary string) (box, diag.Diagnostic) {
	at := path.Root("record_id")
	record, err := c.client.Record(ctx, recordID)
	if errors.Is(err, store.ErrNotFound) {
		return box{}, noRecord(at, recordID, summary)
	}
	var found box
	if err == nil {
		found.manager, err = c.client.Manager(record.Backend)
	}
	if errors.Is(err, client.ErrUnknown) {
		return box{}, notKnownYet(at, summary)
	}
	if err == nil {
		found.observed, err = describeRecord(ctx, found.manager, record)
	}
	if err != nil {
		return box{}, diagnostics.FromAttributeError(at, summary, err)
	}
	return found, nil
}

func noRecord(at path.Path, recordID, summary string) diag.Diagnostic {
	return diagnostics.AttributeError(at, string(backends.NotFound), summary,
		fmt.Sprintf("The provider's store has no record %q. Take the attribute `record_id` of a sandbox that was made with this store (`data_dir`, or `store.postgres_url`).", recordID))
}

func describeRecord(ctx context.Context, manager *sandbox.Manager, record store.Record) (backends.Observed, error) {
	id := sandbox.ID(record.Backend, record.Name)
	observed, _, err := manager.Describe(ctx, record.Name, record.Binding)
	switch {
	case errors.Is(err, backends.NotFound):
		return observed, gone(id+" is gone.", err)
	case err != nil:
		return observed, err
	case observed.Marks.Record != record.ID:
		return observed, gone(id+" is gone, and another object has its name now.", nil)
	}
	return observed, nil
}

func gone(detail string, cause error) error {
	return &sandbox.Refusal{
		Code: sandbox.CodeMissing, Detail: detail, Err: cause,
		Remedy: "A plan of the resource that made it says how to go on. `-refresh=false` plans without this data source.",
	}
}

// modeText returns the permission bits as chmod takes them, with those for setuid, setgid and sticky.
func modeText(mode fs.FileMode) string {
	bits := mode.Perm()
	for flag, bit := range map[fs.FileMode]fs.FileMode{fs.ModeSetuid: 0o4000, fs.ModeSetgid: 0o2000, fs.ModeSticky: 0o1000} {
		if mode&flag != 0 {
			bits |= bit
		}
	}
	return fmt.Sprintf("%04o", uint32(bits))
}

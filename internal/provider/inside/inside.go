// Package inside is shared by the resources that live inside a sandbox: files and commands. They
// remember where their sandbox lives, and follow Terraform's idiom: gone means planned again.
package inside

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/client"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/private"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/validators"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// Keys of the private state.
const (
	bindingKey = "binding"
)

// Place is the sandbox that something lives in, as a read found it.
type Place struct {
	Manager  *sandbox.Manager
	Observed backends.Observed
	// Binding is where the sandbox was found, to be remembered.
	Binding string
	// Gone is true when the sandbox is gone, by a successful answer.
	Gone bool
	// Remembered is true when a gone sandbox is a persistent one, whose plan decides what is next:
	// what lived inside stays in the state until then.
	Remembered bool
}

// Reach runs work on the sandbox's files, in which place is as it is during that work.
func (p Place) Reach(ctx context.Context, work func(ctx context.Context, place Place) error) error {
	return p.Manager.Reach(ctx, p.Observed, func(ctx context.Context, observed backends.Observed) error {
		p.Observed = observed
		return work(ctx, p)
	})
}

// Look finds the sandbox of an id by reads only. bound is what an earlier run remembered.
func Look(ctx context.Context, c *client.Client, sandboxID, bound string) (Place, error) {
	manager, name, err := c.ManagerOf(sandboxID)
	if err != nil {
		return Place{}, err
	}
	place := Place{Manager: manager, Binding: bound}
	observed, binding, err := manager.Describe(ctx, name, bound)
	if backends.KindOf(err) == backends.NotFound {
		place.Gone = true
		place.Remembered, err = manager.Remembers(ctx, name)
		return place, err
	}
	place.Observed, place.Binding = observed, binding
	return place, err
}

// Gone is the error of an operation that needs a sandbox that is gone.
func Gone(sandboxID string) error {
	return &sandbox.Refusal{
		Code:   sandbox.CodeMissing,
		Detail: fmt.Sprintf("The sandbox %s is gone.", sandboxID),
		Remedy: "Apply the sandbox itself first.",
	}
}

// Unreadable tells whether work inside a sandbox that was found failed only because the sandbox
// would have to be woken or recovered for it. An engine that does not answer is something else.
func (p Place) Unreadable(err error) bool {
	return p.Observed.Name != "" && !p.Observed.Running() && errors.Is(err, backends.NotRunning)
}

// Bound returns the remembered binding, "" when there is none.
func Bound(ctx context.Context, from private.Reader, diags *diag.Diagnostics) string {
	binding, _ := private.Read[string](ctx, from, bindingKey, diags)
	return binding
}

// Remember adds the binding where the private state has none: core drops all of it when the plugin
// dies in an update.
func Remember(ctx context.Context, bound string, place Place, to private.Writer, diags *diag.Diagnostics) {
	if bound == "" && place.Binding != "" {
		Bind(ctx, to, place.Binding, diags)
	}
}

// Bind remembers a binding.
func Bind(ctx context.Context, to private.Writer, binding string, diags *diag.Diagnostics) {
	private.Write(ctx, to, bindingKey, binding, diags)
}

// SandboxIDAttribute is the `sandbox_id` that files and commands have.
func SandboxIDAttribute(thing string) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: "The id of the sandbox. Changing this replaces the " + thing + ".",
		Required:            true,
		Validators:          []validator.String{validators.String("a sandbox id", checkSandboxID)},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.RequiresReplace()},
	}
}

func checkSandboxID(id string) error {
	backend, _, err := sandbox.ParseID(id)
	if err != nil {
		return err
	}
	_, err = client.Capabilities(backend)
	return err
}

// IDAttribute is the `id` that files and commands have.
func IDAttribute(description string) schema.Attribute {
	return schema.StringAttribute{
		MarkdownDescription: description,
		Computed:            true,
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
}

package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// observer logs every effect at debug level, so that TF_LOG shows what was asked of whom.
func observer() effects.Observer {
	return watch(func(ctx context.Context, phase effects.Phase, effect effects.Effect) {
		tflog.Debug(ctx, "effect", map[string]any{
			"phase":  string(phase),
			"system": effect.System,
			"action": effect.Action,
			"object": effect.Object,
			"write":  effect.Write,
		})
	})
}

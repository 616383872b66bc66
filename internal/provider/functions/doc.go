// Package functions holds the functions of the provider. They are pure: they need no configured
// provider, read no environment and touch nothing, so that they work in every expression.
package functions

import (
	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider/diagnostics"
)

// invalid is the error of one argument, counted from 0; those of a variadic parameter count on.
func invalid(position int, code string, err error) *function.FuncError {
	return function.NewArgumentFuncError(int64(position), diagnostics.WithCode(err.Error()+".", code))
}

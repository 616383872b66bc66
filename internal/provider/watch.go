//go:build !crashtest

package provider

import "github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"

// watch is where the crash tests' build hooks in. Here it adds nothing.
func watch(next effects.Observer) effects.Observer { return next }

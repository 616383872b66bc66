package vercel

import (
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

// Clock is where the simulator takes the time from.
type Clock = simkit.Clock

// VirtualClock stands still until it is advanced.
type VirtualClock = simkit.VirtualClock

// NewVirtualClock returns a clock that shows start.
func NewVirtualClock(start time.Time) *VirtualClock { return simkit.NewVirtualClock(start) }

// Request is one that the simulator received.
type Request = simkit.Request

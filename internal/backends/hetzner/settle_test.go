package hetzner

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// TestSettleTakesNoFailureForAbsence: that nothing shows is told by looks that succeeded.
func TestSettleTakesNoFailureForAbsence(t *testing.T) {
	t.Parallel()
	client := New(Config{SettleTime: 50 * time.Millisecond, PollInterval: time.Millisecond, LongestPollInterval: 5 * time.Millisecond})
	flaky := &backends.Error{Kind: backends.Failed, Backend: Name, Operation: "list servers"}
	limited := &backends.Error{Kind: backends.RateLimited, Backend: Name, Operation: "list servers"}
	slow := func(err error) func() (bool, error) {
		return func() (bool, error) { time.Sleep(80 * time.Millisecond); return false, err }
	}
	for name, test := range map[string]struct {
		look func() (bool, error)
		want error
	}{
		"nothing":                 {func() (bool, error) { return false, nil }, nil},
		"nothing, after the time": {slow(nil), nil},
		"fails each time":         {func() (bool, error) { return false, flaky }, backends.Failed},
		"fails after the time":    {slow(limited), backends.RateLimited},
		"cut off after the time":  {slow(context.DeadlineExceeded), context.DeadlineExceeded},
	} {
		found, err := client.Settle(t.Context(), test.look)
		if found || !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

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
	client := func(settle time.Duration) *Client {
		return New(Config{SettleTime: settle, PollInterval: time.Millisecond, LongestPollInterval: 5 * time.Millisecond})
	}
	patient, over := client(50*time.Millisecond), client(time.Nanosecond) // over: the time has passed before the first look ends
	flaky := &backends.Error{Kind: backends.Failed, Backend: Name, Operation: "list servers"}
	limited := &backends.Error{Kind: backends.RateLimited, Backend: Name, Operation: "list servers"}
	nothing := func(err error) func() (bool, error) {
		return func() (bool, error) { return false, err }
	}
	for name, test := range map[string]struct {
		client *Client
		look   func() (bool, error)
		want   error
	}{
		"nothing":                 {patient, nothing(nil), nil},
		"nothing, after the time": {over, nothing(nil), nil},
		"fails each time":         {patient, nothing(flaky), backends.Failed},
		"fails after the time":    {over, nothing(limited), backends.RateLimited},
		"cut off after the time":  {over, nothing(context.DeadlineExceeded), context.DeadlineExceeded},
	} {
		found, err := test.client.Settle(t.Context(), test.look)
		if found || !errors.Is(err, test.want) || (err == nil) != (test.want == nil) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

package hetzner

import (
	"testing"
	"time"
)

// Polling slows down, so that hosts that are waited for together stay within the rate limit (section 4).
func TestPause(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		config Config
		want   []time.Duration
	}{
		"default":    {Config{}, []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second}},
		"configured": {Config{PollInterval: 3 * time.Second}, []time.Duration{3 * time.Second, 6 * time.Second, 10 * time.Second, 10 * time.Second}},
		"slow":       {Config{PollInterval: time.Minute}, []time.Duration{time.Minute, time.Minute}},
	} {
		client := New(row.config)
		for looks, want := range row.want {
			if got := client.pause(looks); got != want {
				t.Errorf("%s: after %d looks it waits %s, want %s", name, looks, got, want)
			}
		}
	}
}

//go:build crashtest

package provider

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
)

// The crash tests' build: it is made by the tests only and is part of no release.
//
// SANDLOT_CRASHTEST_RECORD names a file that gets one line for each side of an effect.
// SANDLOT_CRASHTEST_KILL_AT is the number of the line, from 1, at which the process kills itself.
// Only writes count, since a process killed at a read has changed nothing.
var crashCount atomic.Int64

func watch(next effects.Observer) effects.Observer {
	record := os.Getenv("SANDLOT_CRASHTEST_RECORD")
	killAt, _ := strconv.ParseInt(os.Getenv("SANDLOT_CRASHTEST_KILL_AT"), 10, 64)
	return func(ctx context.Context, phase effects.Phase, effect effects.Effect) {
		next(ctx, phase, effect)
		if !effect.Write && os.Getenv("SANDLOT_CRASHTEST_READS") == "" {
			return
		}
		number := crashCount.Add(1)
		if record != "" {
			appendLine(record, fmt.Sprintf("%d\t%s\t%s\t%s\t%s\t%t\n", number, phase, effect.System, effect.Action, effect.Object, effect.Write))
		}
		if number == killAt {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				panic(err)
			}
			select {}
		}
	}
}

func appendLine(file, line string) {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	if _, err := f.WriteString(line); err != nil {
		panic(err)
	}
	if err := f.Close(); err != nil {
		panic(err)
	}
}

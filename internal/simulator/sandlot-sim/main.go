// Sandlot-sim serves simulators of cloud services on this machine, for trying out and for tests in
// other languages. It is not part of releases.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit statuses.
const (
	exitFailure = 1
	exitUsage   = 2
)

// service is one of the simulators: it serves until the context ends.
type service func(ctx context.Context, arguments []string, stdout, stderr io.Writer) error

// services are the subcommands.
var services = map[string]service{
	"hetzner": serveHetzner,
	"vercel":  serveVercel,
}

const usage = `Usage: sandlot-sim SERVICE [options]

Services:
  hetzner   Hetzner Cloud
  vercel    Vercel Sandbox

sandlot-sim SERVICE -h tells the options of a service.
`

// run returns the exit status of the program.
func run(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	if len(arguments) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	switch arguments[0] {
	case "-h", "-help", "--help", "help":
		fmt.Fprint(stdout, usage)
		return 0
	}
	serve, known := services[arguments[0]]
	if !known {
		fmt.Fprintf(stderr, "sandlot-sim: there is no service %q; there are: hetzner, vercel\n", arguments[0])
		return exitUsage
	}
	err := serve(ctx, arguments[1:], stdout, stderr)
	var mistake usageError
	switch {
	case err == nil, errors.As(err, &mistake) && mistake.text == "":
		return 0
	case errors.As(err, &mistake):
		fmt.Fprintf(stderr, "sandlot-sim %s: %s; see sandlot-sim %s -h\n", arguments[0], mistake.text, arguments[0])
		return exitUsage
	}
	fmt.Fprintf(stderr, "sandlot-sim %s: %v\n", arguments[0], err)
	return exitFailure
}

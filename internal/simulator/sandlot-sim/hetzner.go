package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

func serveHetzner(ctx context.Context, arguments []string, stdout, stderr io.Writer) (err error) {
	address, config, err := hetznerOptions(arguments, stderr)
	if err != nil {
		return err
	}
	server, err := hetzner.Listen(address, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := announce(stdout, server.URL(), server.Token()); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "Serving Hetzner Cloud until interrupted. Nothing listens at the addresses of its servers.")
	return wait(ctx, server.Failed())
}

// hetznerOptions reads the command line.
func hetznerOptions(arguments []string, stderr io.Writer) (address string, config hetzner.Config, err error) {
	flags := newFlags("hetzner")
	flags.StringVar(&address, "listen", "127.0.0.1:0", "loopback `address` to listen on; port 0 is any")
	flags.StringVar(&config.Token, "token", "", "the `token` that requests bear, of 64 characters (default: a random one)")
	flags.StringVar(&config.Dir, "state", "", "`folder` that keeps the project (default: it goes in the end)")
	virtual := flags.Bool("virtual-clock", false, "time stands still but for the admin endpoint")
	if err := parse(flags, arguments, stderr); err != nil {
		return "", config, err
	}
	if config.Token == "" {
		config.Token = (rand.Text() + rand.Text() + rand.Text())[:hetzner.TokenLength]
	}
	if *virtual {
		config.Clock = simkit.NewVirtualClock(time.Now())
	}
	config.Dir, err = absolute(config.Dir)
	return address, config, err
}

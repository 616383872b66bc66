package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/machines"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/sshguest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

func serveHetzner(ctx context.Context, arguments []string, stdout, stderr io.Writer) (err error) {
	address, config, boot, err := hetznerOptions(arguments, stderr)
	if err != nil {
		return err
	}
	behind := "Behind its servers are SSH servers in this process that answer what the provider asks to see whether a host is ready."
	unavailable := sshguest.Available()
	if boot == nil && unavailable == nil {
		guests := sshguest.New(sshguest.Config{Dir: guestDir(config.Dir)})
		defer func() { err = errors.Join(err, guests.Close()) }()
		config.Guests = guests
	} else if boot == nil {
		behind = "Nothing listens at the addresses of its servers: " + unavailable.Error() + "."
	} else {
		guests, notBooting := machines.New(ctx, *boot)
		if notBooting != nil {
			return fmt.Errorf("real machines cannot boot here: %w", notBooting)
		}
		defer func() { err = errors.Join(err, guests.Close()) }()
		config.Guests, behind = guests, "Behind its servers are real machines, with the image debian-13."
	}
	server, err := hetzner.Listen(address, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if err := announce(stdout, server.URL(), server.Token()); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "Serving Hetzner Cloud until interrupted. "+behind)
	return wait(ctx, server.Failed())
}

// guestDir keeps the disks of SSH servers together with the state of the project, if that is kept.
func guestDir(state string) string {
	if state == "" {
		return ""
	}
	return filepath.Join(state, "guests")
}

// hetznerOptions reads the command line. The options of real machines are nil without.
func hetznerOptions(arguments []string, stderr io.Writer) (address string, config hetzner.Config, boot *machines.Options, err error) {
	flags := newFlags("hetzner")
	flags.StringVar(&address, "listen", "127.0.0.1:0", "loopback `address` to listen on; port 0 is any")
	flags.StringVar(&config.Token, "token", "", "the `token` that requests bear, of 64 characters (default: a random one)")
	flags.StringVar(&config.Dir, "state", "", "`folder` that keeps the project (default: it goes in the end)")
	withMachines := flags.Bool("machines", false, "boot a real machine for each server, in a container of the local Docker Engine")
	preinstalled := flags.Bool("preinstalled", false, "real machines have Docker installed before cloud-init runs")
	var images []string
	flags.Func("image", "a `reference` of the local Docker Engine that the Docker of real machines has, too; may be repeated", func(reference string) error {
		images = append(images, reference)
		return nil
	})
	virtual := flags.Bool("virtual-clock", false, "time stands still but for the admin endpoint")
	if err := parse(flags, arguments, stderr); err != nil {
		return "", config, nil, err
	}
	if (*preinstalled || len(images) > 0) && !*withMachines {
		return "", config, nil, usageError{"-preinstalled and -image are about -machines"}
	}
	if *withMachines && *virtual {
		return "", config, nil, usageError{"real machines go by the wall clock"}
	}
	if config.Token == "" {
		config.Token = (rand.Text() + rand.Text() + rand.Text())[:hetzner.TokenLength]
	}
	if *virtual {
		config.Clock = simkit.NewVirtualClock(time.Now())
	}
	if config.Dir, err = absolute(config.Dir); err != nil || !*withMachines {
		return address, config, nil, err
	}
	if boot, err = machineOptions(config.Dir, stderr); err != nil {
		return "", config, nil, err
	}
	boot.Preinstalled, boot.Images = *preinstalled, images
	return address, config, boot, nil
}

// machineOptions keeps the machines of a project together with its state: both outlive the program, or
// neither.
func machineOptions(state string, stderr io.Writer) (*machines.Options, error) {
	options := &machines.Options{Log: func(message string) { fmt.Fprintln(stderr, message) }}
	if state == "" {
		return options, nil
	}
	options.Dir = filepath.Join(state, "machines")
	if err := os.MkdirAll(options.Dir, 0o700); err != nil {
		return nil, err
	}
	name := filepath.Join(options.Dir, "id")
	content, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		content = []byte(strings.ToLower(rand.Text())[:12])
		err = os.WriteFile(name, content, 0o600)
	}
	options.ID = string(content)
	return options, err
}

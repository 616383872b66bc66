package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// usageError is a mistake on the command line; empty when the usage was asked for and printed.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

func serveVercel(ctx context.Context, arguments []string, stdout, stderr io.Writer) (err error) {
	address, config, err := vercelOptions(arguments, stderr)
	if err != nil {
		return err
	}
	server, err := vercel.Listen(address, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	if _, err := fmt.Fprintf(stdout, "%s\n%s\n", server.URL(), server.Token()); err != nil {
		return err
	}
	fmt.Fprintf(stderr, "Serving Vercel Sandbox for team %s and project %s until interrupted.\n", config.Team, config.Projects[0].ID)
	select {
	case <-ctx.Done():
		return nil
	case err := <-server.Failed():
		return err
	}
}

// vercelOptions reads the command line.
func vercelOptions(arguments []string, stderr io.Writer) (address string, config vercel.Config, err error) {
	config = vercel.Config{Team: vercel.DefaultTeam, Projects: []vercel.Project{vercel.DefaultProject}, Sources: map[string]string{}}
	flags := flag.NewFlagSet("sandlot-sim vercel", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints
	flags.StringVar(&address, "listen", "127.0.0.1:0", "loopback `address` to listen on; port 0 is any")
	flags.StringVar(&config.Token, "token", "", "the `token` that requests bear (default: a random one)")
	flags.StringVar(&config.Team, "team", config.Team, "`id` of the team")
	flags.StringVar(&config.Projects[0].ID, "project", config.Projects[0].ID, "`id` of the project")
	flags.StringVar(&config.Projects[0].Slug, "project-slug", config.Projects[0].Slug, "`slug` of the project")
	flags.StringVar(&config.Dir, "state", "", "`folder` that keeps sandboxes and snapshots (default: they go in the end)")
	plan := flags.String("plan", string(vercel.PlanPro), "hobby, pro or enterprise: the `plan` whose limits hold")
	virtual := flags.Bool("virtual-clock", false, "time stands still but for the admin endpoint")
	flags.Func("source", "`URL=FILE`: a .tar.gz that stands for a git or tarball source (may be repeated)", func(given string) error {
		url, file, found := cutLast(given, "=")
		if !found || url == "" || file == "" {
			return errors.New("it should be URL=FILE")
		}
		config.Sources[url] = file
		return nil
	})
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stderr)
			flags.Usage()
			return "", config, usageError{}
		}
		return "", config, usageError{err.Error()}
	}
	if flags.NArg() > 0 {
		return "", config, usageError{fmt.Sprintf("%q is one argument too many", flags.Arg(0))}
	}
	config.Plan = vercel.Plan(*plan)
	if config.Token == "" {
		config.Token = rand.Text()
	}
	if *virtual {
		config.Clock = vercel.NewVirtualClock(time.Now())
	}
	if config.Dir != "" {
		if config.Dir, err = filepath.Abs(config.Dir); err != nil {
			return "", config, err
		}
	}
	return address, config, nil
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return "", "", false
	}
	return text[:at], text[at+len(separator):], true
}

package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

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
	err = announce(stdout, server.URL(), server.Token())
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "Serving Vercel Sandbox for team %s and project %s until interrupted.\n", config.Team, config.Projects[0].ID)
	return wait(ctx, server.Failed())
}

// vercelOptions reads the command line.
func vercelOptions(arguments []string, stderr io.Writer) (address string, config vercel.Config, err error) {
	config = vercel.Config{Team: vercel.DefaultTeam, Projects: []vercel.Project{vercel.DefaultProject}, Sources: map[string]string{}}
	flags := newFlags("vercel")
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
	if err := parse(flags, arguments, stderr); err != nil {
		return "", config, err
	}
	config.Plan = vercel.Plan(*plan)
	if config.Token == "" {
		config.Token = rand.Text()
	}
	if *virtual {
		config.Clock = vercel.NewVirtualClock(time.Now())
	}
	config.Dir, err = absolute(config.Dir)
	return address, config, err
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return "", "", false
	}
	return text[:at], text[at+len(separator):], true
}

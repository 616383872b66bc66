package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
)

// usageError is a mistake on the command line; empty when the usage was asked for and printed.
type usageError struct{ text string }

func (e usageError) Error() string { return e.text }

// newFlags are the options of a service.
func newFlags(service string) *flag.FlagSet {
	flags := flag.NewFlagSet("sandlot-sim "+service, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // the caller prints
	return flags
}

// parse reads the command line, which has options only.
func parse(flags *flag.FlagSet, arguments []string, stderr io.Writer) error {
	if err := flags.Parse(arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stderr)
			flags.Usage()
			return usageError{}
		}
		return usageError{err.Error()}
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Sprintf("%q is one argument too many", flags.Arg(0))}
	}
	return nil
}

// absolute makes a folder's path absolute; empty stays empty.
func absolute(folder string) (string, error) {
	if folder == "" {
		return "", nil
	}
	return filepath.Abs(folder)
}

// announce prints what callers wait for: the base URL, and the token.
func announce(stdout io.Writer, url, token string) error {
	_, err := fmt.Fprintf(stdout, "%s\n%s\n", url, token)
	return err
}

// wait returns when the program is interrupted or the server fails.
func wait(ctx context.Context, failed <-chan error) error {
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

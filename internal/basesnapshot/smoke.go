package basesnapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// same tells whether two checks ask for the same.
func (s SmokeCheck) same(other SmokeCheck) bool {
	return s.Expect == other.Expect && slices.Equal(s.Command, other.Command)
}

// check wants a sandbox to be what the manifest says: the marker is there, the package managers have
// their versions, and the smoke checks pass. The environment of the bake is not passed on, since no
// workspace will have it.
func (b *bake) check(ctx context.Context, box, where string) error {
	if err := b.checkMarker(ctx, box); err != nil {
		return &StepError{Step: "the marker " + b.marker.path + " " + where, Err: err}
	}
	managers := b.work.request.Manifest.PackageManagers
	for _, name := range slices.Sorted(maps.Keys(managers)) {
		step := fmt.Sprintf("the version of %s %s", name, where)
		command := backends.Command{Argv: []string{name, "--version"}}
		if err := b.expect(ctx, box, step, command, managers[name], containsVersion); err != nil {
			return err
		}
	}
	for i, wanted := range b.work.request.Checks {
		step := fmt.Sprintf("smoke check %d %s", i+1, where)
		if err := b.expect(ctx, box, step, backends.Command{Argv: wanted.Command}, wanted.Expect, bytes.Contains); err != nil {
			return err
		}
	}
	return nil
}

// checkMarker reads the marker back.
func (b *bake) checkMarker(ctx context.Context, box string) (err error) {
	reader, _, err := b.backend().OpenFile(ctx, box, b.marker.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	content, err := io.ReadAll(io.LimitReader(reader, int64(len(b.marker.content))+1))
	if err == nil && !bytes.Equal(content, b.marker.content) {
		err = errors.New("it is not the one that was written")
	}
	return err
}

// expect runs a command that has to succeed and to print what is wanted.
func (b *bake) expect(ctx context.Context, box, step string, command backends.Command, wanted string, contains func(output, wanted []byte) bool) error {
	result, err := b.exec(ctx, box, step, command)
	if err != nil {
		return err
	}
	if wanted == "" || contains(result.Stdout, []byte(wanted)) || contains(result.Stderr, []byte(wanted)) {
		return nil
	}
	return &StepError{Step: step, Command: command.Argv, Detail: fmt.Sprintf("%q is not in what it printed", wanted), Output: sandbox.Tail(result, b.environment)}
}

// containsVersion looks for a version as a whole word: 10.9 is not in 10.9.2 and not in 110.9.
func containsVersion(output, version []byte) bool {
	word := regexp.MustCompile(`(?:^|[^0-9A-Za-z._+-])v?` + regexp.QuoteMeta(string(version)) + `(?:$|[^0-9A-Za-z._+-]|\.(?:$|[^0-9A-Za-z_+-]))`)
	return word.Match(output)
}

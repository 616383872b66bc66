package vercel

import (
	"context"
	"fmt"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// Beyond reading and writing whole files the API has no calls for files: the rest is done by commands
// inside. Scripts are constant, paths are arguments, and what is printed is parsed strictly.

// mostPrinted bounds what a script may print, in bytes: the entries of a large directory.
const mostPrinted = 16 << 20

// How scripts end, besides success.
const (
	exitMissing    = 10
	exitEscapes    = 11
	exitNoDir      = 12 // something on the way, or the object itself, has the wrong type
	exitRefused    = 13 // the system refuses it
	exitDirectory  = 14
	exitOutOfReach = 15 // the workspace itself is not there
)

// place is the beginning of every script. Its arguments are where the path has to stay below, the
// directory, and the name in it. It sets `real` to where the directory leads, whatever links are on
// the way, and `lacking` when the last parts of it do not exist.
const place = `LC_ALL=C; export LC_ALL
strip() { stripped=${1%?x}; }
within() { case "$1/" in "${base%/}/"*) ;; *) exit 11 ;; esac; }
base=$(cd -P -- "$1" && pwd -P && echo x) || exit 15
strip "$base"; base=$stripped
dir=$2; lacking=
while [ ! -e "$dir" ] && [ ! -L "$dir" ]; do
	lacking=1; dir=${dir%/*}; [ -n "$dir" ] || dir=/
done
[ -e "$dir" ] || exit "$dangling"
[ -d "$dir" ] || exit 12
real=$(cd -P -- "$dir" && pwd -P && echo x) || exit 13
strip "$real"; real=$stripped; within "$real"
file=${real%/}/$3
`

// reading and writing differ in what a way that ends in a link to nowhere means.
const (
	reading = "dangling=10\n" + place + "[ -z \"$lacking\" ] || exit 10\n"
	writing = "dangling=11\n" + place
)

// printed is what a command printed and how it ended.
type printed struct {
	stdout, stderr string
	exit           int
}

// output runs a short command and collects what it prints.
func output(ctx context.Context, client *api.Client, session string, request api.CommandRequest) (printed, error) {
	stdout, stderr := &bounded{limit: mostPrinted}, &bounded{limit: 4 << 10}
	ended, err := client.RunCommand(ctx, session, request, func(piece api.Output) error {
		if piece.Stderr {
			stderr.write(piece.Data)
		} else {
			stdout.write(piece.Data)
		}
		return nil
	})
	if err != nil {
		return printed{}, err
	}
	if stdout.full {
		return printed{}, failure(backends.Failed, "run command", session, fmt.Sprintf("It printed more than %d bytes.", mostPrinted))
	}
	return printed{stdout: string(stdout.kept), stderr: string(stderr.kept), exit: int(*ended.ExitCode)}, nil
}

// run runs a script about a file. An exit status other than 0 is an error of the kind it stands for.
func (f fileCall) run(ctx context.Context, script string, arguments ...string) (string, error) {
	argv := append([]string{"-c", script, "sh"}, arguments...)
	result, err := output(ctx, f.client, f.session.ID, api.CommandRequest{Command: "/bin/sh", Args: argv, Cwd: "/"})
	if err != nil {
		return "", refusedUse(inSession(f.operation, f.name, err)) // every script can run twice
	}
	return result.stdout, f.ended(result)
}

// ended maps the exit status of a script.
func (f fileCall) ended(result printed) error {
	said := strings.TrimSpace(result.stderr)
	fail := func(kind backends.ErrorKind, detail string) error {
		err := failure(kind, f.operation, f.path, detail)
		if said != "" {
			err.Detail += " The system says: " + said
		}
		return err
	}
	switch result.exit {
	case 0:
		return nil
	case exitMissing:
		return failure(backends.FileNotFound, f.operation, f.path, "It does not exist.")
	case exitEscapes:
		err := failure(backends.PathEscapes, f.operation, f.path, "A link on the way leads out of the workspace.")
		return err
	case exitNoDir:
		return fail(backends.Invalid, "It, or something on the way to it, has the wrong type.")
	case exitDirectory:
		return failure(backends.Invalid, f.operation, f.path, "It is a directory.")
	case exitOutOfReach:
		return fail(backends.Failed, "The workspace cannot be entered.")
	}
	return fail(backends.Failed, "The system refuses it.")
}

package vercel

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// starter is run in place of a command and becomes it. Output goes to pipes, as the executor itself
// hands out output only at the end, and signals come from one: commands have process numbers of
// their own. A missing program is told before anything runs. Its variables must not meet those of the
// command.
const starter = `sandlot_dir=$1; shift
sandlot_missing=
case $1 in
*/*) [ -f "$1" ] && [ -x "$1" ] || sandlot_missing=1 ;;
*)
	sandlot_missing=1; set -f; sandlot_ifs=$IFS; IFS=:
	for sandlot_path in $PATH; do
		if [ -f "$sandlot_path/$1" ] && [ -x "$sandlot_path/$1" ]; then sandlot_missing=; break; fi
	done
	IFS=$sandlot_ifs ;;
esac
if [ -n "$sandlot_missing" ]; then echo missing >"$sandlot_dir/status"; exit 127; fi
(while read -r sandlot_signal; do kill "-$sandlot_signal" $$; done) <"$sandlot_dir/control" >/dev/null 2>&1 &
echo started >"$sandlot_dir/status"
exec "$@" >"$sandlot_dir/stdout" 2>"$sandlot_dir/stderr"`

// errNoExecutable: the program of a command does not exist.
var errNoExecutable = errors.New("the executable was not found")

// execution says what to run.
type execution struct {
	id          string
	argv        []string
	directory   string
	environment map[string]string
	// output is called with what the command prints, from two goroutines.
	output func(stream string, content []byte)
}

// process is a command that was started.
type process struct {
	control *os.File
	mutex   sync.Mutex // guards control
	// done is closed when the command has ended and all its output was handed on.
	done chan struct{}
	// exitCode and err are set then; an error means that it was ended from outside.
	exitCode int
	err      error
}

// start returns once the command runs.
func (m *machine) start(what execution) (*process, error) {
	leave, err := m.enter()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(m.run, what.id)
	if err := errors.Join(os.Mkdir(folder, 0o700), os.Chmod(folder, 0o755)); err != nil { //nolint:gosec // the command opens its pipes
		leave()
		return nil, err
	}
	pipes, err := openPipes(folder, "control", "status", "stdout", "stderr")
	if err != nil {
		leave()
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	_ = pipes["control"].reader.Close() // the command reads it
	environment := m.environment()
	maps.Copy(environment, what.environment)
	argv := append([]string{"/bin/sh", "-c", starter, "sh", insideRun + "/" + what.id}, what.argv...)

	started := make(chan error, 2)
	var readers sync.WaitGroup
	readers.Go(func() { readStatus(pipes["status"], started) })
	for _, stream := range []string{"stdout", "stderr"} {
		readers.Go(func() { readOutput(pipes[stream], func(content []byte) { what.output(stream, content) }) })
	}
	p := &process{control: pipes["control"].keeper, done: make(chan struct{})}
	go func() {
		defer leave()
		result, err := m.backend.Exec(m.context, m.marks.Name, backends.Command{Argv: argv, Environment: environment, WorkingDirectory: what.directory})
		for name, one := range pipes {
			if name != "control" {
				_ = one.keeper.Close() // now readers see the end
			}
		}
		readers.Wait()
		p.exitCode, p.err = result.ExitCode, err
		if err == nil && len(result.Stderr) > 0 { // the starter itself could not go on
			what.output("stderr", result.Stderr)
		}
		p.mutex.Lock()
		_ = p.control.Close()
		p.control = nil
		p.mutex.Unlock()
		if err == nil {
			err = fmt.Errorf("the command could not be executed: %s", strings.TrimSpace(string(result.Stderr)))
		}
		_ = os.RemoveAll(folder) // the whole run folder goes with the session
		close(p.done)
		started <- err
	}()
	if err := <-started; err != nil {
		<-p.done
		return nil, err
	}
	return p, nil
}

func readStatus(from pipe, started chan<- error) {
	defer from.reader.Close()
	content := make([]byte, 64)
	count, _ := from.reader.Read(content) // the end is told by the executor
	switch strings.TrimSpace(string(content[:count])) {
	case "started":
		started <- nil
	case "missing":
		started <- errNoExecutable
	}
}

func readOutput(from pipe, output func([]byte)) {
	defer from.reader.Close()
	content := make([]byte, 32<<10)
	for {
		count, err := from.reader.Read(content)
		if count > 0 {
			output(content[:count])
		}
		if err != nil {
			return
		}
	}
}

// signal sends one to the command; one that has ended is left alone.
func (p *process) signal(number int) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.control != nil {
		_, _ = fmt.Fprintln(p.control, number) // it may end at any moment
	}
}

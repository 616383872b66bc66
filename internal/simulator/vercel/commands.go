package vercel

import (
	"errors"
	"maps"
	"net/http"
	"path"
	"slices"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

type commandBody struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Cwd     string            `json:"cwd"`
	Env     map[string]string `json:"env"`
	Sudo    bool              `json:"sudo"`
	Wait    bool              `json:"wait"`
	Logs    bool              `json:"logs"`
	Timeout *int64            `json:"timeout"`
}

type commandAnswer struct {
	Command commandView `json:"command"`
}

// runCommand answers with the command at once, or with a stream that ends when the command does.
func (s *Simulator) runCommand(w http.ResponseWriter, r *http.Request) error {
	var body commandBody
	if err := decodeBody(s.readBody(r), &body); err != nil {
		return err
	}
	if body.Command == "" {
		return badRequest("should have required property `command`")
	}
	if body.Timeout != nil && *body.Timeout < 1 {
		return badRequest("`timeout` should be >= 1")
	}
	if body.Cwd != "" && !path.IsAbs(body.Cwd) {
		return badRequest("`cwd` should be absolute")
	}
	c, err := s.startCommand(r, body)
	if err != nil {
		return err
	}
	if !body.Wait {
		writeJSON(w, http.StatusOK, commandAnswer{c.started()})
		return nil
	}
	lines := newLineWriter(w)
	if err := lines.write(commandAnswer{c.started()}); err != nil {
		return errClientGone
	}
	if body.Logs {
		if err := c.log.follow(r.Context(), func(line logLine) error { return lines.write(line) }); err != nil {
			return errClientGone
		}
	}
	select {
	case <-c.ended:
	case <-r.Context().Done():
		return errClientGone
	}
	if c.lost() {
		if !body.Logs {
			_ = lines.write(logLine{Stream: "error", Data: errorDetail{codeStopped, "The sandbox was stopped while the command ran."}})
		}
		return nil
	}
	_ = lines.write(commandAnswer{c.view()}) // the client may be gone, which is its own affair
	return nil
}

func (s *Simulator) startCommand(r *http.Request, body commandBody) (*command, error) {
	sn, _, err := s.runningSession(r)
	if err != nil {
		return nil, err
	}
	environment := maps.Clone(sn.Env)
	if environment == nil {
		environment = map[string]string{}
	}
	maps.Copy(environment, body.Env)
	if body.Sudo {
		if !s.settings.SudoWithoutRoot {
			s.mutex.Unlock()
			return nil, unsupported("it runs no command as root; see its setting sudoWithoutRoot")
		}
		environment["HOME"] = "/root"
	}
	c := &command{
		ID: randomID("cmd_"), Name: body.Command, Args: append([]string{}, body.Args...), Cwd: body.Cwd, SessionID: sn.ID,
		StartedAt: s.now(), log: newCommandLog(), ended: make(chan struct{}),
	}
	if c.Cwd == "" {
		c.Cwd = sn.Cwd
	}
	sn.Commands = append(sn.Commands, c)
	s.mutex.Unlock()

	started, err := s.execute(r, sn, c, environment)
	if err != nil {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		sn.Commands = slices.DeleteFunc(sn.Commands, func(other *command) bool { return other == c })
		if ended := usableSession(sn); ended != nil { // that is why
			return nil, ended
		}
		return nil, s.explain(err, body.Command)
	}
	timeout := int64(0)
	if body.Timeout != nil {
		timeout = *body.Timeout
	}
	s.watch(c, started, timeout)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.save()
	return c, nil
}

func (s *Simulator) execute(r *http.Request, sn *session, c *command, environment map[string]string) (*process, error) {
	m, err := s.machineOf(r.Context(), sn)
	if err != nil {
		return nil, err
	}
	return m.start(execution{
		id: c.ID, argv: append([]string{c.Name}, c.Args...), directory: path.Clean(c.Cwd), environment: environment, output: c.log.write,
	})
}

// explain makes an answer of what the executor says. The mutex is held.
func (s *Simulator) explain(err error, program string) error {
	if errors.Is(err, errNoExecutable) {
		return fail(s.settings.executableNotFound(), codeNoExecutable, "The executable %q was not found.", program)
	}
	var known *backends.Error
	if errors.As(err, &known) && known.Kind == backends.Invalid && known.Object == "working_directory" {
		return badRequest("`cwd` is not a directory of the sandbox")
	}
	return err
}

// command returns the one that the path names, of a session that runs. The mutex is not held.
func (s *Simulator) command(r *http.Request) (*command, error) {
	sn, _, err := s.runningSession(r)
	if err != nil {
		return nil, err
	}
	defer s.mutex.Unlock()
	found := slices.IndexFunc(sn.Commands, func(c *command) bool { return c.ID == r.PathValue("command") && c.log != nil })
	if found < 0 {
		return nil, notFound("Command")
	}
	return sn.Commands[found], nil
}

func (s *Simulator) listCommands(w http.ResponseWriter, r *http.Request) error {
	sn, _, err := s.runningSession(r)
	if err != nil {
		return err
	}
	defer s.mutex.Unlock()
	views := []commandView{}
	for _, c := range slices.Backward(sn.Commands) {
		views = append(views, c.view())
	}
	writeJSON(w, http.StatusOK, struct {
		Commands []commandView `json:"commands"`
	}{views})
	return nil
}

// patience is how long the answer to a wait may take before its head is sent: clients give up on a
// server that says nothing for 300 seconds.
const patience = 120 * time.Second

func (s *Simulator) getCommand(w http.ResponseWriter, r *http.Request) error {
	wait, err := boolean(r, "wait")
	if err != nil {
		return err
	}
	c, err := s.command(r)
	if err != nil {
		return err
	}
	early := false
	if wait {
		select {
		case <-c.ended:
		case <-r.Context().Done():
			return errClientGone
		case <-time.After(patience):
			early = true
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush() // as good as it gets
			select {
			case <-c.ended:
			case <-r.Context().Done():
				return errClientGone
			}
		}
	}
	if c.lost() {
		if early {
			return errClientGone // the answer breaks off
		}
		return fail(http.StatusGone, codeStopped, "The sandbox was stopped while the command ran.")
	}
	writeJSON(w, http.StatusOK, commandAnswer{c.view()})
	return nil
}

// commandLogs replays the output from its beginning and follows it to the end of the command.
func (s *Simulator) commandLogs(w http.ResponseWriter, r *http.Request) error {
	c, err := s.command(r)
	if err != nil {
		return err
	}
	lines := newLineWriter(w)
	if err := lines.begin(); err != nil {
		return errClientGone
	}
	if err := c.log.follow(r.Context(), func(line logLine) error { return lines.write(line) }); err != nil {
		return errClientGone
	}
	return nil
}

// signals are those that a kill may send.
var signals = []int{1, 2, 3, 9, 15, 18, 19}

func (s *Simulator) killCommand(w http.ResponseWriter, r *http.Request) error {
	body := struct {
		Signal int `json:"signal"`
	}{15}
	if err := decodeBody(s.readBody(r), &body); err != nil {
		return err
	}
	if !slices.Contains(signals, body.Signal) {
		return badRequest("`signal` should be equal to one of the allowed values")
	}
	c, err := s.command(r)
	if err != nil {
		return err
	}
	c.signal(body.Signal)
	writeJSON(w, http.StatusOK, commandAnswer{c.view()})
	return nil
}

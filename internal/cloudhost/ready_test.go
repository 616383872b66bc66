package cloudhost

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/effects"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/sshguest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/simkit"
)

func behaviorOf(command string, status int) sshguest.Behavior {
	if command == "" {
		return sshguest.Behavior{}
	}
	return sshguest.Behavior{Statuses: map[string]int{command: status}}
}

// unready is a create that fails its readiness, by itself or at a moment, and returns what the state keeps.
func (p *place) unready(at moment) Host {
	p.t.Helper()
	_, err := p.manager.Create(p.until(at), request(), nil)
	var partial *PartialError
	if !errors.As(err, &partial) {
		p.t.Fatalf("it is no partial error: %v", err)
	}
	return partial.Host
}

const tattle = "the output of the remote"

// Each step of readiness has an error of its own, which says nothing of what the host printed. The host
// stays, uncommitted, and an update resumes it.
func TestNotReady(t *testing.T) {
	t.Parallel()
	otherKey := mustKeyPair(t).private
	for name, test := range map[string]struct {
		behavior sshguest.Behavior
		want     sandbox.Code
		end      moment // zero: it ends by itself
	}{
		"silence":                {sshguest.Behavior{Silent: true}, CodeSSHUnreachable, moment{effects.Before, "connect", 1}},
		"refused key":            {sshguest.Behavior{RefuseLogin: true}, CodeSSHAuthentication, moment{effects.After, "connect", 1}},
		"other host key":         {sshguest.Behavior{HostKey: otherKey}, CodeHostKeyMismatch, moment{}},
		"cloud-init failed":      {behaviorOf("cloud-init", 1), CodeCloudInit, moment{}},
		"cloud-init absent":      {behaviorOf("cloud-init", 127), CodeCloudInit, moment{}},
		"cloud-init goes on":     {behaviorOf("cloud-init", 124), CodeCloudInit, moment{effects.After, "cloud-init status", 3}},
		"cloud-init hangs":       {sshguest.Behavior{Hang: "cloud-init"}, CodeCloudInit, moment{effects.Before, "cloud-init status", 1}},
		"script unfinished":      {behaviorOf("test -f", 1), CodeBootstrap, moment{}},
		"engine down":            {behaviorOf("docker version", 1), CodeDocker, moment{effects.After, "docker version", 2}},
		"no compose":             {behaviorOf("docker compose", 1), CodeCompose, moment{}},
		"no rsync":               {behaviorOf("rsync", 127), CodeRsync, moment{}},
		"connection breaks":      {sshguest.Behavior{Break: "rsync"}, CodeSSHUnreachable, moment{}},
		"no next key":            {behaviorOf("next-host-key", 1), CodeRotation, moment{}},
		"no switch":              {behaviorOf("switch-host-key", 1), CodeRotation, moment{}},
		"a deaf server":          {sshguest.Behavior{DeafServer: true}, CodeRotation, moment{effects.After, "connect", 2}},
		"breaks with the switch": {sshguest.Behavior{Break: "switch-host-key"}, CodeRotation, moment{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			test.behavior.Says = tattle
			p.guests.Behave(test.behavior)
			_, err := p.manager.Create(p.until(test.end), request(), nil)
			fails(t, err, test.want)
			var partial *PartialError
			if !errors.As(err, &partial) {
				t.Fatalf("it is no partial error: %v", err)
			}
			if strings.Contains(err.Error(), tattle) || strings.Contains(err.Error(), "PRIVATE KEY") {
				t.Errorf("the error tells what the host printed: %v", err)
			}
			host := partial.Host
			if host.Committed || !host.CreatedForStart() || host.ServerID == 0 || host.Attachment.Token == "" {
				t.Errorf("kept was %+v", host)
			}
			if seen := p.read(host); seen.Status != StatusIncomplete {
				t.Errorf("it reads %q", seen.Status)
			}
			if _, err := p.manager.DialEngine(t.Context(), host.RecordID); !errors.Is(err, CodeIncomplete) {
				t.Errorf("the engine of an incomplete host: %v", err)
			}
			p.guests.Behave(sshguest.Behavior{})
			result, err := p.manager.Update(p.bounded(time.Minute), host.Attachment, request(), nil)
			if err != nil || !result.Resumed || result.Host.ServerID != host.ServerID {
				t.Fatalf("the update: %+v, %v", result, err)
			}
			p.settled()
		})
	}
}

// Finished is finished, whether cloud-init calls it clean or degraded.
func TestCloudInitDegraded(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.guests.Behave(behaviorOf("cloud-init", 2))
	p.create(request())
	p.settled()
}

// Without an engine asked for, none is waited for.
func TestNoEngine(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.guests.Behave(behaviorOf("docker", 127))
	wish := request()
	wish.DockerPackages = PackagesNone
	host := p.create(wish)
	for _, command := range p.guests.Ran() {
		if strings.Contains(command, "docker") {
			t.Errorf("it was asked: %s", command)
		}
	}
	_, err := p.manager.DialEngine(t.Context(), host.RecordID)
	fails(t, err, CodeDocker)
}

// A wait that the deadline ends keeps what there is, and says so.
func TestServerNeverComes(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.must(p.api.InjectAction(simulator.ActionFault{Command: "create_server", Never: true}))
	host := p.unready(moment{effects.After, "GET /actions", 2})
	if host.ServerID == 0 || host.Committed {
		t.Errorf("kept was %+v", host)
	}
	for _, action := range p.api.Inventory().Actions {
		if action.Command == "create_server" {
			p.must(p.api.EndAction(action.ID))
		}
	}
	p.update(host, request())
	p.settled()
}

// A create that fails before there is a server has removed what it made, whatever the reason.
func TestCreateFails(t *testing.T) {
	t.Parallel()
	var faults []simkit.Fault
	for _, path := range []string{"/ssh_keys", "/primary_ips", "/servers"} {
		faults = append(faults,
			simkit.Fault{Method: "POST", Path: path, Status: 403, Code: "resource_limit_exceeded"},
			simkit.Fault{Method: "POST", Path: path, Status: 500, Code: "server_error"},
			simkit.Fault{Method: "POST", Path: path, Status: 503, Body: "<html>"},
			simkit.Fault{Method: "POST", Path: path, Cut: simkit.CutBefore},
			simkit.Fault{Method: "POST", Path: path, Status: 422, Code: "invalid_input"},
		)
	}
	for i, fault := range faults {
		t.Run(fmt.Sprintf("%d %s %d", i, fault.Path, fault.Status), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.inject(fault)
			_, err := p.manager.Create(p.bounded(time.Minute), request(), nil)
			var partial *PartialError
			if err == nil || errors.As(err, &partial) {
				t.Fatalf("it ends with %v", err)
			}
			p.empty()
			p.create(request())
			p.settled()
		})
	}
}

// A lost answer is no second resource: what was made is found by its labels and adopted.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/ssh_keys", "/primary_ips", "/servers"} {
		for name, fault := range map[string]simkit.Fault{
			"cut":             {Cut: simkit.CutAfter},
			"bad gateway":     {Status: 502, Code: "bad_gateway", Effect: true},
			"gateway timeout": {Status: 504, Code: "timeout", Effect: true, Count: 2},
			"server error":    {Status: 500, Code: "server_error", Effect: true},
			"no JSON":         {Status: 500, Body: "<html>", Effect: true},
			"half an answer":  {Status: 201, Body: `{"server":`, Header: map[string]string{"Content-Type": "application/json"}, Effect: true},
		} {
			t.Run(path+" "+name, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t, simulator.Settings{ListLag: 40})
				fault.Method, fault.Path = "POST", path
				p.inject(fault)
				p.create(request())
				p.settled()
			})
		}
	}
}

// An accepted request can fail later, with the server left or not.
func TestActionFails(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]simulator.ActionFault{
		"create, left":    {Command: "create_server"},
		"create, removed": {Command: "create_server", Remove: true},
		"start":           {Command: "start_server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.must(p.api.InjectAction(fault))
			_, err := p.manager.Create(p.bounded(time.Minute), request(), nil)
			if err == nil || !strings.Contains(err.Error(), "ended with the error") {
				t.Errorf("it ends with %v", err)
			}
			p.empty()
		})
	}
}

// A create that is cut off before there is a server, or before it knows that there is one, removes what it
// made.
func TestCreateCanceled(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		fault *simkit.Fault
		end   moment
	}{
		"before the key":     {nil, moment{effects.Before, "POST /ssh_keys", 1}},
		"before the server":  {nil, moment{effects.Before, "POST /servers", 1}},
		"behind the key":     {&simkit.Fault{Method: "POST", Path: "/ssh_keys", Cut: simkit.CutAfter}, moment{effects.After, "POST /ssh_keys", 1}},
		"behind the address": {&simkit.Fault{Method: "POST", Path: "/primary_ips", Cut: simkit.CutAfter}, moment{effects.After, "POST /primary_ips", 1}},
		"behind the server":  {&simkit.Fault{Method: "POST", Path: "/servers", Cut: simkit.CutAfter}, moment{effects.After, "POST /servers", 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, simulator.Settings{ListLag: 40})
			if row.fault != nil {
				p.inject(*row.fault)
			}
			_, err := p.manager.Create(p.until(row.end), request(), nil)
			if err == nil {
				t.Error("it did not fail")
			}
			p.empty()
		})
	}
}

// Names that are taken: nothing of others is touched, and what was made for it goes.
func TestNamesTaken(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(p *place){
		"server": func(p *place) { p.foreignServer(build, map[string]string{"some": "label"}) },
		"address": func(p *place) {
			_, err := p.vendor().CreatePrimaryIP(p.t.Context(), "sandlot-build-ipv4", "fsn1", map[string]string{"sandlot.owner": "somebody", "sandlot.record": "r"})
			p.must(err)
		},
		"key": func(p *place) {
			_, err := p.vendor().CreateSSHKey(p.t.Context(), "sandlot-build", mustKeyPair(p.t).public, nil)
			p.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			take(p)
			before := p.api.Inventory()
			_, err := p.manager.Create(p.bounded(time.Minute), request(), nil)
			fails(t, err, sandbox.CodeNotOurs)
			after := p.api.Inventory()
			if len(after.Servers) != len(before.Servers) || len(after.PrimaryIPs) != len(before.PrimaryIPs) || len(after.SSHKeys) != len(before.SSHKeys) {
				t.Errorf("there is %+v, was %+v", after, before)
			}
		})
	}
}

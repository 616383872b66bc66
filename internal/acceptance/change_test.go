package acceptance_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

// effect is what section 6 of the design says that a change does.
type effect string

const (
	inPlace    effect = "in place, id kept"
	stateOnly  effect = "state and record only"
	noDiff     effect = "used at creation only"
	replaced   effect = "replacement"
	startsOver effect = "replacement that starts a new generation"
	refused    effect = "error"
)

// change is one row of the table.
type change struct {
	name     string
	kind     string // the resource; persistent when empty
	backends string // where the row applies, by spaces; everywhere when empty
	// attribute is what the plan has to show changed, and nothing else.
	attribute     string
	before, after string
	effect        effect
	// code is that of the warning or error which the plan has to have, "" for none.
	code string
	// live is true where the engine makes the change without another container.
	live bool
	// keeps lists further lines that both sides have.
	keeps []string
}

func (c change) resource() string {
	if c.kind == "" {
		return persistent
	}
	return c.kind
}

func (c change) address() string { return c.resource() + "." + c.name }

// changeRows is the table of section 6, as far as these resources have the attributes. %[1]s is a
// directory on the host, %[2]s the tag of the workspace, %[3]s an image and %[4]s another one.
func changeRows() []change {
	docker, local, vercel := "docker", "local", "vercel"
	purge := []string{`on_destroy = "purge"`}
	return []change{
		{name: "session_name", kind: session, attribute: "name", before: `name = "a-%[2]s"`, after: `name = "b-%[2]s"`, effect: replaced, code: "data_lost"},
		{name: "session_image", kind: session, backends: docker, attribute: "source", before: `source = { image = "%[3]s" }`, after: `source = { image = "%[4]s" }`, effect: replaced, code: "data_lost"},
		{name: "session_rootfs", kind: session, backends: local, attribute: "source", before: `source = { rootfs = "%[1]s/root-a" }`, after: `source = { rootfs = "%[1]s/root-b" }`, effect: replaced, code: "data_lost"},
		{name: "name_retain", attribute: "name", before: `name = "c-%[2]s"`, after: `name = "d-%[2]s"`, effect: refused, code: "purge_first"},
		{name: "name_purge", attribute: "name", before: `name = "e-%[2]s"`, after: `name = "f-%[2]s"`, effect: replaced, code: "data_lost", keeps: purge},
		{name: "workspace_retain", attribute: "workspace_id", before: `workspace_id = "a-%[2]s"`, after: `workspace_id = "b-%[2]s"`, effect: refused, code: "purge_first"},
		{name: "workspace_purge", attribute: "workspace_id", before: `workspace_id = "c-%[2]s"`, after: `workspace_id = "d-%[2]s"`, effect: replaced, code: "data_lost", keeps: purge},
		{name: "image_retain", backends: docker, attribute: "source", before: `source = { image = "%[3]s" }`, after: `source = { image = "%[4]s" }`, effect: refused, code: "purge_first"},
		{name: "image_purge", backends: docker, attribute: "source", before: `source = { image = "%[3]s" }`, after: `source = { image = "%[4]s" }`, effect: replaced, code: "data_lost", keeps: purge},
		{name: "rootfs_retain", backends: local, attribute: "source", before: `source = { rootfs = "%[1]s/root-a" }`, after: `source = { rootfs = "%[1]s/root-b" }`, effect: refused, code: "purge_first"},
		{name: "rootfs_dropped", backends: local, attribute: "source", before: `source = { rootfs = "%[1]s/root-a" }`, after: ``, effect: refused, code: "purge_first"},
		{name: "rootfs_purge", backends: local, attribute: "source", before: `source = { rootfs = "%[1]s/root-a" }`, after: `source = { rootfs = "%[1]s/root-b" }`, effect: replaced, code: "data_lost", keeps: purge},
		{name: "backend_local", backends: local, attribute: "backend", before: ``, after: "backend = \"docker\"\n  source = { image = \"debian\" }", effect: refused, code: "purge_first"},
		{name: "session_runtime", kind: session, backends: vercel, attribute: "source", before: `source = { runtime = "node22" }`, after: `source = { runtime = "node24" }`, effect: replaced, code: "data_lost"},
		{name: "runtime_retain", backends: vercel, attribute: "source", before: `source = { runtime = "node22" }`, after: `source = { runtime = "node24" }`, effect: refused, code: "purge_first"},
		{name: "runtime_dropped", backends: vercel, attribute: "source", before: `source = { runtime = "node22" }`, after: ``, effect: refused, code: "purge_first"},
		{name: "runtime_purge", backends: vercel, attribute: "source", before: `source = { runtime = "node22" }`, after: `source = { runtime = "node24" }`, effect: replaced, code: "data_lost", keeps: purge},
		{name: "vcr_retain", backends: vercel, attribute: "source", before: `source = { image = "team/one:1" }`, after: `source = { image = "team/two:1" }`, effect: refused, code: "purge_first"},
		{name: "vcr_purge", backends: vercel, attribute: "source", before: `source = { image = "team/one:1" }`, after: `source = { image = "team/two:1" }`, effect: replaced, code: "data_lost", keeps: purge},
		{name: "backend_vercel", backends: vercel, attribute: "backend", before: ``, after: `backend = "local"`, effect: refused, code: "purge_first"},
		{name: "backend_docker", backends: docker, attribute: "backend", before: ``, after: "backend = \"local\"\n  source = null", effect: refused, code: "purge_first"},

		{name: "generation_retain", attribute: "generation", before: ``, after: `generation = 2`, effect: startsOver, code: "retained"},
		{name: "generation_purge", attribute: "generation", before: `generation = 1`, after: `generation = 2`, effect: startsOver, code: "data_lost", keeps: purge},
		{name: "generation_lower", attribute: "generation", before: `generation = 3`, after: `generation = 2`, effect: refused, code: "generation_lowered"},

		{name: "setup", attribute: "setup", before: seed, after: strings.Replace(seed, "4096", "8", 1), effect: noDiff},

		{name: "environment", attribute: "environment", before: `environment = { A = "1", B = "1" }`, after: `environment = { A = "2", C = "" }`, effect: inPlace},
		{name: "environment_gone", attribute: "environment", before: `environment = { A = "1" }`, after: ``, effect: inPlace},
		{name: "secrets", attribute: "secret_environment_wo_version", before: `secret_environment_wo_version = 1`, after: `secret_environment_wo_version = 2`, effect: inPlace, keeps: []string{`secret_environment_wo = { TOKEN = var.token }`}},
		{name: "working_directory", backends: "local docker", attribute: "working_directory", before: `working_directory = "/workspace"`, after: `working_directory = "/tmp"`, effect: inPlace},
		{name: "mounts", backends: "local docker", attribute: "mounts", before: `mounts = [{ source = "%[1]s/root-a", target = "/mnt/a" }]`, after: `mounts = [{ source = "%[1]s/root-b", target = "/mnt/b", read_only = true }, { source = "%[1]s/root-a", target = "/mnt/a" }]`, effect: inPlace},
		{name: "network", attribute: "network", before: `network = { mode = "deny-all" }`, after: `network = { mode = "allow-all" }`, effect: inPlace},
		{name: "labels", attribute: "labels", before: `labels = { a = "1" }`, after: `labels = { a = "2", b = "1" }`, effect: inPlace},
		{name: "user", backends: docker, attribute: "user", before: `user = "0"`, after: `user = "agent"`, effect: inPlace},
		{name: "command", backends: docker, attribute: "command", before: ``, after: `command = ["sleep", "5000"]`, effect: inPlace},
		{name: "ports", backends: docker, attribute: "ports", before: `ports = [{ port = 81 }]`, after: `ports = [{ port = 82, protocol = "udp" }, { port = 81 }]`, effect: inPlace},
		{name: "volumes", backends: docker, attribute: "volumes", before: ``, after: `volumes = { data = { target = "/data" } }`, effect: inPlace},
		{name: "volume_gone", backends: docker, attribute: "volumes", before: `volumes = { data = { target = "/data" } }`, after: ``, effect: inPlace, code: "retained"},
		{name: "cpus", backends: docker, attribute: "cpus", before: `cpus = 1`, after: `cpus = 0.5`, effect: inPlace, live: true},
		{name: "memory", backends: docker, attribute: "memory_mib", before: `memory_mib = 64`, after: `memory_mib = 96`, effect: inPlace, live: true},
		{name: "memory_gone", backends: docker, attribute: "memory_mib", before: `memory_mib = 64`, after: ``, effect: inPlace},
		{name: "main_timeout", backends: docker, attribute: "timeout", before: `timeout = "1h"`, after: `timeout = "2h"`, effect: inPlace},
		{name: "docker_block", backends: docker, attribute: "docker", before: `docker = { pids_limit = 100 }`, after: `docker = { pids_limit = 200, add_capabilities = ["NET_RAW"] }`, effect: inPlace},

		{name: "local_user", backends: local, attribute: "user", before: ``, after: `user = "0"`, effect: refused, code: "unsupported"},
		{name: "local_command", backends: local, attribute: "command", before: ``, after: `command = ["true"]`, effect: refused, code: "unsupported"},
		{name: "local_ports", backends: local, attribute: "ports", before: ``, after: `ports = [{ port = 80 }]`, effect: refused, code: "unsupported"},
		{name: "local_volumes", backends: local, attribute: "volumes", before: ``, after: `volumes = { a = { target = "/a" } }`, effect: refused, code: "unsupported"},
		{name: "local_cpus", backends: local, attribute: "cpus", before: ``, after: `cpus = 1`, effect: refused, code: "unsupported"},
		{name: "local_memory", backends: local, attribute: "memory_mib", before: ``, after: `memory_mib = 64`, effect: refused, code: "unsupported"},
		{name: "local_timeout", backends: local, attribute: "timeout", before: ``, after: `timeout = "1h"`, effect: refused, code: "unsupported"},
		{name: "local_docker", backends: local, attribute: "docker", before: ``, after: `docker = {}`, effect: refused, code: "unsupported"},

		{name: "restricted", backends: vercel, attribute: "network", before: `network = { mode = "restricted", allow_domains = ["a.example"] }`, after: `network = { mode = "restricted", allow_domains = ["b.example", "*.c.example"], allow_cidrs = ["192.0.2.0/24"], deny_cidrs = ["192.0.2.7/32"] }`, effect: inPlace},
		{name: "public_ports", backends: vercel, attribute: "ports", before: `ports = [{ port = 3000, public = true }]`, after: `ports = [{ port = 3001, public = true }, { port = 3000, protocol = "tcp", public = true }]`, effect: inPlace},
		{name: "ports_gone", backends: vercel, attribute: "ports", before: `ports = [{ port = 3000, public = true }]`, after: ``, effect: inPlace},
		{name: "vcpus", backends: vercel, attribute: "cpus", before: `cpus = 2`, after: `cpus = 4`, effect: inPlace},
		{name: "memory_pair", backends: vercel, attribute: "memory_mib", before: `memory_mib = 4096`, after: `memory_mib = 8192`, effect: inPlace},
		{name: "vcpus_gone", backends: vercel, attribute: "cpus", before: `cpus = 4`, after: ``, effect: inPlace},
		{name: "longer", backends: vercel, attribute: "timeout", before: `timeout = "10m"`, after: `timeout = "20m"`, effect: inPlace},
		{name: "shorter", backends: vercel, attribute: "timeout", before: `timeout = "20m"`, after: ``, effect: inPlace},
		{name: "failover", backends: vercel, attribute: "vercel", before: `vercel = { region = "iad1" }`, after: `vercel = { region = "iad1", failover_regions = ["sfo1", "fra1"] }`, effect: inPlace},
		{name: "retention_gone", backends: vercel, attribute: "snapshot_retention", before: `snapshot_retention = { keep_last = 2, expiration = "48h" }`, after: ``, effect: stateOnly},

		{name: "vercel_user", backends: vercel, attribute: "user", before: ``, after: `user = "0"`, effect: refused, code: "unsupported"},
		{name: "vercel_directory", backends: vercel, attribute: "working_directory", before: ``, after: `working_directory = "/tmp"`, effect: refused, code: "unsupported"},
		{name: "vercel_command", backends: vercel, attribute: "command", before: ``, after: `command = ["true"]`, effect: refused, code: "unsupported"},
		{name: "vercel_mounts", backends: vercel, attribute: "mounts", before: ``, after: `mounts = [{ source = "%[1]s/root-a", target = "/mnt/a" }]`, effect: refused, code: "unsupported"},
		{name: "vercel_volumes", backends: vercel, attribute: "volumes", before: ``, after: `volumes = { a = { target = "/a" } }`, effect: refused, code: "unsupported"},
		{name: "vercel_docker", backends: vercel, attribute: "docker", before: ``, after: `docker = {}`, effect: refused, code: "unsupported"},
		{name: "vercel_port", backends: vercel, attribute: "ports", before: ``, after: `ports = [{ port = 3000 }]`, effect: refused, code: "unsupported"},
		{name: "vercel_low_port", backends: vercel, attribute: "ports", before: ``, after: `ports = [{ port = 80, public = true }]`, effect: refused, code: "unsupported"},
		{name: "vercel_cpus", backends: vercel, attribute: "cpus", before: ``, after: `cpus = 3`, effect: refused, code: "unsupported"},
		{name: "vercel_memory", backends: vercel, attribute: "memory_mib", before: ``, after: `memory_mib = 1024`, effect: refused, code: "unsupported"},
		{name: "vercel_labels", backends: vercel, attribute: "labels", before: ``, after: `labels = { a = "", b = "", c = "" }`, effect: refused, code: "unsupported"},
		{name: "vercel_timeout", backends: vercel, attribute: "timeout", before: ``, after: `timeout = "25h"`, effect: refused, code: "unsupported"},
		{name: "vercel_environment", backends: vercel, attribute: "environment", before: ``, after: `environment = { A = "` + strings.Repeat("x", 4096) + `" }`, effect: refused, code: "unsupported"},
		{name: "vercel_capability", backends: vercel, attribute: "require_capabilities", before: ``, after: `require_capabilities = ["mounts"]`, effect: refused, code: "unsupported"},

		{name: "desired_state", attribute: "desired_state", before: `desired_state = "running"`, after: `desired_state = "stopped"`, effect: inPlace, live: true},
		{name: "checkpoint", attribute: "checkpoint_trigger", before: ``, after: `checkpoint_trigger = "now"`, effect: inPlace, live: true},

		{name: "on_destroy", attribute: "on_destroy", before: ``, after: `on_destroy = "purge"`, effect: stateOnly},
		{name: "on_missing", attribute: "on_missing", before: ``, after: `on_missing = "keep"`, effect: stateOnly},
		{name: "timeouts", attribute: "timeouts", before: ``, after: `timeouts = { read = "1m" }`, effect: stateOnly},
		{name: "retention", attribute: "snapshot_retention", before: ``, after: `snapshot_retention = { keep_last = 2 }`, effect: stateOnly},
		{name: "capabilities", attribute: "require_capabilities", before: ``, after: `require_capabilities = ["persistent"]`, effect: stateOnly},
	}
}

// volatile attributes may become unknown by any change that touches the compute.
var volatile = []string{"session_id?", "current_session_id?", "endpoints?"}

// changeRun carries the table through one workspace.
type changeRun struct {
	*fixture
	rows   []change
	places []any
	before map[string]identity
}

// identity is what must not change, from outside the provider where that is possible.
type identity struct{ id, recordID, name, mark, container, hash string }

func (r *changeRun) config(after func(change) bool) string {
	var b strings.Builder
	b.WriteString(secretVariable)
	for _, row := range r.rows {
		lines := slices.Clone(row.keeps)
		side := row.before
		if after(row) {
			side = row.after
		}
		if side != "" {
			for _, line := range strings.Split(side, "\n") {
				lines = append(lines, fmt.Sprintf(strings.TrimSpace(line)+"%[5]s", append(slices.Clone(r.places), "")...))
			}
		}
		if !strings.Contains(row.before, "name =") && !strings.Contains(row.before, "workspace_id =") {
			lines = append(lines, fmt.Sprintf("name = %q", r.rowName(row)))
		}
		if row.attribute != "setup" {
			lines = append(lines, seed)
		}
		b.WriteString(r.block(row.resource(), row.name, lines...))
	}
	return b.String()
}

func (r *changeRun) rowName(row change) string {
	return r.Unique(strings.ReplaceAll(row.name, "_", "-"))
}

func (r *changeRun) identify(state *acctest.State, row change) identity {
	address := row.address()
	name := strings.TrimPrefix(state.Text(address, "id"), r.backend+"/")
	found := identity{id: state.Text(address, "id"), recordID: state.Text(address, "record_id"), name: name, mark: r.mark(name, "record"), hash: r.fileHash(name, keptFile)}
	found.container = r.container(name)
	return found
}

// TestAccWhatAChangeDoes makes every change of the table for real. Plan actions come from the CLI,
// identities and file hashes from the engine or the disk.
func TestAccWhatAChangeDoes(t *testing.T) {
	onEach(t, func(f *fixture) {
		host := f.t.TempDir()
		f.Setenv("TF_VAR_token", "canary-"+f.Tag)
		run := &changeRun{fixture: f, before: map[string]identity{}, places: []any{host, f.Tag, f.image, ""}}
		if f.docker() {
			run.places[3] = f.engine.MakeImage(f.image, f.Tag, "ENV OTHER=1")
		}
		for _, root := range []string{"root-a", "root-b"} {
			makeRootfs(f.t, filepath.Join(host, root))
		}
		for _, row := range changeRows() {
			if row.backends == "" || slices.Contains(strings.Fields(row.backends), f.backend) {
				run.rows = append(run.rows, row)
			}
		}
		f.Config(run.config(func(change) bool { return false }))
		f.settled()
		state := f.Show()
		for _, row := range run.rows {
			run.before[row.name] = run.identify(state, row)
		}
		unsupported := func(c change) bool { return c.code == "unsupported" }
		if slices.ContainsFunc(run.rows, unsupported) {
			run.refusals(unsupported)
		}
		run.refusals(func(c change) bool { return !unsupported(c) })
		f.Setenv("TF_VAR_token", "other-"+f.Tag)
		run.others()
	}, everywhere()...)
}

// refusals plans all changes that must fail at once: each has to have its own error. What a backend
// cannot honor stops every plan before anything is compared, so it has a plan of its own.
func (r *changeRun) refusals(chosen func(change) bool) {
	isRefused := func(c change) bool { return c.effect == refused && chosen(c) }
	r.Config(r.config(isRefused))
	plan := r.Plan()
	if plan.ExitCode != 1 {
		r.t.Fatalf("the plan does not fail:\n%s", plan)
	}
	errors := plan.Diagnostics.Errors()
	for _, row := range r.rows {
		found := slices.DeleteFunc(slices.Clone(errors), func(d acctest.Diagnostic) bool { return d.Address != row.address() })
		switch {
		case !isRefused(row) && len(found) > 0:
			r.t.Errorf("%s is refused:\n%s", row.name, found[0])
		case !isRefused(row):
		case len(found) == 0:
			r.t.Errorf("%s is not refused", row.name)
		case found[0].Code != row.code:
			r.t.Errorf("%s: the code is %q, not %q:\n%s", row.name, found[0].Code, row.code, found[0])
		case found[0].Attribute() != row.attribute && row.after != "":
			r.t.Errorf("%s: the error is on %q, not on %q:\n%s", row.name, found[0].Attribute(), row.attribute, found[0])
		}
	}
}

// others makes all changes that are possible, in one apply.
func (r *changeRun) others() {
	r.Config(r.config(func(c change) bool { return c.effect != refused }))
	plan := r.Plan()
	plan.Succeed()
	planned := plan.JSON()
	for _, row := range r.rows {
		r.checkPlan(row, plan, planned.Resource(row.address()))
	}
	r.ApplyPlan(plan).Succeed()
	r.Plan().Empty()
	state := r.Show()
	for _, row := range r.rows {
		r.checkAfter(row, r.before[row.name], r.identify(state, row), state)
	}
}

func (r *changeRun) checkPlan(row change, plan *acctest.Plan, planned acctest.ResourceChange) {
	r.t.Helper()
	actions := strings.Join(planned.Change.Actions, ",")
	expected := map[effect]string{inPlace: "update", stateOnly: "update", noDiff: "no-op", replaced: "delete,create", startsOver: "delete,create", refused: "no-op"}[row.effect]
	if actions != expected {
		r.t.Errorf("%s: the plan is %q, expected %q: %v", row.name, actions, expected, planned.Differences())
	}
	warnings := plan.Diagnostics.Warnings().Code(row.code)
	warned := slices.ContainsFunc(warnings, func(d acctest.Diagnostic) bool { return d.Address == row.address() })
	if row.effect != refused && row.code != "" && !warned {
		r.t.Errorf("%s: the plan does not warn with %q", row.name, row.code)
	}
	if row.effect != inPlace && row.effect != stateOnly {
		return
	}
	shown := slices.DeleteFunc(planned.Differences(), func(name string) bool {
		return row.effect == inPlace && slices.Contains(volatile, name) ||
			row.name == "desired_state" && name == "status" || row.name == "checkpoint" && name == "current_snapshot_id?"
	})
	if !slices.Equal(shown, []string{row.attribute}) {
		r.t.Errorf("%s: the plan changes %q, expected %q only", row.name, shown, row.attribute)
	}
}

func (r *changeRun) checkAfter(row change, was, is identity, state *acctest.State) {
	r.t.Helper()
	if is.mark != is.recordID {
		r.t.Errorf("%s: the sandbox is marked with record %q, the state says %q", row.name, is.mark, is.recordID)
	}
	switch row.effect {
	case replaced, startsOver:
		if is.recordID == was.recordID || is.hash == was.hash || is.hash == "" {
			r.t.Errorf("%s: it is not a new one: %+v, before %+v", row.name, is, was)
		}
		kept := row.effect == startsOver && row.code == "retained"
		if r.exists(was.name) != (kept || was.name == is.name) {
			r.t.Errorf("%s: that the old one is there is %t", row.name, r.exists(was.name))
		}
		if row.effect == startsOver && is.name != was.name+"-g2" {
			r.t.Errorf("%s: the new name is %q, the old one %q", row.name, is.name, was.name)
		}
		if kept && r.fileHash(was.name, keptFile) != was.hash {
			r.t.Errorf("%s: the retained one lost its file", row.name)
		}
		return
	}
	container := is.container
	was.container, is.container = "", ""
	if was != is {
		r.t.Errorf("%s: identity or data changed: %+v, before %+v", row.name, is, was)
	}
	remade := row.effect == inPlace && !row.live && r.docker()
	if changed := container != r.before[row.name].container; changed != remade {
		r.t.Errorf("%s: that the container changed is %t, expected %t", row.name, changed, remade)
	}
	if r.cloud != nil {
		r.checkEnvironment(row, r.cloud.must(is.name).Env)
	}
	switch row.name {
	case "desired_state":
		if r.running(is.name) {
			r.t.Error("desired_state: it still runs")
		}
	case "checkpoint":
		if state.Text(row.address(), "current_snapshot_id") == "" {
			r.t.Error("checkpoint: there is no snapshot")
		}
	}
}

// checkEnvironment looks at what the platform tells nobody.
func (r *changeRun) checkEnvironment(row change, found map[string]string) {
	r.t.Helper()
	wanted := map[string]map[string]string{
		"environment": {"A": "2", "C": ""}, "environment_gone": {}, "secrets": {"TOKEN": "other-" + r.Tag},
	}[row.name]
	if wanted != nil && !maps.Equal(wanted, found) {
		r.t.Errorf("%s: the environment is %v", row.name, found)
	}
}

// TestAccCreationOnlySources: where a sandbox was restored or cloned from is no difference later.
func TestAccCreationOnlySources(t *testing.T) {
	onEach(t, func(f *fixture) {
		const restored, clone = persistent + ".restored", session + ".clone"
		stopped := ""
		if f.cloud != nil {
			stopped = `desired_state = "stopped"` // what is cloned is what a stop saved
		}
		config := func(trigger, original string) string {
			return f.block(persistent, "a", f.named("a"), seed, fmt.Sprintf("checkpoint_trigger = %q", trigger)) +
				f.block(persistent, "b", f.named("b"), seed, stopped) +
				f.block(persistent, "restored", f.named("restored"), `source = { snapshot_id = sandlot_persistent_sandbox.a.current_snapshot_id }`) +
				f.block(session, "clone", f.named("clone"), fmt.Sprintf("source = { clone_of = sandlot_persistent_sandbox.%s.id }", original))
		}
		first := f.block(persistent, "a", f.named("a"), seed)
		f.Config(first)
		f.Apply().Succeed()
		f.Config(strings.Replace(first, seed, seed+"\n  checkpoint_trigger = \"1\"", 1))
		f.settled()
		f.Config(config("1", "b"))
		f.settled()
		state := f.Show()
		if f.mustHash(f.Unique("restored")) != f.mustHash(f.Unique("a")) || f.mustHash(f.Unique("clone")) != f.mustHash(f.Unique("b")) {
			f.t.Error("the files did not come along")
		}
		f.Config(config("2", "a"))
		f.Plan().Does("update " + persistent + ".a")
		f.settled()
		after := f.Show()
		if state.Text(persistent+".a", "current_snapshot_id") == after.Text(persistent+".a", "current_snapshot_id") {
			f.t.Error("there is no new checkpoint")
		}
		for _, address := range []string{restored, clone} {
			if state.Text(address, "record_id") != after.Text(address, "record_id") || state.Text(address, "source") != after.Text(address, "source") {
				f.t.Errorf("%s was touched", address)
			}
		}
	}, everywhere()...)
}

// makeRootfs makes a root file system of one static program.
func makeRootfs(t *testing.T, dir string) {
	t.Helper()
	for _, sub := range []string{"bin", "etc", "tmp", "usr", "lib", "dev", "proc", "workspace", "home", "mnt", "run", "var"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.ReadFile(busybox(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "busybox"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sh", "head", "cat", "sleep", "setpriv"} {
		if err := os.Symlink("busybox", filepath.Join(dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
}

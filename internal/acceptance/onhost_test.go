package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/hetzner/sshguest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// TestSandboxOnCloudHost: a host and a sandbox on it come in one apply. While the host sleeps, nothing is
// planned for the sandbox, and what would need it is refused. The SSH server leads to the engine of this
// machine, which stands for the host's.
func TestSandboxOnCloudHost(t *testing.T) {
	image := testkit.DockerImage(t)
	engine := acctest.DockerEngine(t)
	socket, local := strings.CutPrefix(engine.Host(), "unix://")
	testkit.Need(t, "docker", local, "the engine has no socket on this machine")
	withGuests(t, sshguest.Config{Engine: socket}, func(p *project) {
		engine.CleanUp("sandlot.owner=" + p.Owner)
		// Nothing but the host's own way may lead to an engine.
		p.Setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
		const box, file, command = persistent + ".box", "sandlot_file.it", "sandlot_command.it"
		name := p.Unique("box")
		with := func(host string, lines ...string) string {
			return p.host("it", host) + fmt.Sprintf(`
resource "sandlot_persistent_sandbox" "box" {
  backend       = "docker"
  cloud_host_id = sandlot_cloud_host.it.id
  name          = %q
  source        = { image = %q }
  %s
}
`, name, image, strings.Join(lines, "\n  "))
		}
		inside := `
resource "sandlot_file" "it" {
  sandbox_id = sandlot_persistent_sandbox.box.id
  path       = "a.txt"
  content    = "on a host"
}
resource "sandlot_command" "it" {
  sandbox_id = sandlot_file.it.sandbox_id
  command    = ["cat", "a.txt"]
}
`
		p.Config(with("") + inside)
		p.Plan().Does("create "+hostAddress, "create "+box, "create "+file, "create "+command)
		p.settled()
		state := p.Show()
		if id := state.Text(box, "id"); id != "docker@"+p.Unique("it")+"/"+name {
			p.t.Errorf("the id is %s", id)
		}
		if output := state.Text(command, "stdout"); output != "on a host" {
			p.t.Errorf("the command printed %q", output)
		}
		if !engine.MustContainer(name).State.Running {
			p.t.Error("the container does not run")
		}

		// Workspaces and what only looks find their way, too.
		p.Config(with("") + inside + fmt.Sprintf(`
resource "sandlot_workspace_runtime" "w" {
  backend       = "docker"
  cloud_host_id = sandlot_cloud_host.it.id
  workspace_id  = %q
  source        = { image = %q }
  on_destroy    = "purge"
}
data "sandlot_workspace_runtime" "w" {
  backend       = "docker"
  cloud_host_id = sandlot_cloud_host.it.id
  workspace_id  = %q
  depends_on    = [sandlot_workspace_runtime.w]
}
data "sandlot_sandboxes" "there" {
  backend       = "docker"
  cloud_host_id = sandlot_cloud_host.it.id
  depends_on    = [sandlot_workspace_runtime.w, sandlot_persistent_sandbox.box]
}
data "sandlot_handle" "w" {
  record_id = sandlot_workspace_runtime.w.record_id
  shape     = "workspace-resource"
}
output "ids" { value = [for s in data.sandlot_sandboxes.there.sandboxes : s.id] }
output "found" { value = "${data.sandlot_workspace_runtime.w.id} ${data.sandlot_workspace_runtime.w.state}" }
output "handle" { value = data.sandlot_handle.w.json }
`, p.Unique("w"), image, p.Unique("w")))
		p.settled()
		runtime := p.Show().Text(workspaceRuntime+".w", "id")
		for output, want := range map[string]string{
			"ids": runtime, "found": runtime + " ready", "handle": `"provider":"docker"`,
		} {
			if text := fmt.Sprint(p.Show().Output(output)); !strings.Contains(text, want) || !strings.HasPrefix(runtime, "docker@"+p.Unique("it")+"/") {
				p.t.Errorf("the output %s is %s, the runtime %s", output, text, runtime)
			}
		}
		p.Config(with("") + inside)
		p.Apply().Succeed()

		p.Config(with(`desired_state = "sleeping"`) + inside)
		p.Apply().Succeed()
		p.Plan().Empty().Warn("host_sleeping")
		p.Apply(acctest.Args("-refresh-only")).Succeed()
		if status := p.Show().Text(box, "status"); status != "host_sleeping" {
			p.t.Errorf("the status is %q", status)
		}
		p.Plan().Empty()
		p.Config(with(`desired_state = "sleeping"`, `environment = { A = "1" }`) + inside)
		if plan := p.Plan().FailWith("host_sleeping"); plan.Diagnostics.Errors()[0].Attribute() != "cloud_host_id" {
			p.t.Errorf("the error is on %s", plan.Diagnostics.Errors()[0].Attribute())
		}
		p.Config(with(`desired_state = "sleeping"`, `on_destroy = "purge"`) + inside)
		p.Apply().Succeed()
		p.Destroy(acctest.Target(box)).FailWith("host_sleeping")
		p.Config(with(`desired_state = "sleeping"`, `on_destroy = "retain"`))
		p.Apply().Succeed()

		// Retained without waking the host, and taken back when it is awake.
		p.Config(p.host("it", `desired_state = "sleeping"`))
		p.Apply().Succeed()
		if engine.MustContainer(name); p.only().Status != "off" {
			p.t.Error("the host was woken")
		}
		p.Config(with(`desired_state = "running"`, `on_destroy = "purge"`) + inside)
		p.Apply().Succeed()
		p.settled()
		if output := p.Show().Text(command, "stdout"); output != "on a host" {
			p.t.Errorf("taken back, the command printed %q", output)
		}

		// Another host is another place.
		p.StateRm(box).Succeed()
		p.Import(box, "docker@"+p.Unique("it")+"/"+name).Succeed()
		p.Plan().Empty()
		p.Config(strings.Replace(with(`desired_state = "running"`, `on_destroy = "purge"`)+inside, `desired_state = "running"`, `on_destroy = "purge"`, 1))
		p.settled()
		p.Destroy().Succeed()
		p.nothing()
		if _, found := engine.Container(name); found {
			p.t.Error("the container is left")
		}
	})
}

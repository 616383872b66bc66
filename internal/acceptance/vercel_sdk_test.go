package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// node runs a script of tools/sdk with the vendor's SDK, on the fixture's simulator. Besides the credentials
// it gets the outputs of the workspace, and nothing else.
func (f *fixture) node(script string, result any) {
	f.t.Helper()
	packages := filepath.Join(acctest.Root(), ".build", "sdk", "node_modules")
	_, err := os.Stat(filepath.Join(packages, "@vercel", "sandbox", "package.json"))
	program, lookErr := exec.LookPath("node")
	testkit.Need(f.t, "npm", err == nil && lookErr == nil, "install Node 20 with npm and run scripts/sdk.sh")
	outputs := f.Run("output", acctest.Args("-json")).Succeed().Stdout
	// Node looks for packages beside the script.
	folder := f.t.TempDir()
	if err := os.Symlink(packages, filepath.Join(folder, "node_modules")); err != nil {
		f.t.Fatal(err)
	}
	for _, name := range []string{script, "harness.mjs"} {
		content := readAll(f.t, filepath.Join(acctest.Root(), "tools", "sdk", name))
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			f.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, program, script)
	command.Dir = folder
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "VERCEL_TELEMETRY_DISABLED=1", "OUTPUTS=" + outputs,
		"SIMULATOR_ORIGIN=" + f.cloud.server.Origin(), "SIMULATOR_TOKEN=" + f.cloud.server.Token(),
		"SIMULATOR_TEAM=" + simulator.DefaultTeam, "SIMULATOR_PROJECT=" + simulator.DefaultProject.ID,
	}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		f.t.Fatalf("%s: %v\n%s", script, err, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), result); err != nil {
		f.t.Fatalf("%s reports no JSON: %v\n%s", script, err, stdout.String())
	}
}

// TestVercelSDKAttaches: the vendor's SDK attaches to what Terraform made by nothing but outputs: names,
// records in both shapes of the platform, and the environment of an application. It reads what
// sandlot_file wrote, runs commands and resumes what is stopped. Terraform sees no difference after that.
func TestVercelSDKAttaches(t *testing.T) {
	onOne(t, func(f *fixture) {
		f.Config(f.block(persistent, "it", f.named("box"), `environment = { COLOR = "green" }`) +
			f.block(session, "it", f.named("brief"), `timeout = "20m"`) +
			f.block(workspaceRuntime, "it", f.workspaceID("ticket"), `kind = "persistent"`, `timeout = "15m"`,
				`template = { version = "1", files = { "TASK.md" = { content = "Go on.\n" } } }`) + `
resource "sandlot_file" "it" {
  sandbox_id = sandlot_persistent_sandbox.it.id
  path       = "notes/a.txt"
  content    = "written by Terraform\n"
}
data "sandlot_handle" "persistent" {
  record_id = sandlot_workspace_runtime.it.record_id
  shape     = "vercel-persistent"
}
data "sandlot_handle" "session" {
  record_id    = sandlot_sandbox.it.record_id
  workspace_id = "a-session"
  shape        = "vercel-session"
}
output "name" { value = sandlot_persistent_sandbox.it.name }
output "workspace" { value = sandlot_persistent_sandbox.it.workspace }
output "file" { value = sandlot_file.it.path }
output "content" { value = sandlot_file.it.content }
output "persistent_record" { value = data.sandlot_handle.persistent.json }
output "session_record" { value = data.sandlot_handle.session.json }
output "session_name" { value = sandlot_sandbox.it.name }
output "agent_environment" { value = sandlot_workspace_runtime.it.agent_environment }
output "workspace_id" { value = sandlot_workspace_runtime.it.workspace_id }
`)
		f.settled()
		// Somebody's session is over by now: the SDK resumes the sandbox, and the record does not mind.
		f.cloud.stop(f.Unique("box"))
		before := f.cloud.sessions()
		var sessions struct{ Named, Workspace string }
		f.node("attach.mjs", &sessions)
		if made := f.cloud.sessions() - before; made != 1 || sessions.Named != f.cloud.must(f.Unique("box")).Session {
			f.t.Errorf("the SDK made %d sessions, the last is %s", made, sessions.Named)
		}
		name := f.Show().Text("sandlot_workspace_runtime.it", "name")
		if sessions.Workspace != f.cloud.must(name).Session {
			f.t.Errorf("the workspace's session is %s", sessions.Workspace)
		}
		if content, _ := f.cloud.readFile(name, "done.txt"); string(content) != "by the application" {
			f.t.Errorf("the application's file holds %q", content)
		}
		f.Plan().Does() // the outputs that tell the present sessions and times, and no resource
		f.Apply(acctest.Args("-refresh-only")).Succeed()
		f.Plan().Empty()
		if made := f.cloud.sessions() - before; made != 1 {
			f.t.Errorf("%d sessions were made", made)
		}
	}, "vercel")
}

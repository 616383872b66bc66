package acceptance_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

const secretVariable = `
variable "token" {
  type      = string
  ephemeral = true
}
`

// rich are configurations that use every attribute, spell defaults out or leave them empty.
func (f *fixture) rich(mount string) string {
	persistence := []string{
		`on_missing = "keep"`, `generation = 1`, `checkpoint_trigger = "a"`,
		`snapshot_retention = { expiration = "48h", keep_last = 3 }`,
	}
	common := []string{
		`environment = { A = "1", EMPTY = "", QUOTED = "a=b \"c\"\nd" }`,
		`secret_environment_wo = { TOKEN = var.token }`, `secret_environment_wo_version = 7`,
		`network = { mode = "deny-all" }`,
		`desired_state = "running"`, `labels = { team = "a", empty = "" }`,
		`setup = [{ command = ["sh", "-c", "test \"$STEP\" = one"], environment = { STEP = "one" }, working_directory = "/", timeout = "30s" }, { command = ["sh", "-c", ":"] }]`,
		`require_capabilities = ["snapshot", "persistent"]`,
		`timeouts = { create = "3m", read = "60s", update = "3m", delete = "3m" }`,
	}
	if f.cloud == nil {
		common = append(common, `working_directory = "/tmp"`,
			fmt.Sprintf(`mounts = [{ source = %q, target = "/mnt/b", read_only = true }, { source = %q, target = "/mnt/a" }]`, mount, mount))
	}
	empty := []string{
		`environment = {}`, `labels = {}`, `mounts = []`, `setup = []`, `require_capabilities = []`, `timeouts = {}`,
	}
	if f.cloud != nil {
		common[3] = `network = { mode = "restricted", allow_domains = ["*.a.example", "b.example"], allow_cidrs = ["192.0.2.0/24"], deny_cidrs = [] }`
		common = append(common, `cpus = 1`, `memory_mib = 2048`, `timeout = "90m"`, `source = { image = "team/tools:1" }`,
			`ports = [{ port = 9090, public = true }, { port = 8080, protocol = "tcp", public = true }]`, `vercel = { region = "iad1", failover_regions = [] }`)
		empty = append(empty, `ports = []`, `volumes = {}`, `vercel = {}`)
	}
	if f.docker() {
		common[3] = `network = { mode = "allow-all" }`
		common = append(common,
			`cpus = 0.5`, `memory_mib = 64`, `user = "1000:1000"`, `timeout = "60m"`,
			`command = ["sh", "-c", "trap 'exit 0' TERM; while true; do sleep 1 & wait; done"]`,
			`ports = [{ port = 9090, public = false }, { port = 8080, protocol = "udp" }, { port = 80 }, { port = 8080, protocol = "tcp", public = true }]`,
			`volumes = { data = { target = "/data" }, cache = { target = "/cache" } }`,
			`docker = { runtime = "runc", pids_limit = 100, add_capabilities = ["SYS_CHROOT", "NET_RAW"], allow_engine_socket = false, pull_policy = "never" }`)
		empty = append(empty, `ports = []`, `volumes = {}`, `docker = {}`)
	}
	join := func(parts ...[]string) []string {
		var lines []string
		for _, part := range parts {
			lines = append(lines, part...)
		}
		return lines
	}
	return f.block(session, "full", join([]string{f.named("full"), `on_destroy = "purge"`}, common)...) +
		f.block(session, "empty", join([]string{f.named("empty")}, empty)...) +
		f.block(session, "least", f.named("least")) +
		f.block(persistent, "full", join([]string{f.workspaceID("full"), `on_destroy = "retain"`}, persistence, common)...) +
		f.block(persistent, "empty", join([]string{fmt.Sprintf("workspace_id = %q", "  "+f.Unique("empty")+" "), `snapshot_retention = {}`}, empty)...) +
		f.block(persistent, "least", f.named("least-kept")) +
		f.block(persistent, "stopped", f.named("stopped"), `desired_state = "stopped"`)
}

// TestAccSecondPlanIsEmpty: whatever a configuration spells out or leaves to backend and image, the
// plan after its apply is empty.
func TestAccSecondPlanIsEmpty(t *testing.T) {
	onEach(t, func(f *fixture) {
		mount := f.t.TempDir()
		if err := os.WriteFile(filepath.Join(mount, "file"), nil, 0o600); err != nil {
			f.t.Fatal(err)
		}
		f.Setenv("TF_VAR_token", "canary-"+f.Tag)
		f.Config(secretVariable + f.rich(mount))
		f.Validate().Succeed()
		f.settled()
		f.Plan(acctest.NoRefresh()).Empty()
		if f.running(f.Unique("stopped")) || !f.running(f.Unique("least")) {
			f.t.Error("the run states are not those that were asked for")
		}
		f.Apply(acctest.Args("-refresh-only")).Succeed()
		f.Plan().Empty()
		f.Destroy().Succeed()
	}, everywhere()...)
}

// TestAccImageOfItsOwnMind: what an image brings along is neither a difference nor carried into
// the state, and a short reference stays as it was written.
func TestAccImageOfItsOwnMind(t *testing.T) {
	onEach(t, func(f *fixture) {
		image := f.engine.MakeImage(f.image, f.Tag,
			"ENV FROM_IMAGE=1", "USER 1000", `CMD ["sleep","1000"]`, `ENTRYPOINT ["sh","-c"]`, "WORKDIR /home/agent", "LABEL from.image=yes", "EXPOSE 81", "VOLUME /declared")
		source := fmt.Sprintf("source = { image = %q }", image)
		f.Config(f.block(session, "a", source, f.named("a")) +
			f.block(persistent, "a", source, f.named("b"), `environment = { OWN = "1" }`, seed) +
			f.block(persistent, "same", source, f.named("c"), `environment = { FROM_IMAGE = "1" }`, `user = "1000"`, `labels = { "from.image" = "yes" }`))
		f.settled()
		state := f.Show()
		if text := state.Text(persistent+".a", "source"); text != fmt.Sprintf("map[clone_of:<nil> git:<nil> image:%s rootfs:<nil> runtime:<nil> snapshot_id:<nil> tarball_url:<nil>]", image) {
			f.t.Errorf("the source in the state is %s", text)
		}
		for _, attribute := range []string{"user", "command", "working_directory", "ports", "volumes", "labels"} {
			if text := state.Text(session+".a", attribute); text != "" {
				f.t.Errorf("%s is %s in the state, and nobody asked for it", attribute, text)
			}
		}
		before := f.mustHash(f.Unique("b"))
		f.Config(f.block(session, "a", source, f.named("a")) +
			f.block(persistent, "a", source, f.named("b"), `environment = { OWN = "2" }`, seed) +
			f.block(persistent, "same", source, f.named("c"), `environment = { FROM_IMAGE = "2" }`, `user = "1000"`, `labels = { "from.image" = "no" }`))
		f.Plan().Does("update "+persistent+".a", "update "+persistent+".same")
		f.settled()
		if f.mustHash(f.Unique("b")) != before {
			f.t.Error("the file in the workspace changed")
		}
		f.Config("")
		f.Apply().Succeed()
	}, "docker")
}

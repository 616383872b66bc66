package acceptance_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// drift is one attribute changed by hand outside.
type drift struct {
	attribute string
	change    func(f *fixture, name string)
}

// remake changes a container by making it again, with the same labels of ours.
func remake(alter func(config, hostConfig map[string]any)) func(f *fixture, name string) {
	return func(f *fixture, name string) { f.engine.Remake(name, alter) }
}

func update(limits map[string]any) func(f *fixture, name string) {
	return func(f *fixture, name string) { f.engine.Update(name, limits) }
}

// record changes the specification in the file of a local sandbox.
func record(alter func(spec map[string]any)) func(f *fixture, name string) {
	return func(f *fixture, name string) {
		f.editRecord(name, func(record map[string]any) {
			spec, ok := record["spec"].(map[string]any)
			if !ok {
				f.t.Fatalf("the record has no specification: %v", record)
			}
			alter(spec)
		})
	}
}

// patch changes a sandbox of a platform as its own client would.
func patch(request api.UpdateRequest) func(f *fixture, name string) {
	return func(f *fixture, name string) {
		f.t.Helper()
		_, err := f.cloud.client.UpdateSandbox(f.t.Context(), name, request)
		f.cloud.check(err)
	}
}

// vercelDrifts leave out the environment and the secrets, which the platform tells nobody, and memory,
// which follows from the CPUs.
func vercelDrifts() []drift {
	expires := api.Span(72 * time.Hour)
	return []drift{
		{"cpus", patch(api.UpdateRequest{Resources: &api.Resources{VCPUs: 4, Memory: 8192}})},
		{"labels", func(f *fixture, name string) { f.cloud.relabel(name, "a", "by hand") }},
		{"timeout", patch(api.UpdateRequest{Timeout: api.Span(10 * time.Minute)})},
		{"ports", patch(api.UpdateRequest{Ports: []int{3000, 4000}})},
		{"network", patch(api.UpdateRequest{NetworkPolicy: &api.NetworkPolicy{Mode: api.PolicyCustom, AllowedDomains: []string{"a.example", "by-hand.example"}}})},
		{"vercel", patch(api.UpdateRequest{Region: "iad1", FailoverRegions: []string{"fra1"}})},
		{"snapshot_retention", patch(api.UpdateRequest{RemoveKeepLast: true, SnapshotExpiration: expires})},
	}
}

func drifts(f *fixture) []drift {
	if f.cloud != nil {
		return vercelDrifts()
	}
	if !f.docker() {
		return []drift{
			{"environment", record(func(spec map[string]any) { spec["environment"] = map[string]any{"A": "by hand"} })},
			{"labels", record(func(spec map[string]any) { delete(spec, "labels") })},
			{"working_directory", record(func(spec map[string]any) { spec["working_directory"] = "/workspace" })},
			{"mounts", record(func(spec map[string]any) { spec["mounts"].([]any)[0].(map[string]any)["read_only"] = false })},
			{"network", record(func(spec map[string]any) { spec["network"] = map[string]any{"mode": "host"} })},
			{"secret_environment_wo_version", func(f *fixture, name string) {
				if err := os.WriteFile(f.sandboxDir(name)+"/secrets.json", []byte("{}"), 0o600); err != nil {
					f.t.Fatal(err)
				}
			}},
		}
	}
	environment := func(config map[string]any, drop string, add ...any) {
		config["Env"] = append(slices.DeleteFunc(config["Env"].([]any), func(entry any) bool { return strings.HasPrefix(entry.(string), drop) }), add...)
	}
	return []drift{
		{"cpus", update(map[string]any{"NanoCpus": 250_000_000})},
		{"memory_mib", update(map[string]any{"Memory": 128 << 20, "MemorySwap": 128 << 20})},
		{"environment", remake(func(config, _ map[string]any) { environment(config, "A=", "A=by hand") })},
		{"secret_environment_wo_version", remake(func(config, _ map[string]any) { environment(config, "TOKEN=") })},
		{"labels", remake(func(config, _ map[string]any) { config["Labels"].(map[string]any)["a"] = "by hand" })},
		{"ports", remake(func(config, host map[string]any) {
			config["ExposedPorts"] = map[string]any{"82/tcp": map[string]any{}}
			host["PortBindings"] = map[string]any{"82/tcp": []any{map[string]any{"HostIp": "127.0.0.1"}}}
		})},
		{"command", remake(func(config, _ map[string]any) {
			entry := config["Entrypoint"].([]any)
			entry[len(entry)-1] = "4321"
		})},
		{"timeout", remake(func(config, _ map[string]any) { config["Entrypoint"].([]any)[3] = "1800" })},
		{"user", remake(func(config, _ map[string]any) { config["User"] = "0" })},
		{"working_directory", remake(func(config, _ map[string]any) { config["WorkingDir"] = "/workspace" })},
		{"mounts", remake(func(_, host map[string]any) {
			for _, m := range host["Mounts"].([]any) {
				if m := m.(map[string]any); m["Type"] == "bind" {
					m["ReadOnly"] = false
				}
			}
		})},
		{"volumes", remake(func(_, host map[string]any) {
			host["Mounts"] = slices.DeleteFunc(host["Mounts"].([]any), func(m any) bool { return m.(map[string]any)["Target"] == "/data" })
		})},
		{"network", remake(func(_, host map[string]any) {
			host["NetworkMode"] = "none"
			delete(host, "PortBindings")
		})},
		{"docker", remake(func(_, host map[string]any) { host["PidsLimit"] = 77 })},
	}
}

// TestAccChangedOutside: an attribute that somebody changed behind the provider's back shows as
// that attribute and nothing else, looking touches nothing, and an apply mends it.
func TestAccChangedOutside(t *testing.T) {
	onEach(t, func(f *fixture) {
		f.Setenv("TF_VAR_token", "canary-"+f.Tag)
		rows := drifts(f)
		lines := []string{
			`environment = { A = "1", B = "2" }`, `labels = { a = "1" }`,
			`secret_environment_wo = { TOKEN = var.token }`, `secret_environment_wo_version = 3`,
			`on_destroy = "purge"`, seed,
		}
		if f.cloud != nil {
			lines = append(lines, `cpus = 2`, `timeout = "20m"`, `ports = [{ port = 3000, public = true }]`, `network = { mode = "restricted", allow_domains = ["a.example"] }`,
				`vercel = { region = "iad1", failover_regions = ["sfo1"] }`, `snapshot_retention = { keep_last = 2 }`)
		} else {
			lines = append(lines, `working_directory = "/tmp"`, fmt.Sprintf(`mounts = [{ source = %q, target = "/mnt/a", read_only = true }]`, f.t.TempDir()))
		}
		if f.docker() {
			lines = append(lines, `cpus = 0.5`, `memory_mib = 64`, `user = "1000"`, `command = ["sleep", "5000"]`, `timeout = "1h"`,
				`volumes = { data = { target = "/data" } }`, `docker = { pids_limit = 55 }`)
		}
		config := secretVariable
		for _, row := range append(rows, drift{attribute: "nothing"}) {
			own := append(slices.Clone(lines), fmt.Sprintf("name = %q", f.driftName(row)))
			if f.docker() && row.attribute != "network" {
				own = append(own, `ports = [{ port = 81 }]`)
			}
			config += f.block(persistent, row.attribute, own...)
		}
		f.Config(config)
		f.settled()
		hashes := map[string]string{}
		for _, row := range rows {
			name := f.driftName(row)
			hashes[name] = f.mustHash(name)
			row.change(f, name)
		}
		watched := f.watch()
		var planned *acctest.PlanJSON
		acctest.Untouched(f.t, f.DataDir, func() {
			plan := f.Plan()
			plan.Succeed()
			planned = plan.JSON()
		})
		watched.onlyReads("the plan")
		for _, row := range rows {
			found := planned.Resource(persistent + "." + row.attribute)
			shown := slices.DeleteFunc(found.Differences(), func(name string) bool { return slices.Contains(volatile, name) })
			if !slices.Equal(shown, []string{row.attribute}) || !slices.Equal(found.Change.Actions, []string{"update"}) {
				f.t.Errorf("%s was changed outside; the plan is %q and changes %q", row.attribute, found.Change.Actions, shown)
			}
		}
		if actions := planned.Resource(persistent + ".nothing").Change.Actions; !slices.Equal(actions, []string{"no-op"}) {
			f.t.Errorf("nothing was changed outside; the plan is %q", actions)
		}
		f.settled()
		for name, hash := range hashes {
			if f.mustHash(name) != hash {
				f.t.Errorf("%s lost its file", name)
			}
		}
	}, everywhere()...)
}

func (f *fixture) driftName(row drift) string {
	return f.Unique(strings.ReplaceAll(strings.TrimPrefix(row.attribute, "secret_environment_wo_"), "_", "-"))
}

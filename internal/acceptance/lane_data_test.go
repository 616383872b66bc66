package acceptance_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestAccLaneAndRuntimeAreTold: what the data sources tell is what the resources are, a handle that
// is printed parses back to the same object, and manifest_hash is the hash that is planned.
func TestAccLaneAndRuntimeAreTold(t *testing.T) {
	onEach(t, func(f *fixture) {
		manifest := `{
    name             = "web"
    template_version = "told-` + f.Tag + `"
    commands         = [["sh", "-c", "echo one > base.txt"]]
    template_files   = { "notes/a.txt" = { content = "a", mode = "0600" } }
    ` + f.source() + `
  }`
		looks := `
data "sandlot_base_snapshot" "it" {
  backend    = ` + lane + `.backend
  app        = "shop"
  depends_on = [` + lane + `]
}
data "sandlot_base_snapshot" "absent" {
  backend = "` + f.backend + `"
  app     = "absent"
}
data "sandlot_workspace_runtime" "it" {
  backend      = ` + work + `.backend
  workspace_id = ` + work + `.workspace_id
  depends_on   = [` + work + `]
}
data "sandlot_workspace_runtime" "absent" {
  backend      = "` + f.backend + `"
  workspace_id = "absent"
}
data "sandlot_handle" "it" {
  record_id = ` + work + `.record_id
  shape     = "workspace-resource"
}
output "parsed" { value = provider::sandlot::parse_handle(data.sandlot_handle.it.json) }
output "printed" { value = data.sandlot_handle.it.json }
output "same_hash" { value = local.hash == ` + lane + `.manifest_hash }
`
		locals := `
locals {
  manifest    = ` + manifest + `
  environment = { STAGE = "ci" }
  hash        = provider::sandlot::manifest_hash(local.manifest, local.environment, ["LANG"])
}
`
		f.Config(locals + f.block(baseSnapshot, "it", `app = "shop"`, `manifest = local.manifest`, `environment = local.environment`, `environment_allowlist = ["LANG"]`) +
			f.runtime("it", "told", `template = { version = "3" }`) + looks)
		planned := f.Plan().Planned().JSON()
		hash, _ := planned.Resource(lane).Change.After["manifest_hash"].(string)
		if len(hash) != 64 || !strings.Contains(string(planned.Raw), `"same_hash":{"actions":["create"],"before":null,"after":true`) {
			f.t.Errorf("the hash is not known at plan, or not the function's: %q", hash)
		}
		f.settled()
		state := f.Show()
		if state.Output("same_hash") != true || state.Text(lane, "manifest_hash") != hash {
			f.t.Error("the function and the resource disagree about the hash")
		}
		same := func(resource, data string, attributes ...string) {
			f.t.Helper()
			for _, attribute := range attributes {
				is, told := state.Values(resource)[attribute], state.Values(data)[attribute]
				if !reflect.DeepEqual(is, told) || is == nil {
					f.t.Errorf("%s: %s is %v, and is told as %v", resource, attribute, is, told)
				}
			}
		}
		same(lane, "data."+lane, "id", "record_id", "status", "snapshot_id", "version", "manifest_hash", "history")
		same(work, "data."+work, "id", "record_id", "name", "handle", "handle_kind", "state", "status", "kind",
			"current_session_id", "applied_base_snapshot_id", "applied_base_snapshot_version", "applied_template_version", "agent_environment")
		for _, absent := range []string{"data." + baseSnapshot + ".absent", "data." + workspaceRuntime + ".absent"} {
			if state.Text(absent, "exists") != "false" {
				f.t.Errorf("%s exists", absent)
			}
		}

		parsed, _ := state.Output("parsed").(map[string]any)
		want := map[string]any{
			"shape": "workspace-resource", "workspace_id": f.Unique("told"), "backend": f.backend, "state": "ready",
			"kind": "persistent", "handle": state.Text(work, "handle"), "handle_kind": "persistent-name", "template_version": "3",
			"base_snapshot_id": state.Text(lane, "snapshot_id"), "base_snapshot_version": state.Text(lane, "version"),
		}
		for name, value := range want {
			if parsed[name] != value {
				f.t.Errorf("%s: the handle says %v, expected %v; it is %v", name, parsed[name], value, state.Output("printed"))
			}
		}
		if printed, _ := state.Output("printed").(string); !json.Valid([]byte(printed)) {
			f.t.Errorf("the handle is no JSON: %s", printed)
		}
	}, everywhere()...)
}

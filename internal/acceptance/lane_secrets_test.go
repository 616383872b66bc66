package acceptance_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

const bakeVariables = `
variable "token" {
  ephemeral = true
  sensitive = true
}
variable "bake" {}
variable "revision" { default = 1 }
variable "state" { default = "running" }
variable "template" { default = "1" }
`

// bakeSees is a command of a bake that finds what it was given and nothing else of the provider's own
// environment. It must not write any of it down.
const bakeSees = `commands = [["sh", "-c", "test -n \"$BAKE\" && test -n \"$ALLOWED\" && test -z \"$OWN\" && echo ok > base.txt"]]`

// TestSecretsOfBakesStandNowhere: the environment of the provider reaches no bake, that of a bake
// reaches no snapshot, and a workspace's secrets stand in no state, plan, log, error or snapshot.
func TestSecretsOfBakesStandNowhere(t *testing.T) {
	onOne(t, func(f *fixture) {
		own, allowed, bake, token := "canary-own-"+f.Tag, "canary-allowed-"+f.Tag, "canary-bake-"+f.Tag, "canary-token-"+f.Tag
		f.Setenv("OWN", own)
		f.Setenv("ALLOWED", allowed)
		f.Setenv("TF_VAR_bake", bake)
		f.Setenv("TF_VAR_token", token)
		f.Setenv("TF_LOG", "TRACE")
		f.Setenv("TF_LOG_PATH", filepath.Join(f.Home, "trace.log"))
		nowhere, snapshots := []string{own, allowed, token}, []string{own, allowed, token, bake}
		environment := []string{`environment = { BAKE = var.bake }`, `environment_allowlist = ["ALLOWED"]`}
		runtime := f.runtime("it", "w", `kind = "session"`, `secret_environment_wo = { TOKEN = var.token }`, "secret_environment_wo_version = var.revision", "desired_state = var.state",
			`checkpoint_trigger = var.template`,
			`template = { version = var.template, migrate = { command = ["sh", "-c", "echo $TOKEN; echo $TOKEN >&2; test $SANDLOT_TEMPLATE_TO != bad"] } }`,
			`setup = [{ command = ["sh", "-c", "test -n \"$TOKEN\" && test -z \"$BAKE$ALLOWED$OWN\""] }]`)
		config := bakeVariables + f.lane("it", []string{bakeSees}, environment...) + runtime

		// What a failing command of a bake says is shown without the values.
		f.Config(bakeVariables + f.lane("it", []string{`commands = [["sh", "-c", "echo it was $BAKE $ALLOWED >&2; exit 1"]]`}, environment...))
		failed := f.Apply().FailWith("bake_failed")
		mentions(f, errorText(f, failed, "bake_failed"), "it was")
		f.silent("the error of a bake", []byte(failed.Stdout+failed.Stderr), snapshots)

		f.Config(config)
		f.Apply().Succeed()
		bad := f.Apply(acctest.Var("template", "bad")).FailWith("migration_failed")
		f.silent("the error of a migration", []byte(bad.Stdout+bad.Stderr), nowhere)
		for _, options := range [][]acctest.Option{
			{acctest.Var("template", "2")}, {acctest.Var("template", "2"), acctest.Var("state", "stopped")}, {acctest.Var("template", "2"), acctest.Var("revision", "2")},
		} {
			result := f.Apply(options...).Succeed()
			f.silent("the output", []byte(result.Stdout+result.Stderr), nowhere)
			plan := f.Plan(options...).Empty()
			f.silent("the plan file", readAll(f.t, plan.File), nowhere)
		}
		f.silentTree(f.Dir, nowhere)
		f.silentTree(f.Home, nowhere)
		f.silentTree(f.DataDir, nowhere)
		f.silentTree(filepath.Join(f.DataDir, "local", "snapshots"), snapshots)
		f.silentEngine(snapshots)

		// A name that says that it is a secret is refused by name, at plan.
		f.Config(strings.Replace(config, "{ BAKE = var.bake }", "{ DEPLOY_TOKEN = var.bake }", 1))
		refused := f.Plan().FailWith("secret_name")
		mentions(f, refused.Diagnostics.Errors()[0].Detail, "DEPLOY_TOKEN")
		f.silent("the refusal", []byte(refused.Stdout+refused.Stderr), snapshots)
	}, everywhere()...)
}

package vercel

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

const repository = "../../.."

// needSDK returns the folder of the npm packages. The oldest Node that the SDK supports is 20.
func needSDK(t *testing.T) string {
	t.Helper()
	packages, err := filepath.Abs(filepath.Join(repository, ".build/sdk/node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(packages, "@vercel/sandbox/package.json"))
	testkit.Need(t, "npm", err == nil && nodeVersion() >= 20, "install Node 20 with npm and run scripts/sdk.sh")
	return packages
}

// nodeVersion is the major one, 0 without Node.
func nodeVersion() int {
	output, err := exec.Command("node", "--version").Output()
	if err != nil {
		return 0
	}
	major, _, _ := strings.Cut(strings.TrimPrefix(string(output), "v"), ".")
	version, err := strconv.Atoi(major)
	if err != nil {
		return 0
	}
	return version
}

// drive runs a script of tools/sdk against a simulator and decodes what it reports.
func drive(t *testing.T, server *Server, script string, result any) {
	t.Helper()
	packages := needSDK(t)
	// Node looks for packages beside the script.
	folder := t.TempDir()
	if err := os.Symlink(packages, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{script, "harness.mjs"} {
		content, err := os.ReadFile(filepath.Join(repository, "tools/sdk", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "node", script)
	command.Dir = folder
	command.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "VERCEL_TELEMETRY_DISABLED=1", "SIMULATOR_ORIGIN=" + server.Origin(),
		"SIMULATOR_TOKEN=" + server.Token(), "SIMULATOR_TEAM=" + DefaultTeam, "SIMULATOR_PROJECT=" + DefaultProject.ID,
	}
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, stderr.String())
	}
	if err := json.Unmarshal(stdout.Bytes(), result); err != nil {
		t.Fatalf("%s reports no JSON: %v\n%s", script, err, stdout.String())
	}
}

// TestSDK lets the vendor's own clients judge. The scripts assert what they get; what they sent is
// compared with what is on record.
func TestSDK(t *testing.T) {
	needExecutor(t)
	for _, script := range []string{"sandboxes.mjs", "commands.mjs", "files.mjs", "snapshots.mjs", "operations.mjs", "beta.mjs"} {
		t.Run(strings.TrimSuffix(script, ".mjs"), func(t *testing.T) {
			server := Start(t, Config{})
			var result object
			drive(t, server, script, &result)
			compareRequests(t, strings.TrimSuffix(script, ".mjs"), server.Requests())
		})
	}
}

// TestSDKMeetsTransitions: the SDK counts on a read with resume=true to wait for the end of a stop.
func TestSDKMeetsTransitions(t *testing.T) {
	needExecutor(t)
	server := Start(t, Config{Settings: Settings{LazyStop: 300}})
	var result object
	drive(t, server, "transition.mjs", &result)
	equal(t, "sessions made", server.Inventory().SessionsMade, 3)
	compareRequests(t, "transition", server.Requests())
}

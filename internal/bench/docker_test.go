package bench_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

// parallelism is how many resources a CLI works on at once.
const parallelism = 10

// inParallel runs work for each index, parallelism at a time.
func inParallel(count int, work func(i int)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, parallelism)
	for i := range count {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			work(i)
		})
	}
	all.Wait()
}

// rawCreate makes what a sandbox needs, a volume and a running container, by the engine's API.
func rawCreate(b *testing.B, engine *acctest.Engine, tag string, count int) time.Duration {
	b.Helper()
	image := testkit.DockerImage(b)
	label := "sandlot.bench=" + tag
	engine.CleanUp(label)
	labels := map[string]string{"sandlot.bench": tag}
	return elapsed(func() {
		inParallel(count, func(i int) {
			name := fmt.Sprintf("bench-raw-%s-%d", tag, i)
			engine.Call(http.MethodPost, "/volumes/create", map[string]any{"Name": name, "Labels": labels})
			var made struct {
				ID string `json:"Id"`
			}
			answer := engine.Call(http.MethodPost, "/containers/create?name="+name, map[string]any{
				"Image": image, "Cmd": []string{"sleep", "3600"}, "Labels": labels,
				"HostConfig": map[string]any{
					"Init": true, "CapDrop": []string{"ALL"}, "PidsLimit": 1024, "SecurityOpt": []string{"no-new-privileges"},
					"Mounts": []map[string]any{{"Type": "volume", "Source": name, "Target": "/workspace"}},
				},
			})
			if err := json.Unmarshal(answer, &made); err != nil {
				b.Error(err)
				return
			}
			engine.Call(http.MethodPost, "/containers/"+made.ID+"/start", nil)
		})
	})
}

// dockerRun does the same by the Docker CLI.
func dockerRun(b *testing.B, cli string, engine *acctest.Engine, tag string, count int) time.Duration {
	b.Helper()
	image := testkit.DockerImage(b)
	return elapsed(func() {
		inParallel(count, func(i int) {
			name := fmt.Sprintf("bench-run-%s-%d", tag, i)
			run := exec.Command(cli, "run", "--detach", "--name", name, "--label", "sandlot.bench="+tag, "--init", "--cap-drop", "ALL",
				"--pids-limit", "1024", "--security-opt", "no-new-privileges",
				"--mount", "type=volume,source="+name+",target=/workspace,volume-label=sandlot.bench="+tag, image, "sleep", "3600")
			run.Env = append(os.Environ(), "DOCKER_HOST="+engine.Host())
			if output, err := run.CombinedOutput(); err != nil {
				b.Errorf("docker run: %v\n%s", err, output)
			}
		})
	})
}

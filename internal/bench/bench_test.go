// Package bench measures what the provider costs beside floors that are measured in the same run:
// the smallest possible plugin, raw calls to the Docker engine, and `docker run`. Absolute times
// depend on the machine, so what counts are the ratios. Run it with `make bench`.
package bench_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
)

const rounds = 7

// BenchmarkStartup measures the time from the start of the plugin to its handshake, and its memory
// then. A plan starts a plugin three times, an apply four times.
func BenchmarkStartup(b *testing.B) {
	ours, least := acctest.Build(b), buildFloor(b)
	for b.Loop() {
		var times, floors []time.Duration
		var memory, floorMemory int64
		for range rounds { // taken in turns, so that a busy moment hits both
			elapsed, rss := handshake(b, ours)
			times, memory = append(times, elapsed), max(memory, rss)
			elapsed, rss = handshake(b, least)
			floors, floorMemory = append(floors, elapsed), max(floorMemory, rss)
		}
		report(b, median(times), median(floors))
		b.ReportMetric(float64(memory)/float64(floorMemory), "memory-ratio")
		b.ReportMetric(float64(memory)/1024, "memory-MiB")
	}
}

// BenchmarkNoOpPlan measures a plan without changes of 1 and of 100 local sandboxes, beside as many
// resources of the smallest plugin.
func BenchmarkNoOpPlan(b *testing.B) {
	if _, err := exec.LookPath("bwrap"); err != nil {
		b.Skip("bubblewrap is not there")
	}
	for _, count := range []int{1, 100} {
		b.Run(fmt.Sprintf("resources=%d", count), func(b *testing.B) {
			ours, least := applied(b, acctest.Build(b), sandboxes("local", count)), applied(b, buildFloor(b), things(count))
			for b.Loop() {
				mine, floor := inTurns(func() { ours.Plan().Empty() }, func() { least.Plan().Empty() })
				report(b, mine, floor)
				b.ReportMetric(float64((mine-floor).Microseconds())/float64(count)/1000, "ms-over-floor/resource")
			}
		})
	}
}

// BenchmarkDockerCreate measures the creation of 20 containers by one apply at the CLI's parallelism
// of 10, beside the same containers made by raw calls to the engine and by `docker run`.
func BenchmarkDockerCreate(b *testing.B) {
	engine := acctest.DockerEngine(b)
	const count = 20
	for b.Loop() {
		w := workspace(b, acctest.Build(b), sandboxes("docker", count))
		engine.CleanUp("sandlot.owner=" + w.Owner)
		mine := elapsed(func() { w.Apply().Succeed() })
		empty := elapsed(func() { workspace(b, acctest.Build(b), "").Apply().Succeed() })
		raw := rawCreate(b, engine, w.Tag, count)
		report(b, mine, raw)
		b.ReportMetric(float64(mine-empty)/float64(raw), "ratio-without-cli")
		if cli, err := exec.LookPath("docker"); err == nil {
			b.ReportMetric(float64(mine)/float64(dockerRun(b, cli, engine, w.Tag, count)), "ratio-to-docker-run")
		}
	}
}

// report prints both times and their ratio.
func report(b *testing.B, mine, floor time.Duration) {
	b.Helper()
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(mine.Microseconds())/1000, "ms")
	b.ReportMetric(float64(floor.Microseconds())/1000, "floor-ms")
	b.ReportMetric(float64(mine)/float64(floor), "ratio")
}

// handshake starts a plugin as a CLI does, and returns when it says where it listens.
func handshake(b *testing.B, plugin string) (took time.Duration, rssKiB int64) {
	b.Helper()
	command := exec.Command(plugin)
	command.Env = append(os.Environ(), "TF_PLUGIN_MAGIC_COOKIE=d602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2", "PLUGIN_PROTOCOL_VERSIONS=6")
	output, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	begin := time.Now()
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	took = time.Since(begin)
	if err != nil || strings.Count(line, "|") < 4 {
		b.Fatalf("no handshake but %q (%v)", line, err)
	}
	rssKiB = peakMemory(b, command.Process.Pid)
	if err := command.Process.Signal(syscall.SIGKILL); err != nil {
		b.Fatal(err)
	}
	_ = command.Wait() // it was killed
	return took, rssKiB
}

// peakMemory reads the peak of a running process. What the kernel tells of an ended one can be its
// parent's, from before it became another program.
func peakMemory(b *testing.B, pid int) (kib int64) {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &kib); err == nil {
			return kib
		}
	}
	b.Fatal("the system tells no peak of memory")
	return 0
}

func buildFloor(b *testing.B) string {
	b.Helper()
	plugin := filepath.Join(b.TempDir(), "terraform-provider-floor")
	build := exec.Command("go", "build", "-trimpath", "-o", plugin, "./internal/bench/floor")
	build.Dir, build.Env = acctest.Root(), append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, output)
	}
	return plugin
}

func cli(b *testing.B) acctest.CLI {
	b.Helper()
	for _, candidate := range []string{os.Getenv("SANDLOT_BENCH_CLI"), "terraform", "tofu"} {
		if path, err := exec.LookPath(candidate); err == nil {
			return acctest.CLI{Name: filepath.Base(path), Path: path}
		}
	}
	b.Skip("neither Terraform nor OpenTofu is there")
	return acctest.CLI{}
}

func workspace(b *testing.B, plugin, config string) *acctest.Workspace {
	b.Helper()
	w := acctest.NewWorkspace(b, cli(b), plugin)
	w.Config(config)
	if strings.Contains(plugin, "floor") {
		w.UsePlugin("sandlot-dev/floor", plugin)
		w.Write("provider.tf", "terraform {\n  required_providers {\n    floor = {\n      source = \"sandlot-dev/floor\"\n    }\n  }\n}\n")
	}
	return w
}

func applied(b *testing.B, plugin, config string) *acctest.Workspace {
	b.Helper()
	w := workspace(b, plugin, config)
	w.Apply().Succeed()
	return w
}

func sandboxes(backend string, count int) string {
	source := ""
	if backend == "docker" {
		source = "  source  = { image = \"sandlot-test/busybox:1\" }\n"
	}
	return fmt.Sprintf("resource \"sandlot_sandbox\" \"it\" {\n  count   = %d\n  backend = %q\n  name    = \"bench-${count.index}-%d\"\n%s}\n", count, backend, os.Getpid(), source)
}

func things(count int) string {
	return fmt.Sprintf("resource \"floor_thing\" \"it\" {\n  count = %d\n  name  = \"bench-${count.index}\"\n}\n", count)
}

func elapsed(work func()) time.Duration {
	begin := time.Now()
	work()
	return time.Since(begin)
}

// inTurns runs both works several times in turns and returns their medians.
func inTurns(mine, floor func()) (time.Duration, time.Duration) {
	var times, floors []time.Duration
	for range rounds {
		times, floors = append(times, elapsed(mine)), append(floors, elapsed(floor))
	}
	return median(times), median(floors)
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

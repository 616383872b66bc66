package acceptance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	simulator "github.com/sandlot-dev/terraform-provider-sandlot/internal/simulator/vercel"
)

// vercelFault is something that goes wrong at the platform under a CLI, and what its user sees. More of
// them, which a CLI adds nothing to, are in the tests of package client.
type vercelFault struct {
	name     string
	settings simulator.Settings
	// lines are attributes of the sandbox, and more are further resources.
	lines []string
	more  string
	// before brings about what the command finds, and may change lines; by default there is nothing.
	before func(f *faultRun)
	faults []simulator.Fault
	// command meets the faults; by default it is an apply.
	command func(f *faultRun) *acctest.Result
	// code is that of every error, "" for success, and says are parts of their text.
	code string
	says []string
	// holds judges what stands right after it, before the faults are over.
	holds func(f *faultRun)
	// mend makes the last apply possible where the end of the faults is not enough.
	mend func(f *faultRun)
	// sessions are those that the command and the last apply make together.
	sessions int
	// gone: nothing is left in the end.
	gone bool
}

// faultRun is a row that runs.
type faultRun struct {
	*fixture
	lines []string
	more  string
}

// configure writes the configuration of the row.
func (f *faultRun) configure(lines ...string) {
	f.t.Helper()
	f.lines = append(f.lines, lines...)
	f.Config(f.vercelBox(f.lines...) + f.more)
}

func (f *faultRun) name() string { return f.Unique("box") }

func (f *faultRun) inject(faults ...simulator.Fault) {
	f.t.Helper()
	f.cloud.check(f.cloud.server.Inject(faults...))
}

// TestVercelFaults: a command that meets a fault ends with the right error, or with none. The next apply
// gets there, the plan after that is empty, and there are one sandbox, as many sessions as needed, and
// no snapshot that belongs to nothing.
func TestVercelFaults(t *testing.T) {
	t.Parallel()
	clis := acctest.CLIs(t)
	if len(clis) == 0 {
		t.Skip("no CLI is there")
	}
	for i, fault := range vercelFaults() {
		cli := clis[i%len(clis)]
		t.Run(strings.ReplaceAll(fault.name, " ", "_")+"/"+cli.Name, func(t *testing.T) {
			t.Parallel()
			f := &faultRun{fixture: newFixture(t, cli, "vercel"), lines: fault.lines, more: fault.more}
			f.cloud.check(f.cloud.server.Configure(fault.settings))
			f.configure()
			if fault.before != nil {
				fault.before(f)
			}
			began := f.cloud.sessions()
			f.inject(fault.faults...)
			if fault.command == nil {
				fault.command = func(f *faultRun) *acctest.Result { return f.Apply() }
			}
			f.judge(fault.command(f), fault.code, fault.says)
			for _, left := range f.cloud.server.Faults() {
				if left.Count > 0 {
					t.Errorf("this fault was never met: %+v", left)
				}
			}
			if fault.holds != nil {
				fault.holds(f)
			}
			f.cloud.server.ClearFaults()
			if fault.mend != nil {
				fault.mend(f)
			}
			f.ends(fault)
			if made := f.cloud.sessions() - began; made != fault.sessions {
				t.Errorf("%d sessions were made, want %d", made, fault.sessions)
			}
		})
	}
}

func (f *faultRun) judge(result *acctest.Result, code string, says []string) {
	f.t.Helper()
	if code == "" {
		result.Succeed()
		return
	}
	result.FailWith(code)
	text := ""
	for _, found := range result.Diagnostics.Errors() {
		text += found.Summary + "\n" + found.Detail + "\n"
	}
	for _, part := range says {
		if !strings.Contains(text, part) {
			f.t.Errorf("%q is not in the text:\n%s", part, text)
		}
	}
	if strings.Contains(result.Stdout+result.Stderr, f.cloud.server.Token()) || strings.Contains(text, "<html") {
		f.t.Errorf("the text shows what it must not:\n%s", text)
	}
}

// ends checks what must hold at the end, in the simulator's own books.
func (f *faultRun) ends(fault vercelFault) {
	f.t.Helper()
	if fault.gone {
		f.Destroy().Succeed()
	} else {
		f.settled()
	}
	there := f.cloud.server.Inventory()
	if count := len(there.Sandboxes); fault.gone && count != 0 || !fault.gone && (count != 1 || there.Sandboxes[0].Name != f.name()) {
		f.t.Errorf("there are %+v", there.Sandboxes)
	}
	for _, snapshot := range there.Snapshots {
		belongs := slices.ContainsFunc(there.Sessions, func(s simulator.SessionEntry) bool { return s.ID == snapshot.Session })
		if !snapshot.Deleted && !belongs {
			f.t.Errorf("the snapshot %s belongs to nothing", snapshot.ID)
		}
	}
}

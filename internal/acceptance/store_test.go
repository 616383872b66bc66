package acceptance_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/acctest"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

const storeCode = "store_failed"

// onStore makes later commands keep their records in a database.
func (f *fixture) onStore(url string) { f.Setenv("SANDLOT_POSTGRES_URL", url) }

// databaseRows counts what a database holds.
func databaseRows(f *fixture, database *testkit.Database) string {
	f.t.Helper()
	return database.Text(f.t, `SELECT (SELECT count(*) FROM sandlot.records)::text || ' records, ' || (SELECT count(*) FROM sandlot.snapshots)::text || ' snapshots'`)
}

// holds fails the test unless the database holds that much.
func holds(f *fixture, database *testkit.Database, want string) {
	f.t.Helper()
	if found := databaseRows(f, database); found != want {
		f.t.Errorf("the database holds %s, expected %s", found, want)
	}
}

// teamConfig has every kind of object that keeps something in the store.
func (f *fixture) teamConfig(text string) string {
	return f.lane("it", []string{says(text)}, purgeLine, `retention = { min_age = "0s" }`) +
		f.runtime("it", "w", purgeLine, templateLine("1")) + dependents(work) + f.block(persistent, "it", f.workspaceID("p"), purgeLine) +
		fmt.Sprintf("data %q \"it\" {\n  backend = %q\n  app = \"shop\"\n}\n", baseSnapshot, f.backend)
}

// TestAccTeamStore keeps the records in PostgreSQL, reached through a pooler that hands out a
// connection a transaction: everything works as with the embedded store, and whoever only looks
// needs no more than to read.
func TestAccTeamStore(t *testing.T) {
	onEach(t, func(f *fixture) {
		database := testkit.Postgres(f.t)
		f.onStore(database.ReadOnlyURL())
		f.Config(f.teamConfig("one"))
		f.Plan().Planned() // a database that was never used
		f.onStore(testkit.PgBouncer(f.t, database, 4))
		f.Apply().Succeed()
		f.Apply(acctest.Args("-refresh-only")).Succeed()
		f.Plan().Empty()
		f.Config(f.teamConfig("two"))
		f.Plan().Does("update " + lane)
		f.settled()
		holds(f, database, "3 records, 2 snapshots")
		if left, _ := filepath.Glob(filepath.Join(f.DataDir, "sandlot.db*")); len(left) > 0 {
			f.t.Errorf("there is an embedded store too: %q", left)
		}

		// A role that may only read is enough to look, and looking writes nothing.
		state := f.Show()
		f.onStore(database.ReadOnlyURL())
		other := f.beside(f.teamConfig("two"))
		acctest.Untouched(f.t, f.DataDir, func() {
			f.Plan().Empty()
			f.PlanDestroy().Succeed()
			f.Apply(acctest.Args("-refresh-only")).Succeed()
			for _, address := range []string{lane, work, persistent + ".it"} {
				other.Import(address, state.Text(address, "id")).Succeed()
			}
		})
		// Whoever applies with it is told what is missing, and nothing is made.
		f.Config(f.teamConfig("three") + f.runtime("new", "new"))
		f.Plan().Does("update "+lane, "create "+workspaceRuntime+".new")
		refused := f.Apply().FailWith(storeCode)
		for _, d := range refused.Diagnostics.Errors() {
			mentions(f, d.Detail, "GRANT", `"reader"`, database.Name())
		}
		f.silent("the errors", []byte(refused.Stdout+refused.Stderr), []string{database.Password()})
		holds(f, database, "3 records, 2 snapshots")
		f.haveSnapshots(2)
		f.haveBoxes(2)

		f.onStore(database.URL())
		f.Config(f.teamConfig("two"))
		f.Plan().Empty()
		f.silentTree(f.Dir, []string{database.Password()})
		f.Destroy().Succeed()
		holds(f, database, "0 records, 0 snapshots")
		f.haveSnapshots(0)
		f.haveBoxes(0)
	}, "local")
}

// waitFor waits until a command inside a local sandbox wrote a file into its workspace.
func (f *fixture) waitFor(name string) {
	f.t.Helper()
	pattern := filepath.Join(f.DataDir, "local", "sandboxes", "*", "workspace", name)
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return
		}
	}
	f.t.Fatalf("no command wrote %s", name)
}

// duringApply applies, and does something as soon as a command inside wrote the file "started". The
// apply has to fail, with errors that name the database and say what to do.
func (f *fixture) duringApply(database *testkit.Database, something func()) *acctest.Result {
	f.t.Helper()
	done := make(chan *acctest.Result, 1)
	go func() { done <- f.Apply() }()
	f.waitFor("started")
	something()
	result := <-done
	if result.ExitCode == 0 {
		f.t.Fatalf("the apply succeeded although it lost its lock:\n%s", result)
	}
	for _, d := range result.Diagnostics.Errors() {
		mentions(f, d.Detail, database.Name(), "pply again")
	}
	f.silent("the errors", []byte(result.Stdout+result.Stderr), []string{database.Password()})
	return result
}

// TestAccStoreGoesAway stops the database in the middle of bakes and of a setup: the error says so,
// the next plan understands what is there, and the next apply ends where an undisturbed one does.
func TestAccStoreGoesAway(t *testing.T) {
	onOne(t, func(f *fixture) {
		const slow = ": > started; sleep 3; "
		bake := func(script string) string {
			return f.lane("it", []string{fmt.Sprintf(`commands = [["sh", "-c", %q]]`, script+"echo base > base.txt; rm -f started")}, purgeLine, `retention = { min_age = "0s", purge = true }`)
		}
		server := testkit.NewPostgresServer(f.t)
		database := server.Database(f.t)
		f.onStore(database.URL())
		down := func() { server.Stop(f.t) }

		// In the first bake, and back at once: somebody else may have got the lock meanwhile.
		f.Config(bake(slow))
		f.duringApply(database, func() { server.Restart(f.t) })
		f.Plan().Does("create " + lane)
		f.settled()
		holds(f, database, "1 records, 1 snapshots")
		f.haveSnapshots(1)
		f.haveBoxes(0)
		first := f.Show().Text(lane, "snapshot_id")

		// In the bake of a rotation, and back later. Meanwhile a plan names what it lacks.
		f.Config(bake(": other; " + slow))
		f.duringApply(database, down)
		away := f.Plan().FailWith(storeCode)
		mentions(f, away.Diagnostics.Errors()[0].Detail, database.Name(), "127.0.0.1")
		server.Start(f.t)
		if found := f.Show().Text(lane, "snapshot_id"); found != first {
			f.t.Errorf("the state has %s, and had %s", found, first)
		}
		f.Plan().Does("update " + lane)
		f.settled()
		holds(f, database, "1 records, 2 snapshots")
		f.haveSnapshots(2)
		f.haveBoxes(0)

		// In the setup of a workspace.
		setup := fmt.Sprintf(`setup = [{ command = ["sh", "-c", %q] }]`, slow+"echo made > kept; rm started")
		f.Config(bake(": other; "+slow) + f.runtime("it", "w", setup, purgeLine))
		f.duringApply(database, down)
		server.Start(f.t)
		f.settled()
		holds(f, database, "2 records, 2 snapshots")
		f.haveBoxes(1)
		if found := f.read(f.nameOf(work), keptFile); found != "made\n" {
			f.t.Errorf("the workspace has %q", found)
		}
		f.Destroy().Succeed()
		holds(f, database, "0 records, 0 snapshots")
		f.haveSnapshots(0)
		f.haveBoxes(0)
	})
}

// TestAccStoreAddress: an error about the database names host and database, and never the password.
func TestAccStoreAddress(t *testing.T) {
	onOne(t, func(f *fixture) {
		database := testkit.Postgres(f.t)
		f.Config(f.lane("it", nil))
		wrong := "wr0ng-" + f.Tag
		for name, url := range map[string]string{
			"wrong password": strings.Replace(database.URL(), database.Password(), wrong, 1),
			"no such host":   "postgres://sandlot:" + wrong + "@127.0.0.1:1/" + database.Name(),
			"no such name":   database.URL() + "-absent",
			"not verified":   "postgres://sandlot:" + wrong + "@db.example.invalid/" + database.Name() + "?sslmode=disable",
		} {
			f.onStore(url)
			result := f.Apply()
			if result.ExitCode == 0 || len(result.Diagnostics.Errors()) != 1 {
				f.t.Fatalf("%s: not one error:\n%s", name, result)
			}
			host := "127.0.0.1"
			if name == "not verified" {
				host = "db.example.invalid"
			} else {
				mentions(f, result.Diagnostics.Errors()[0].Detail, database.Name())
			}
			mentions(f, result.Diagnostics.Errors()[0].Detail, host)
			f.silent(name, []byte(result.Stdout+result.Stderr), []string{wrong, database.Password()})
			if len(f.Show().Addresses()) > 0 || len(acctest.ReadTree(f.t, filepath.Join(f.DataDir, "local", "sandboxes"))) > 0 {
				f.t.Errorf("%s: something was made", name)
			}
		}
		// A database of a team's own does not say whose runner this is.
		f.onStore(database.URL())
		f.ProviderBlock(fmt.Sprintf("data_dir = %q", f.DataDir))
		f.Setenv("CI", "1")
		f.Config(f.lane("it", nil) + f.runtime("it", "w"))
		f.Plan().FailWith("owner_required")
		f.Apply().FailWith("owner_required")
		f.Setenv("SANDLOT_OWNER", f.Owner)
		f.settled()
	})
}

// TestAccStoreDamaged: an embedded store that is damaged, of a later version, full or not to be
// written stops plan or apply with an error that says what to do, and nothing is lost.
func TestAccStoreDamaged(t *testing.T) {
	onOne(t, func(f *fixture) {
		config := func(text string) string {
			return f.lane("it", []string{says(text)}, purgeLine, `retention = { min_age = "0s" }`) + f.runtime("it", "w", seed, purgeLine)
		}
		f.Config(config("one"))
		f.settled()
		name := f.nameOf(work)
		hash := f.mustHash(name)
		file := filepath.Join(f.DataDir, "sandlot.db")
		restore := f.keepStore()
		for fault, damage := range map[string]func(){
			"is damaged": func() { f.writeStore(make([]byte, 8192)) },
			"was written by a newer version": func() {
				db, err := sql.Open("sqlite", "file:"+file)
				if err == nil {
					_, err = db.Exec("UPDATE schema_version SET major = major + 1")
				}
				if err == nil {
					err = db.Close()
				}
				if err != nil {
					f.t.Fatal(err)
				}
			},
		} {
			damage()
			mentions(f, f.Plan().FailWith(storeCode).Diagnostics.Errors()[0].Detail, fault)
			f.Apply().FailWith(storeCode)
			f.Destroy(acctest.NoRefresh()).FailWith(storeCode)
			restore()
			f.Plan().Empty()
		}
		if f.mustHash(name) != hash {
			f.t.Error("the data changed")
		}
		f.haveSnapshots(1)
		f.Destroy().Succeed()
		f.nothingLeft()
	})
}

// keepStore returns what puts the embedded store back as it is now.
func (f *fixture) keepStore() func() {
	f.t.Helper()
	content := readAll(f.t, filepath.Join(f.DataDir, "sandlot.db"))
	return func() { f.writeStore(content) }
}

// writeStore puts a file in the place of the embedded store.
func (f *fixture) writeStore(content []byte) {
	f.t.Helper()
	f.loseStore()
	if err := os.WriteFile(filepath.Join(f.DataDir, "sandlot.db"), content, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// TestAccStoreFull lets the disk fill up, and then be read only, in the middle of the life of a lane.
func TestAccStoreFull(t *testing.T) {
	onOne(t, func(f *fixture) {
		if err := os.Mkdir(f.DataDir, 0o700); err != nil {
			f.t.Fatal(err)
		}
		if err := unix.Mount("tmpfs", f.DataDir, "tmpfs", 0, "size=4m,mode=700"); err != nil {
			f.t.Skipf("this machine does not let the test mount a tmpfs: %v", err)
		}
		f.t.Cleanup(func() { _ = unix.Unmount(f.DataDir, unix.MNT_DETACH) })
		remount := func(flags uintptr, size string) {
			f.t.Helper()
			if err := unix.Mount("tmpfs", f.DataDir, "tmpfs", unix.MS_REMOUNT|flags, "size="+size); err != nil {
				f.t.Fatal(err)
			}
		}
		config := func(kilobytes int, text string) string {
			return f.lane("it", []string{fmt.Sprintf(`commands = [["sh", "-c", "head -c %dk /dev/urandom > big; echo %s > base.txt"]]`, kilobytes, text)}, purgeLine, `retention = { min_age = "0s", purge = true }`)
		}
		f.Config(config(64, "one"))
		f.settled()
		first := f.Show().Text(lane, "snapshot_id")

		f.Config(config(8192, "two"))
		full := f.Apply()
		if full.ExitCode == 0 || !strings.Contains(strings.ToLower(full.String()), "no space left") {
			f.t.Errorf("a full disk is not told:\n%s", full)
		}
		f.haveBoxes(0)
		if found := f.Show().Text(lane, "snapshot_id"); found != first {
			f.t.Errorf("the lane points at %s, before at %s", found, first)
		}
		f.Config(config(64, "one"))
		f.settled()
		remount(0, "64m")
		f.Config(config(8192, "two"))
		f.settled()

		f.Config(config(64, "three"))
		remount(unix.MS_RDONLY, "64m")
		f.Plan().Does("update " + lane)
		f.Apply().FailWith(storeCode)
		remount(0, "64m")
		f.settled()
		f.Destroy().Succeed()
		f.nothingLeft()
	})
}

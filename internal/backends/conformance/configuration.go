package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// configurationChecks exercise what every backend has, whatever its table says.
func configurationChecks() []check {
	return []check{
		{"environment", checkEnvironment},
		{"secrets", checkSecrets},
		{"labels", checkLabels},
		{"reconfigure", checkReconfigure},
		{"reconfigure while stopped", checkReconfigureStopped},
	}
}

func checkEnvironment(t T, e *env) {
	values := map[string]string{"PLAIN": "value", "TRICKY": "a 'b' \"c\" $d `e` \\ ü\nline = 2", "EMPTY": ""}
	b := e.create(t, func(s *backends.Spec) { s.Environment = values })
	check := func() {
		t.Helper()
		told := b.spec.Environment
		if e.capabilities.EnvironmentUnreadable {
			told = nil
		}
		wantSame(t, "the environment", b.get().Spec.Environment, told)
		for name, want := range b.spec.Environment {
			if got := b.run(backends.Command{Argv: []string{"sh", "-c", `eval "printf '%s|%s' \"\${$0+set}\" \"\${$0}\""`, name}}); got != "set|"+want {
				t.Errorf("inside %s is %q, want %q", name, got, want)
			}
		}
		if listed := b.run(backends.Command{Argv: []string{"env"}}); !strings.Contains("\n"+listed, "\nPLAIN="+b.spec.Environment["PLAIN"]+"\n") {
			t.Errorf("env prints %q", listed)
		}
	}
	check()
	b.reconfigure(func(s *backends.Spec) { s.Environment = map[string]string{"PLAIN": "changed", "ADDED": "x"} })
	b.restartForChanges()
	check()
	if got := b.run(backends.Command{Argv: []string{"sh", "-c", `printf '%s' "${TRICKY+set}${EMPTY+set}"`}}); got != "" {
		t.Errorf("a removed variable is still there")
	}
	b.reconfigure(func(s *backends.Spec) { s.Environment = nil })
	if got := b.get().Spec.Environment; len(got) > 0 {
		t.Errorf("after all were removed the environment is %v", got)
	}
}

// hashOf is what `printf %s "$NAME" | sha256sum` prints for a value.
func hashOf(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// wantSecret checks that a command inside gets a secret, by its hash.
func (b *box) wantSecret(name, value string) {
	b.t.Helper()
	script := `eval "printf %s \"\${$0}\"" | sha256sum`
	got, _, _ := strings.Cut(b.run(backends.Command{Argv: []string{"sh", "-c", script, name}}), " ")
	if got != hashOf(value) {
		b.t.Errorf("inside the secret %s is another one", name)
	}
}

func checkSecrets(t T, e *env) {
	if e.capabilities.EnvironmentUnreadable {
		checkSecretsAsAWhole(t, e)
		return
	}
	first, second, third := "s3cret-'one'-"+randomHex(), "s3cret two\n"+randomHex(), "s3cret-three-"+randomHex()
	b := e.create(t, func(s *backends.Spec) {
		s.Environment = map[string]string{"PLAIN": "plain"}
		s.Secrets = map[string]string{"API_TOKEN": first, "OTHER": second}
		s.SecretNames = []string{"API_TOKEN", "OTHER"}
	})
	wantNames := func(names ...string) {
		t.Helper()
		observed := b.get()
		wantSame(t, "the names of the secrets", observed.Spec.SortedSecretNames(), names)
		wantSame(t, "the plain environment", observed.Spec.Environment, b.spec.Environment)
		if len(observed.Spec.Secrets) > 0 {
			t.Errorf("Get returns the values of secrets")
		}
		text, err := json.Marshal(observed)
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		for _, secret := range []string{first, second, third} {
			if strings.Contains(string(text)+fmt.Sprintf("%+v", observed), secret) {
				t.Errorf("Get shows a secret")
			}
		}
	}
	wantNames("API_TOKEN", "OTHER")
	b.wantSecret("API_TOKEN", first)
	b.wantSecret("OTHER", second)

	b.reconfigure(func(s *backends.Spec) { s.Secrets, s.Environment = nil, map[string]string{"PLAIN": "changed"} })
	wantNames("API_TOKEN", "OTHER")
	b.wantSecret("API_TOKEN", first)
	b.wantSecret("OTHER", second)

	b.stop()
	b.start()
	b.wantSecret("API_TOKEN", first)

	b.reconfigure(func(s *backends.Spec) { s.Secrets = map[string]string{"API_TOKEN": third, "OTHER": second} })
	wantNames("API_TOKEN", "OTHER")
	b.wantSecret("API_TOKEN", third)
	b.wantSecret("OTHER", second)

	b.reconfigure(func(s *backends.Spec) { s.Secrets, s.SecretNames = nil, []string{"OTHER"} })
	wantNames("OTHER")
	b.wantSecret("OTHER", second)
	b.wantSecret("API_TOKEN", "")

	b.reconfigure(func(s *backends.Spec) { s.Secrets, s.SecretNames = nil, nil })
	wantNames()
	b.wantSecret("OTHER", "")

	_, err := e.backend.Reconfigure(e.ctx(t), b.marks, e.spec(func(s *backends.Spec) { s.SecretNames = []string{"UNKNOWN"} }))
	if err == nil {
		t.Errorf("Reconfigure accepts a secret that has no value anywhere")
	}
}

// checkSecretsAsAWhole: where an environment cannot be read, it is replaced as a whole or not at all.
func checkSecretsAsAWhole(t T, e *env) {
	first, second, third := "s3cret-'one'-"+randomHex(), "s3cret two\n"+randomHex(), "s3cret-three-"+randomHex()
	b := e.create(t, func(s *backends.Spec) {
		s.Environment = map[string]string{"PLAIN": "plain"}
		s.Secrets = map[string]string{"API_TOKEN": first, "OTHER": second}
		s.SecretNames = []string{"API_TOKEN", "OTHER"}
	})
	want := func(token, other, plain string) {
		t.Helper()
		b.restartForChanges()
		b.wantSecret("API_TOKEN", token)
		b.wantSecret("OTHER", other)
		if got := b.run(backends.Command{Argv: []string{"sh", "-c", `printf %s "$PLAIN"`}}); got != plain {
			t.Errorf("inside PLAIN is %q, want %q", got, plain)
		}
		observed := b.get()
		if len(observed.Spec.Secrets)+len(observed.Spec.SecretNames)+len(observed.Spec.Environment) > 0 {
			t.Errorf("an environment that cannot be read is told: %+v", observed.Spec)
		}
	}
	want(first, second, "plain")
	b.reconfigure(func(s *backends.Spec) { s.Secrets, s.Environment = nil, map[string]string{"PLAIN": "changed"} })
	want(first, second, "plain")
	b.reconfigure(func(s *backends.Spec) { s.Secrets = map[string]string{"API_TOKEN": third, "OTHER": second} })
	want(third, second, "changed")
	b.reconfigure(func(s *backends.Spec) {
		s.Secrets, s.SecretNames = map[string]string{"OTHER": second}, []string{"OTHER"}
	})
	want("", second, "changed")
	b.reconfigure(func(s *backends.Spec) { s.Secrets, s.SecretNames = nil, nil })
	want("", "", "changed")
}

func checkWorkingDirectory(t T, e *env) {
	b := e.create(t)
	b.sh("mkdir sub other")
	for _, directory := range []string{"sub", "other"} {
		b.reconfigure(func(s *backends.Spec) { s.WorkingDirectory = b.path(directory) })
		if got := b.get().Spec.WorkingDirectory; got != b.path(directory) {
			t.Errorf("the working directory is %q, want %q", got, b.path(directory))
		}
		if got := strings.TrimSpace(b.run(backends.Command{Argv: pwd()})); got != b.path(directory) {
			t.Errorf("a command ran in %q, want %q", got, b.path(directory))
		}
	}
	b.reconfigure(func(s *backends.Spec) { s.WorkingDirectory = "" })
	if got := strings.TrimSpace(b.run(backends.Command{Argv: pwd()})); got != b.workspace {
		t.Errorf("a command ran in %q, want the workspace", got)
	}
	const elsewhere = "/tmp" // every system has it
	fresh := e.create(t, func(s *backends.Spec) { s.WorkingDirectory = elsewhere })
	if got := strings.TrimSpace(fresh.run(backends.Command{Argv: pwd()})); got != elsewhere || fresh.get().Spec.WorkingDirectory != elsewhere {
		t.Errorf("a command ran in %q, want %q", got, elsewhere)
	}
}

func checkLabels(t T, e *env) {
	b := e.create(t, func(s *backends.Spec) { s.Labels = map[string]string{"team": "a b", "example.com/x": "'\"ü"} })
	wantSame(t, "the labels", b.get().Spec.Labels, b.spec.Labels)
	b.reconfigure(func(s *backends.Spec) { s.Labels = map[string]string{"team": "c"} })
	wantSame(t, "the changed labels", b.get().Spec.Labels, b.spec.Labels)
	b.reconfigure(func(s *backends.Spec) { s.Labels = nil })
	if got := b.get().Spec.Labels; len(got) > 0 {
		t.Errorf("after all were removed the labels are %v", got)
	}
}

// change is a change that every backend can make and that shows inside.
func change(s *backends.Spec) { s.Environment = map[string]string{"CHANGED": "yes"} }

// restartForChanges brings changes to the commands where they count from the next start on.
func (b *box) restartForChanges() {
	b.t.Helper()
	if b.capabilities.ChangesAtStart {
		b.stop()
		b.start()
	}
}

// wantKept checks a file of a stopped sandbox, as far as it can be read.
func (b *box) wantKept(relative string, want []byte) {
	b.t.Helper()
	if !b.capabilities.FilesNeedCompute {
		b.wantFile(relative, want)
		return
	}
	_, _, err := b.open(b.path(relative))
	b.wantKind(b.t, "OpenFile in a stopped sandbox", err, backends.NotRunning)
	b.wantStatus(backends.StatusStopped)
}

func (b *box) wantChange() {
	b.t.Helper()
	b.restartForChanges()
	if got := b.run(backends.Command{Argv: []string{"sh", "-c", "printf %s \"$CHANGED\""}}); got != "yes" {
		b.t.Errorf("the change does not show inside: %q", got)
	}
}

func checkReconfigure(t T, e *env) {
	b := e.create(t)
	b.sh("printf kept > file; mkdir dir; ln -s file dir/link")
	before := b.get()
	if e.capabilities.ChangesAtStart {
		b.reconfigure(change)
		if got := b.sh("printf %s \"$CHANGED\""); got != "" {
			t.Errorf("a change shows before the next start, but the table says that it does not")
		}
	}
	for range 2 { // the second one has nothing to do
		observed := b.reconfigure(change)
		wantSame(t, "what Reconfigure tells and what Get tells", observed, b.get())
		b.wantChange()
	}
	after := b.get()
	if after.Marks != b.marks || after.Name != before.Name || !after.CreatedAt.Equal(before.CreatedAt) ||
		after.ResolvedImage != before.ResolvedImage || after.Workspace != before.Workspace {
		t.Errorf("the identity changed:\nbefore %+v\nafter  %+v", before, after)
	}
	wantSame(t, "the source", after.Spec.Source, before.Spec.Source)
	b.wantStatus(backends.StatusRunning)
	if got := b.sh("cat file; ls -A . dir"); !strings.HasPrefix(got, "kept") || !strings.Contains(got, "link") {
		t.Errorf("the files after Reconfigure: %q", got)
	}
	// The source is used at creation only.
	b.spec.Source = backends.Source{SnapshotID: "no-such-snapshot", CloneOf: "no-such-sandbox"}
	b.reconfigure()
	b.wantFile("file", []byte("kept"))
}

func checkReconfigureStopped(t T, e *env) {
	b := e.create(t)
	b.write("file", []byte("kept"), 0o644)
	b.stop()
	b.reconfigure(change)
	b.wantStatus(backends.StatusStopped)
	b.wantKept("file", []byte("kept"))
	b.start()
	b.wantChange()
	b.wantFile("file", []byte("kept"))
}

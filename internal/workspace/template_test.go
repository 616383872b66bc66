package workspace

import (
	"strings"
	"testing"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/testkit"
)

func upgraded(w *wish) {
	w.Version = "2"
	w.Migrate = []string{"sh", "-c", `echo "$SANDLOT_TEMPLATE_FROM to $SANDLOT_TEMPLATE_TO" >> migrated`}
	w.Verify = []string{"test", "-s", "migrated"}
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := persistent("w1")
	made := p.provision(w)

	_, err := update(t.Context(), p.Manager, made.Attachment, w.with(func(w *wish) { w.Version = "2" }))
	refused(t, err, sandbox.CodeMigrationFailed)
	if _, kept := p.row(); kept.TemplateVersion != "1" {
		t.Errorf("without a migration the row has the version %q", kept.TemplateVersion)
	}

	// A stopped workspace is woken for it, and put back.
	stopped := w.with(func(w *wish) { w.Request.DesiredState = sandbox.DesiredStopped })
	p.update(made.Attachment, stopped)
	result := p.update(made.Attachment, stopped.with(upgraded))
	if result.Observed.Status != backends.StatusStopped || result.Workspace.TemplateVersion != "2" {
		t.Errorf("the migration gave %+v", result)
	}
	if found := p.shell(w, "cat migrated template"); found != "1 to 2\none" {
		t.Errorf("inside is %q", found)
	}
	// Once is enough.
	p.update(made.Attachment, stopped.with(upgraded))
	if found := p.shell(w, "cat migrated"); found != "1 to 2" {
		t.Errorf("inside is %q", found)
	}
	p.settled()
}

func TestFailingMigrationKeepsTheVersion(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	w := persistent("w1")
	w.Request.Spec.Secrets = map[string]string{"TOKEN": "canary-value"}
	made := p.provision(w)
	for name, broken := range map[string]func(*wish){
		"migration": func(w *wish) { w.Migrate = []string{"sh", "-c", "echo $TOKEN broken >&2; exit 3"} },
		"check":     func(w *wish) { w.Verify = []string{"sh", "-c", "echo $TOKEN broken; exit 3"} },
	} {
		next := w.with(upgraded).with(broken)
		_, err := update(t.Context(), p.Manager, made.Attachment, next)
		refused(t, err, sandbox.CodeMigrationFailed)
		if err == nil || !strings.Contains(err.Error(), "broken") || !strings.Contains(err.Error(), "status 3") || strings.Contains(err.Error(), "canary-value") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if record, kept := p.row(); kept.TemplateVersion != "1" || !record.Committed {
			t.Errorf("%s: the row is %+v, %+v", name, record, kept)
		}
	}
	p.update(made.Attachment, w.with(upgraded))
	if _, kept := p.settled(); kept.TemplateVersion != "2" || kept.LastError != "" {
		t.Errorf("the row keeps %+v", kept)
	}
}

func TestKilledMigration(t *testing.T) {
	t.Parallel()
	prepare := func(t *testing.T) (*place, wish, sandbox.Attachment) {
		p := newPlace(t)
		w := persistent("w1")
		made := p.provision(w)
		return p, w.with(upgraded), made.Attachment
	}
	p, w, attachment := prepare(t)
	testkit.EachPoint(t, p.points("update", w, attachment), func(t *testing.T, point int) {
		p, w, attachment := prepare(t)
		p.kill("update", w, attachment, point)
		if _, kept := p.row(); kept.TemplateVersion == "2" {
			if _, err := p.backend.StatFile(t.Context(), w.Request.Name, "/workspace/migrated"); err != nil {
				t.Errorf("the row says 2, and nothing was migrated: %v", err)
			}
		}
		p.update(attachment, w)
		if _, kept := p.settled(); kept.TemplateVersion != "2" {
			t.Errorf("the row keeps %+v", kept)
		}
	})
}

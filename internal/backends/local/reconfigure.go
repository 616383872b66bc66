//go:build linux

package local

import (
	"context"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// Reconfigure implements [backends.Backend]. It takes effect from the next command on. Both files
// are replaced whole, so repeating it finishes what a killed one began.
func (b *Backend) Reconfigure(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	const verb = "reconfigure sandbox"
	if err := backends.Refuse(backendName, verb, b.Capabilities().ChangeGaps(spec)); err != nil {
		return backends.Observed{}, err
	}
	op, err := b.begin(verb, marks.Name, marks.Name)
	if err != nil {
		return backends.Observed{}, err
	}
	spec.Source = backends.Source{}
	if err := b.checkSpec(ctx, op, spec); err != nil {
		return backends.Observed{}, err
	}
	if _, err := b.load(op, marks.Name); err != nil { // so that an absent one leaves no lock file
		return backends.Observed{}, err
	}
	release, err := b.lock(ctx, op, marks.Name)
	if err != nil {
		return backends.Observed{}, err
	}
	defer release()
	if err := b.reconfigure(ctx, op, marks, spec); err != nil {
		return backends.Observed{}, err
	}
	return b.observe(op, marks.Name)
}

func (b *Backend) reconfigure(ctx context.Context, op operation, marks backends.Marks, spec backends.Spec) error {
	stored, err := b.load(op, marks.Name)
	if err != nil {
		return err
	}
	if !stored.ownedBy(marks) {
		return op.fail(backends.NotOurs, "The sandbox carries the marks of another owner or record.")
	}
	folder := b.sandboxDir(marks.Name)
	secrets, err := b.wantedSecrets(op, folder, spec)
	if err != nil {
		return err
	}
	if err := b.saveSecrets(ctx, folder, secrets); err != nil {
		return op.wrap(err, "The secrets could not be written.")
	}
	source := stored.Spec.Source
	stored.Marks = marks
	stored.Spec = storedSpec(spec)
	stored.Spec.Source = source
	if err := b.saveRecord(ctx, folder, stored); err != nil {
		return op.wrap(err, "The record of the sandbox could not be written.")
	}
	return nil
}

// wantedSecrets returns the values to store: the new ones, or the present ones of the names
// that are still wanted.
func (b *Backend) wantedSecrets(op operation, folder string, spec backends.Spec) (map[string]string, error) {
	values := spec.Secrets
	if values == nil && len(spec.SecretNames) > 0 {
		present, err := b.loadSecrets(op, folder)
		if err != nil {
			return nil, err
		}
		values = map[string]string{}
		for _, name := range spec.SecretNames {
			if value, ok := present[name]; ok {
				values[name] = value
			}
		}
	}
	if missing := missingSecrets(spec, values); missing != "" {
		failure := op.on("secret_environment_wo").fail(backends.Invalid, "The value of the secret %q is not stored in the sandbox.", missing)
		failure.Remedy = "Raise `secret_environment_wo_version`, so that the values are given again."
		return nil, failure
	}
	return values, nil
}

package vercel

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/vercel/api"
)

// Reconfigure implements [backends.Backend]: one update, which counts from the next session on, and
// the calls that change a running session as far as it can be changed (section 6.4).
func (b *Backend) Reconfigure(ctx context.Context, marks backends.Marks, spec backends.Spec) (backends.Observed, error) {
	const operation = "change sandbox"
	gaps := append(capabilities().ChangeGaps(spec), b.CheckSpec(marks.Kind, spec)...)
	if err := backends.Refuse(backendName, operation, gaps); err != nil {
		return backends.Observed{}, err
	}
	client, err := b.connect()
	if err != nil {
		return backends.Observed{}, err
	}
	before, err := client.GetSandbox(ctx, marks.Name)
	if err != nil {
		return backends.Observed{}, err
	}
	if err := checkOurs(operation, before.Sandbox, marks); err != nil {
		return backends.Observed{}, err
	}
	b.remember(marks.Name, spec.Secrets)
	defer b.listing.drop()
	if err := update(ctx, client, marks.Name, updateRequest(marks, spec, before)); err != nil {
		return backends.Observed{}, err
	}
	if err := changeLive(ctx, client, before.Session, wantedOf(spec)); err != nil {
		return backends.Observed{}, err
	}
	return read(ctx, client, marks.Name)
}

// update sends what differs, if anything does. It can be sent twice: it says how things are to be, not
// what is to be added.
func update(ctx context.Context, client *api.Client, name string, request api.UpdateRequest) error {
	if reflect.ValueOf(request).IsZero() {
		return nil
	}
	_, err := client.UpdateSandbox(ctx, name, request)
	if api.Ambiguous(err) {
		_, err = client.UpdateSandbox(ctx, name, request)
	}
	return err
}

// changeLive changes a running session. One that ends meanwhile has nothing left to change. A shorter
// timeout counts from the next session on.
func changeLive(ctx context.Context, client *api.Client, session api.Session, w wanted) error {
	if session.Status != api.StatusRunning {
		return nil
	}
	if longer := w.timeout.Duration - session.Timeout.Duration; longer >= shortestTimeout {
		_, err := client.ExtendTimeout(ctx, session.ID, longer)
		if err != nil && !errors.Is(err, backends.NotRunning) {
			return err
		}
	}
	if samePolicy(*w.policy, session.NetworkPolicy) {
		return nil
	}
	_, err := client.SetNetworkPolicy(ctx, session.ID, *w.policy)
	if err != nil && !errors.Is(err, backends.NotRunning) {
		return err
	}
	return nil
}

// samePolicy compares what is wanted with what is told. Rules of someone else are a difference.
func samePolicy(want api.NetworkPolicy, has *api.PolicyState) bool {
	return has != nil && has.Mode == want.Mode && len(has.InjectionRules)+len(has.ForwardRules) == 0 &&
		sameSet(has.AllowedDomains, want.AllowedDomains) && sameSet(has.AllowedCIDRs, want.AllowedCIDRs) && sameSet(has.DeniedCIDRs, want.DeniedCIDRs)
}

func sameSet[T cmp.Ordered](a, b []T) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

package cloudhost

import (
	"context"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// bindingMatch is how the configured place compares with the one that a host is bound to.
type bindingMatch int

const (
	bindingSame bindingMatch = iota
	// bindingRotated: the endpoint is the same, the token another one, and `rebind` allows to try it.
	bindingRotated
)

// checkBinding refuses every access when the configured endpoint or token is not the one that a host is
// bound to. It makes no call, and names which of them differs, but neither value.
func (m *Manager) checkBinding(id, bound string) (bindingMatch, error) {
	here := m.API.Binding()
	there, ok := hetzner.ParseBinding(bound)
	const nothing = "Nothing was accessed and nothing left the state. "
	switch {
	case !ok:
		return 0, refuse(sandbox.CodeOtherBinding,
			nothing+"Its resources carry the label "+labelRecord+": look after them in the console of the platform, then let go of it with `terraform state rm`.",
			"The record of %s does not say which endpoint and token it is bound to, and it is never bound to another one silently.", id)
	case there == here:
		return bindingSame, nil
	case there.Endpoint != here.Endpoint:
		return 0, refuse(sandbox.CodeOtherBinding,
			nothing+"Point the provider's `hetzner` back at the endpoint where the host lives, or let go of it with `terraform state rm`.",
			"%s is bound to another endpoint than the configured one.", id)
	case m.Rebind:
		return bindingRotated, nil
	}
	return 0, refuse(sandbox.CodeOtherBinding,
		nothing+"Use the token of the project where the host lives. If that token was rotated, set the provider's `hetzner { rebind = true }` for one apply: it is accepted once the server's label proves that this is the same project.",
		"%s is bound to another token than the configured one.", id)
}

// prove lets a rotated token be used only after a server was seen with it that carries the labels of the
// record. It makes one call, and only with `rebind`.
func (m *Manager) prove(ctx context.Context, k *known) (bindingMatch, error) {
	match, err := m.checkBinding(k.id(), k.Binding)
	if err != nil || match == bindingSame {
		return match, err
	}
	refused := refuse(sandbox.CodeOtherBinding,
		"Use a token of the project where the host lives, or let go of the host with `terraform state rm`.",
		"%s is bound to another token than the configured one, and with this one no server is found that carries the label of its record. It was not accepted.", k.id())
	if k.ServerID == 0 {
		return 0, refused
	}
	server, err := m.API.Server(ctx, k.ServerID)
	if err != nil {
		return 0, err
	}
	if server == nil || !k.marked(server.Labels) {
		return 0, refused
	}
	return bindingRotated, nil
}

// bind is prove for operations that write: an accepted token is stored at once.
func (m *Manager) bind(ctx context.Context, k *known) error {
	match, err := m.prove(ctx, k)
	if err != nil || match == bindingSame {
		return err
	}
	k.Binding = m.API.Binding().String()
	return m.write(ctx, k)
}

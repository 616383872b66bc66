package cloudhost

import (
	"cmp"
	"context"
	"slices"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Orphans lists what carries the label of our owner and is on no record: servers, then addresses, then
// keys, each by id. It deletes nothing.
func (m *Manager) Orphans(ctx context.Context) ([]Orphan, error) {
	owner, err := m.records().Owner(ctx)
	if err != nil || owner == "" {
		return nil, err
	}
	// Resources first: the record of what is made meanwhile is written before it.
	found, err := m.marked(ctx, map[string]string{labelOwner: ownerLabel(owner)})
	if err != nil {
		return nil, err
	}
	records, err := m.Store.Find(ctx, store.Query{Backend: Backend, Kind: RecordKind})
	if err != nil {
		return nil, err
	}
	recorded := map[string]bool{}
	for _, record := range records {
		recorded[record.ID] = true
	}
	return slices.DeleteFunc(found, func(o Orphan) bool { return recorded[o.Record] }), nil
}

// marked lists all that carries labels.
func (m *Manager) marked(ctx context.Context, labels map[string]string) ([]Orphan, error) {
	servers, err := m.API.Servers(ctx, labels, "")
	if err != nil {
		return nil, err
	}
	addresses, err := m.API.PrimaryIPs(ctx, labels, "")
	if err != nil {
		return nil, err
	}
	keys, err := m.API.SSHKeys(ctx, labels, "")
	if err != nil {
		return nil, err
	}
	all := orphans(servers, "server", func(s hetzner.Server) Orphan { return Orphan{Name: s.Name, CreatedAt: s.CreatedAt} })
	all = append(all, orphans(addresses, "primary_ip", func(a hetzner.PrimaryIP) Orphan { return Orphan{Name: a.Name, CreatedAt: a.CreatedAt} })...)
	return append(all, orphans(keys, "ssh_key", func(k hetzner.SSHKey) Orphan { return Orphan{Name: k.Name, CreatedAt: k.CreatedAt} })...), nil
}

func orphans[T labeled](found []T, kind string, describe func(T) Orphan) []Orphan {
	var all []Orphan
	for _, each := range found {
		orphan := describe(each)
		orphan.Kind, orphan.ID, orphan.Labels, orphan.Record = kind, idOf(each), labelsOf(each), labelsOf(each)[labelRecord]
		all = append(all, orphan)
	}
	slices.SortFunc(all, func(a, b Orphan) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// CheckCatalog asks the catalog whether a server type, location and image are offered together. Each
// problem names what is offered instead. An error means that the catalog could not be read, so that a
// plan can go on without it. Empty names are not judged.
func (m *Manager) CheckCatalog(ctx context.Context, serverType, location, image string) ([]hetzner.Problem, error) {
	return m.API.CheckCatalog(ctx, serverType, location, image)
}

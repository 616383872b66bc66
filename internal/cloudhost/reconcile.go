package cloudhost

import (
	"context"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends/hetzner"
	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// labeled is what the three kinds of resources have in common here.
type labeled interface {
	hetzner.Server | hetzner.PrimaryIP | hetzner.SSHKey
}

func idOf[T labeled](resource T) int64 {
	switch r := any(resource).(type) {
	case hetzner.Server:
		return r.ID
	case hetzner.PrimaryIP:
		return r.ID
	case hetzner.SSHKey:
		return r.ID
	}
	return 0
}

func labelsOf[T labeled](resource T) map[string]string {
	switch r := any(resource).(type) {
	case hetzner.Server:
		return r.Labels
	case hetzner.PrimaryIP:
		return r.Labels
	case hetzner.SSHKey:
		return r.Labels
	}
	return nil
}

type lister[T labeled] func(ctx context.Context, labels map[string]string, name string) ([]T, error)

// byMarks finds the resource of a kind that carries the labels of the record, nil when there is none.
// Several are refused: which of them is ours, nobody can tell.
func byMarks[T labeled](ctx context.Context, k *known, kind string, list lister[T]) (*T, error) {
	found, err := list(ctx, map[string]string{labelOwner: ownerLabel(k.Owner), labelRecord: k.ID}, "")
	if err != nil || len(found) == 0 {
		return nil, err
	}
	if len(found) > 1 {
		return nil, refuse(CodeAmbiguous,
			"Take the labels that begin with "+ownLabels+" off those that do not belong to it, in the console of the platform. Nothing was deleted.",
			"%d %ss carry the labels of %s.", len(found), kind, k.id())
	}
	return &found[0], nil
}

// only is byMarks, and where nothing carries the labels it makes sure that the exact name is free.
func only[T labeled](ctx context.Context, k *known, kind, name string, list lister[T]) (*T, error) {
	found, err := byMarks(ctx, k, kind, list)
	if err != nil || found != nil {
		return found, err
	}
	named, err := list(ctx, nil, name)
	if err != nil || len(named) == 0 {
		return nil, err
	}
	if k.marked(labelsOf(named[0])) {
		return &named[0], nil // the list by labels lags behind
	}
	return nil, notOurs(k.id(), kind, name, labelsOf(named[0]))
}

// checkMarks refuses a resource of a recorded id that does not carry our labels.
func (k *known) checkMarks(kind string, id int64, labels map[string]string) error {
	if k.marked(labels) {
		return nil
	}
	return refuse(CodeForeignLabels,
		"Put the labels "+labelOwner+"="+ownerLabel(k.Owner)+" and "+labelRecord+"="+k.ID+" back in the console of the platform, if it is still this host's. Nothing was changed or deleted.",
		"The %s %d, which the record of %s names, does not carry its labels any more.", kind, id, k.id())
}

func unexpected(id, kind string, resource int64, detail string) *sandbox.Refusal {
	return refuse(CodeUnexpected,
		"Somebody has changed it since, or given it our labels. Look at it in the console of the platform.",
		"The %s %d carries the labels of %s, but it is not what was asked for: %s.", kind, resource, id, detail)
}

func untrackedIPv6(id string, server int64) *sandbox.Refusal {
	return refuse(CodeUntrackedIPv6,
		"Take the IPv6 address off the server in the console of the platform, and decide there what becomes of it. Nothing was deleted.",
		"The server %d of %s has a primary IPv6 address, and we gave it none.", server, id)
}

func missing(id string) *sandbox.Refusal {
	return refuse(CodeMissing,
		"It is not made again by itself. Run a plan: it names the ways on.",
		"The server of %s is gone.", id)
}

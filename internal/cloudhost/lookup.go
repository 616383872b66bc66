package cloudhost

import (
	"context"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// RecordID finds the record of the owner's host of a name. Only the store is read. [CodeRecordMissing]
// when there is none, [CodeAmbiguous] when hosts of several projects have the name.
func (m *Manager) RecordID(ctx context.Context, name string) (string, error) {
	owner := m.ExplicitOwner
	if owner == "" {
		var err error
		if owner, err = m.Store.Owner(ctx); err != nil {
			return "", err
		}
	}
	records, err := m.Store.Find(ctx, store.Query{Backend: Backend, Kind: RecordKind, Owner: owner, Name: name})
	if err != nil {
		return "", err
	}
	switch {
	case owner == "" || len(records) == 0:
		return "", refuse(CodeRecordMissing, "Declare the host in this configuration, or point the provider at the store that it was made with.",
			"The store has no record of a cloud host %q of this owner.", name)
	case len(records) > 1:
		return "", refuse(CodeAmbiguous, "Purge one of them, or give it another name.", "The store has records of %d cloud hosts %q, in several projects.", len(records), name)
	}
	return records[0].ID, nil
}

package cloudhost

import "context"

// RecordID finds the record of the owner's host of a name. Only the store is read. [CodeRecordMissing]
// when there is none, [CodeAmbiguous] when there are several.
func (m *Manager) RecordID(ctx context.Context, name string) (string, error) {
	owner, err := m.records().Owner(ctx)
	if err != nil {
		return "", err
	}
	var k *known
	if owner != "" { // else nobody has made anything here
		if k, err = m.find(ctx, owner, name); err != nil {
			return "", err
		}
	}
	if k == nil {
		return "", refuse(CodeRecordMissing, "Declare the host in this configuration, or point the provider at the store that it was made with.",
			"The store has no record of a cloud host %q of this owner.", name)
	}
	return k.ID, nil
}

package sqlrows

import (
	"fmt"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/store"
)

// Version is the schema of a store; the zero value means that it was never made.
//
// A migration that only adds (tables, columns with a default, indexes) raises Minor: programs of
// an older minor go on reading and writing, because every statement names its columns. One that
// older programs could not live with raises Major, and they refuse the store.
type Version struct{ Major, Minor int }

// Current is what this program makes and understands, on every engine. The minor is the number
// of the last migration.
func Current() Version { return Version{Major: 1, Minor: 3} }

// Check refuses a store that a newer program made.
func (v Version) Check() error {
	current := Current()
	if v.Major > current.Major {
		return fmt.Errorf("%w (schema %d.%d, this version understands %d)", store.ErrNewerSchema, v.Major, v.Minor, current.Major)
	}
	return nil
}

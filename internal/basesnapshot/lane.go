package basesnapshot

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/sandbox"
)

// RecordKind is the Kind of the store's records of lanes.
const RecordKind = "base_snapshot"

// recordPrefix keeps the names of lanes apart from those of sandboxes, which have no slash.
const recordPrefix = "base/"

var runtimePattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// Lane names one line of base snapshots, of which one is current.
type Lane struct {
	App      string
	Template string
	// Runtime is empty where the source says what is inside.
	Runtime string
}

// Check judges the parts of a lane.
func (l Lane) Check() error {
	if err := sandbox.CheckName(l.App); err != nil {
		return fmt.Errorf("app: %w", err)
	}
	if err := sandbox.CheckName(l.Template); err != nil {
		return fmt.Errorf("template: %w", err)
	}
	if l.Runtime != "" {
		return CheckRuntime(l.Runtime)
	}
	return nil
}

// CheckRuntime judges the name of a runtime.
func CheckRuntime(runtime string) error {
	if !runtimePattern.MatchString(runtime) {
		return fmt.Errorf("%q is not a runtime: allowed are lower-case letters, digits, dots, hyphens and underscores, for example %q", runtime, "node24")
	}
	return nil
}

func (l Lane) String() string {
	if l.Runtime == "" {
		return l.App + "/" + l.Template
	}
	return l.App + "/" + l.Template + "/" + l.Runtime
}

// ID returns the identity of a lane, `<backend>/<app>/<template>[/<runtime>]`.
func ID(backend string, lane Lane) string { return backend + "/" + lane.String() }

// ParseID splits an identity into backend and lane.
func ParseID(id string) (backend string, lane Lane, err error) {
	parts := strings.Split(id, "/")
	if len(parts) < 3 || len(parts) > 4 || parts[0] == "" || parts[len(parts)-1] == "" {
		return "", Lane{}, fmt.Errorf("%q is not the id of a base snapshot: expected <backend>/<app>/<template> or <backend>/<app>/<template>/<runtime>, for example docker/shop/web", id)
	}
	lane = Lane{App: parts[1], Template: parts[2]}
	if len(parts) == 4 {
		lane.Runtime = parts[3]
	}
	if err := lane.Check(); err != nil {
		return "", Lane{}, err
	}
	return parts[0], lane, nil
}

// laneOf reads the lane from the name of its record.
func laneOf(recordName string) Lane {
	var lane Lane
	parts := strings.SplitN(strings.TrimPrefix(recordName, recordPrefix), "/", 3)
	for i, part := range []*string{&lane.App, &lane.Template, &lane.Runtime} {
		if i < len(parts) {
			*part = parts[i]
		}
	}
	return lane
}

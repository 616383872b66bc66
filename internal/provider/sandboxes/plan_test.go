package sandboxes

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/backends"
)

// TestSourceChanged covers what replaces a sandbox, and what only looks so.
func TestSourceChanged(t *testing.T) {
	t.Parallel()
	type source = backends.Source
	members := sourceValue(source{Rootfs: "/x"}).Attributes()
	members["image"], members["rootfs"] = types.StringUnknown(), types.StringNull()
	unknownImage := types.ObjectValueMust(sourceType, members)
	image, other := source{Image: "debian:12"}, source{Image: "debian:11"}
	snapshot, clone := source{SnapshotID: "s"}, source{CloneOf: "b"}
	root := source{Rootfs: "/srv/root"}
	known := func(s source) made { return made{Known: true, Source: s} }
	for _, test := range []struct {
		name        string
		state, plan types.Object
		made        made
		want        bool
	}{
		{"the same", sourceValue(image), sourceValue(image), known(image), false},
		{"another image", sourceValue(image), sourceValue(other), known(image), true},
		{"another spelling", sourceValue(image), sourceValue(source{Image: "docker.io/library/debian:12"}), known(image), false},
		{"latest by name", sourceValue(source{Image: "debian"}), sourceValue(source{Image: "debian:latest"}), known(image), false},
		{"another root", sourceValue(root), sourceValue(source{Rootfs: "/srv/root2"}), known(root), true},
		{"image to root", sourceValue(image), sourceValue(root), known(image), true},
		{"image to none", sourceValue(image), sourceValue(source{}), known(image), true},
		{"none to image", sourceValue(source{}), sourceValue(image), known(source{}), true},
		{"none to image after an import", sourceValue(source{}), sourceValue(image), made{}, false},
		{"import that knows", sourceValue(source{}), sourceValue(image), known(image), false},
		{"import that knows another", sourceValue(source{}), sourceValue(other), known(image), true},
		{"none stays none", sourceValue(source{}), sourceValue(source{}), known(source{}), false},
		{"unknown object", sourceValue(image), types.ObjectUnknown(sourceType), known(image), false},
		{"unknown member", sourceValue(image), unknownImage, known(image), false},
		{"another snapshot", sourceValue(snapshot), sourceValue(source{SnapshotID: "t"}), known(snapshot), false},
		{"another clone", sourceValue(clone), sourceValue(source{CloneOf: "c"}), known(clone), false},
		{"snapshot to clone", sourceValue(snapshot), sourceValue(clone), known(snapshot), false},
		{"snapshot dropped", sourceValue(snapshot), sourceValue(source{}), known(snapshot), false},
		{"clone dropped", sourceValue(clone), sourceValue(source{}), known(clone), false},
		{"image to snapshot", sourceValue(image), sourceValue(snapshot), known(image), true},
		{"root to clone", sourceValue(root), sourceValue(clone), known(root), true},
	} {
		p := planner{
			converter: converter{ctx: t.Context()},
			plan:      &common{Source: test.plan}, state: &common{Source: test.state}, config: &common{Source: test.plan}, made: test.made,
		}
		if found := p.sourceChanged(); found != test.want {
			t.Errorf("%s: changed is %v, want %v", test.name, found, test.want)
		}
		if p.diags.HasError() {
			t.Errorf("%s: %v", test.name, p.diags)
		}
	}
}

package provider

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// A store without a database is an error: it would be the embedded one, unseen.
func TestStoreNeedsADatabase(t *testing.T) {
	t.Setenv("SANDLOT_POSTGRES_URL", "")
	p := newPlanning(t)
	config := p.object(p.all.Provider, values{"data_dir": p.dataDir, "store": map[string]any{}})
	answer, err := p.server.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{TerraformVersion: "1.14.0", Config: p.pack(p.all.Provider, config)})
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Diagnostics) != 1 || !strings.Contains(answer.Diagnostics[0].Detail, "SANDLOT_POSTGRES_URL") ||
		answer.Diagnostics[0].Attribute.String() != `AttributeName("store").AttributeName("postgres_url")` {
		t.Errorf("the answer is %+v", answer.Diagnostics)
	}
}

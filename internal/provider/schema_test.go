package provider

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

func schemas(t *testing.T) *tfprotov6.GetProviderSchemaResponse {
	t.Helper()
	server, err := providerserver.NewProtocol6WithError(New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range response.Diagnostics {
		t.Errorf("%s: %s", d.Summary, d.Detail)
	}
	return response
}

// sentence ends a description: a full stop, which may stand before a closing bracket or quote.
var sentence = regexp.MustCompile(`[^.\s][^.]*\w.*[.](\)|\*)?$`)

// TestSchemas holds the schema to the rules that every attribute follows.
func TestSchemas(t *testing.T) {
	t.Parallel()
	response := schemas(t)
	all := map[string]*tfprotov6.Schema{"provider": response.Provider}
	for name, schema := range response.ResourceSchemas {
		all["resource "+name] = schema
	}
	for name, schema := range response.DataSourceSchemas {
		all["data source "+name] = schema
	}
	if len(response.ResourceSchemas) < 4 || len(response.DataSourceSchemas) < 4 {
		t.Fatalf("there are only %d resources and %d data sources", len(response.ResourceSchemas), len(response.DataSourceSchemas))
	}
	seen := 0
	for name, schema := range all {
		described(t, name, schema.Block.Description, schema.Block.DescriptionKind)
		if len(schema.Block.BlockTypes) > 0 {
			t.Errorf("%s has blocks", name)
		}
		walk(name, schema.Block.Attributes, false, func(at string, attribute *tfprotov6.SchemaAttribute, inSet bool) {
			seen++
			described(t, at, attribute.Description, attribute.DescriptionKind)
			if inSet && (attribute.Computed || attribute.WriteOnly) {
				t.Errorf("%s is computed, has a default or is write-only inside a set, which corrupts plans", at)
			}
			if attribute.WriteOnly && !strings.HasSuffix(attribute.Name, "_wo") {
				t.Errorf("%s is write-only, and its name does not end in _wo", at)
			}
			if attribute.Deprecated {
				t.Errorf("%s is deprecated before the first release", at)
			}
		})
	}
	if seen < 150 {
		t.Errorf("only %d attributes were seen", seen)
	}
}

func described(t *testing.T, at, description string, kind tfprotov6.StringKind) {
	t.Helper()
	if kind != tfprotov6.StringKindMarkdown || !sentence.MatchString(strings.TrimSpace(description)) {
		t.Errorf("%s is not described by a sentence in Markdown: %q", at, description)
	}
}

func walk(at string, attributes []*tfprotov6.SchemaAttribute, inSet bool, visit func(string, *tfprotov6.SchemaAttribute, bool)) {
	for _, attribute := range attributes {
		path := at + "." + attribute.Name
		visit(path, attribute, inSet)
		if nested := attribute.NestedType; nested != nil {
			walk(path, nested.Attributes, inSet || nested.Nesting == tfprotov6.SchemaObjectNestingModeSet, visit)
		}
	}
}

// TestResources holds every resource to what all of them have.
func TestResources(t *testing.T) {
	t.Parallel()
	response := schemas(t)
	server, err := providerserver.NewProtocol6WithError(New("test")())()
	if err != nil {
		t.Fatal(err)
	}
	identities, err := server.GetResourceIdentitySchemas(t.Context(), &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, make := range (&sandlot{}).Resources(t.Context()) {
		made := make()
		var metadata resource.MetadataResponse
		made.Metadata(t.Context(), resource.MetadataRequest{ProviderTypeName: TypeName}, &metadata)
		name := metadata.TypeName
		if _, ok := made.(resource.ResourceWithImportState); !ok {
			t.Errorf("%s cannot be imported", name)
		}
		schema, ok := response.ResourceSchemas[name]
		if !ok {
			t.Fatalf("%s has no schema", name)
		}
		byName := map[string]*tfprotov6.SchemaAttribute{}
		for _, attribute := range schema.Block.Attributes {
			byName[attribute.Name] = attribute
		}
		if id := byName["id"]; id == nil || !id.Computed || id.Optional || id.Required {
			t.Errorf("%s has no computed id", name)
		}
		limits := byName["timeouts"]
		if limits == nil || limits.NestedType == nil {
			t.Errorf("%s has no timeouts", name)
			continue
		}
		var operations []string
		for _, limit := range limits.NestedType.Attributes {
			operations = append(operations, limit.Name)
		}
		slices.Sort(operations)
		if !slices.Equal(operations, []string{"create", "delete", "read", "update"}) {
			t.Errorf("%s has timeouts for %q", name, operations)
		}
		identity := identities.IdentitySchemas[name]
		if identity == nil || len(identity.IdentityAttributes) == 0 {
			t.Errorf("%s has no identity", name)
			continue
		}
		for _, attribute := range identity.IdentityAttributes {
			if attribute.Description == "" || !attribute.RequiredForImport {
				t.Errorf("%s: the identity attribute %s has no description or is not required for import", name, attribute.Name)
			}
		}
	}
}

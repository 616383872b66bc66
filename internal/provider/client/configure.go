package client

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// From returns the client out of what the framework hands to Configure. It is nil during
// validation, when no provider is configured.
func From(providerData any) (*Client, diag.Diagnostics) {
	if providerData == nil {
		return nil, nil
	}
	client, ok := providerData.(*Client)
	if !ok {
		return nil, diag.Diagnostics{diag.NewErrorDiagnostic(
			"Unexpected Provider Data",
			fmt.Sprintf("Expected *client.Client, got %T. This is a fault in the provider.", providerData),
		)}
	}
	return client, nil
}

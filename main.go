// Command terraform-provider-sandlot serves the Sandlot provider to Terraform and OpenTofu.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/sandlot-dev/terraform-provider-sandlot/internal/provider"
)

// version is set by the release build.
var version = "dev"

// address names the provider where a debugger attaches. Its host is a placeholder: leave it out of
// TF_REATTACH_PROVIDERS, and each CLI adds the host of its own registry.
const address = "localhost/sandlot-dev/sandlot"

func main() {
	var debug bool
	flag.BoolVar(&debug, "debug", false, "keep running, for a debugger to attach")
	flag.Parse()
	if err := providerserver.Serve(context.Background(), provider.New(version), providerserver.ServeOpts{
		Address:         address,
		Debug:           debug,
		ProtocolVersion: 6,
	}); err != nil {
		log.Fatal(err)
	}
}

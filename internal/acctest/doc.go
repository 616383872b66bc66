// Package acctest drives the provider through the real CLIs: it builds the plugin, makes working
// directories with an environment of their own, runs Terraform and OpenTofu in them and reads what
// they say. It also looks at the Docker engine by plain HTTP, so that a test never has to believe
// the provider about what it did.
//
// Everything here is safe for parallel tests.
package acctest

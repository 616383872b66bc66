// Package sandbox holds what a sandbox is without Terraform: naming, path and option rules, and
// the lifecycle that keeps record, object and Terraform state in step whatever is killed.
package sandbox

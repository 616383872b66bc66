module github.com/sandlot-dev/terraform-provider-sandlot/tools/engine

go 1.26.0

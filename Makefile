# Everything that is built lands in .build/ (ignored by git). Longer steps live in scripts/.

VERSION ?= $(patsubst v%,%,$(shell git describe --tags --always --dirty 2>/dev/null || echo dev))
BIN     := .build/bin
DEV     := .build/dev/terraform-provider-sandlot

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

##@ Try it

.PHONY: help
help: ## Show this list
	@awk 'BEGIN { FS = ":.*## " } /^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' Makefile

.PHONY: quickstart
quickstart: ## Apply examples/quickstart, destroy it with retain, apply again: the data is back
	@scripts/quickstart.sh up

.PHONY: quickstart-destroy
quickstart-destroy: ## Purge everything that quickstart made
	@scripts/quickstart.sh purge

##@ Build

.PHONY: build
build: ## Build the provider into .build/dev/
	CGO_ENABLED=0 go build -trimpath -ldflags '-X main.version=$(VERSION)' -o $(DEV) .

.PHONY: install
install: build ## Install the provider and print the CLI configuration that selects it
	@scripts/install.sh $(DEV)

.PHONY: clean
clean: ## Remove what was built (quickstart data only goes by quickstart-destroy)
	@scripts/clean.sh

.PHONY: sim-vercel
sim-vercel: ## Serve a simulated Vercel Sandbox; prints its URL and token (ARGS='--state DIR')
	@go run ./internal/simulator/sandlot-sim vercel $(ARGS)

.PHONY: sim-hetzner
sim-hetzner: ## Serve a simulated Hetzner Cloud; prints its endpoint and token (ARGS='--machines')
	@go run ./internal/simulator/sandlot-sim hetzner $(ARGS)

##@ Check

.PHONY: test
test: ## Bring up what the tests need, then vet, lint, drift checks and every test
	@scripts/test.sh

.PHONY: testacc
testacc: ## Only the tests that drive the real CLIs (RUN=TestAccImport narrows them)
	@scripts/testacc.sh '$(RUN)'

.PHONY: bench
bench: ## Measure start-up, per-resource and per-create cost beside their floors
	@scripts/bench.sh

.PHONY: fmt
fmt: $(BIN)/golangci-lint ## Format Go and HCL
	$(BIN)/golangci-lint fmt
	@scripts/hcl-fmt.sh

.PHONY: lint
lint: $(BIN)/golangci-lint ## Lint Go, HCL and shell, and prove that the layer rule bites
	$(BIN)/golangci-lint run
	@scripts/lint-selfcheck.sh $(BIN)/golangci-lint
	@scripts/hcl-fmt.sh -check
	@scripts/lint-shell.sh

.PHONY: vuln
vuln: $(BIN)/govulncheck ## Look for published advisories that our code reaches
	$(BIN)/govulncheck ./...

##@ Generate

.PHONY: generate
generate: ## Run go generate, then docs
	go generate ./...
	@$(MAKE) --no-print-directory docs

.PHONY: docs
docs: build $(BIN)/tfplugindocs ## Write docs/ from schema, templates/ and examples/
	@scripts/docs.sh write

.PHONY: docs-check
docs-check: build $(BIN)/tfplugindocs ## Fail when generated files are not what generate would write
	@scripts/docs.sh check

##@ Release

.PHONY: release-snapshot
release-snapshot: $(BIN)/goreleaser ## Build the release archives into dist/, unsigned, without publishing
	$(BIN)/goreleaser release --snapshot --clean --skip=publish,sign

# Tools are pinned in modules of their own and built again only when those change.

.PHONY: tools
tools: $(BIN)/golangci-lint $(BIN)/tfplugindocs $(BIN)/govulncheck $(BIN)/tofu $(BIN)/engine

$(BIN)/golangci-lint: tools/lint/go.mod tools/lint/go.sum
	@scripts/build-tool.sh lint golangci-lint

$(BIN)/tfplugindocs: tools/docs/go.mod tools/docs/go.sum
	@scripts/build-tool.sh docs tfplugindocs

$(BIN)/govulncheck: tools/vuln/go.mod tools/vuln/go.sum
	@scripts/build-tool.sh vuln govulncheck

$(BIN)/goreleaser: tools/release/go.mod tools/release/go.sum
	@scripts/build-tool.sh release goreleaser

$(BIN)/tofu: tools/tofu/go.mod tools/tofu/go.sum
	@scripts/build-tool.sh tofu tofu

$(BIN)/engine: tools/engine/go.mod tools/engine/main.go
	@scripts/build-tool.sh engine engine

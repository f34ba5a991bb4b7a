# Entry points for people and CI. `make` lists them.

SHELL := /bin/sh
.DEFAULT_GOAL := help

NODE ?= node
NPM ?= npm
TSX := $(NODE) --import tsx
ESPALIER := $(NODE) dist/src/cli/main.js
# The current long-term support line of Node.js; the product itself needs 20.19 or later.
NODE_LTS ?= 26.10.0
# For example: make test SUITES=test/unit/cli
SUITES ?=
ARGS ?=
# For `make simulate`: how many seeds, or the one to replay; for `make test-go-oracle` the one to replay.
SEEDS ?= 1000
SEED ?=

.PHONY: help
help: ## show this page
	@echo 'Espalier installs whole landscapes on Kubernetes. Targets:'
	@echo
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-16s %s\n", $$1, $$2 }'
	@echo
	@echo 'Start with: make run'

# ---------------------------------------------------------------- setting up

.PHONY: install
install: node_modules/.package-lock.json ## install the packages, if the lock file has changed

node_modules/.package-lock.json: package-lock.json
	@$(NODE) -e 'const [a, b] = process.versions.node.split("."); if (a < 20 || (a == 20 && b < 19)) { console.error("error: Node.js 20.19 or later is needed, this is " + process.version); process.exit(1) }'
	$(NPM) ci
	@touch $@

.PHONY: build
build: install ## compile to dist; takes no time when nothing has changed
	@$(NODE) hack/build.mjs

.PHONY: clean
clean: ## remove what was built
	rm -rf dist coverage

# ---------------------------------------------------------------- running

.PHONY: run
run: build ## watch a sample landscape being installed; needs no cluster
	@$(ESPALIER) demo $(ARGS)

.PHONY: dev
dev: build ## an API server with all controllers, until Ctrl-C; options in ARGS="--port 6443"
	@$(ESPALIER) dev $(ARGS)

# ---------------------------------------------------------------- testing

.PHONY: test
test: install ## unit, scenario and conformance tests but the slow and long ones; a choice in SUITES="unit test/unit/cli"
	@$(TSX) hack/run-tests.ts $(SUITES) $(ARGS)

.PHONY: test-node-lts
test-node-lts: install ## the tests that depend on Node.js, on its current LTS, which it downloads; others: SUITES=unit
	@node=$$($(NODE) hack/node-lts.mjs $(NODE_LTS)) && "$$node" --import tsx hack/run-tests.ts $(or $(SUITES),node-lts) $(ARGS)

.PHONY: test-rest
test-rest: build ## all other tests and checks, as far as this machine can run them; a part: ARGS=--only=slow
	@lts=$$($(NODE) hack/node-lts.mjs $(NODE_LTS)); $(TSX) hack/run-tests.ts --rest $${lts:+--node=$$lts} $(ARGS)

.PHONY: test-kubectl
test-kubectl: install ## kubectl against the embedded API server, needs kubectl
	@$(TSX) hack/run-tests.ts --kubectl $(ARGS)

.PHONY: test-envtest
test-envtest: install ## conformance, scenario and end-to-end tests on a real kube-apiserver
	@$(TSX) hack/run-tests.ts --envtest $(SUITES) $(ARGS)

.PHONY: programs
programs: install ## build the programs in Go that tests run, kube-apiserver and helm among them; minutes, once
	@$(TSX) hack/go/main.ts $(ARGS)

.PHONY: test-go-oracle
test-go-oracle: install ## compare GoTemplate and Spiff with the original engines in generated cases, needs Go; replay: SEED=42
	@SEED=$(SEED) $(TSX) hack/go-oracle/compare.ts $(ARGS)

.PHONY: test-helm
test-helm: install ## render charts and install releases here and with the real helm, and compare; foreign files: ARGS="--charts DIR"; needs Go
	@$(TSX) hack/helm/compare.ts $(ARGS)

.PHONY: test-registry
test-registry: install ## components in a real registry; builds one once, needs Go if Debian's is not installed
	@$(TSX) hack/registry/main.ts && $(TSX) hack/run-tests.ts scenario/components $(ARGS)

.PHONY: test-slow
test-slow: install ## the tests that `make test` leaves out because they take some ten seconds each
	@$(TSX) hack/run-tests.ts slow $(ARGS)

# Replicas, programs in pods, hostile templates, plans with charts, a few seeds of the simulation.
.PHONY: test-long
test-long: install ## the tests that `make test` leaves out because each takes long; minutes
	@$(TSX) hack/run-tests.ts long $(ARGS)

.PHONY: test-crashes
test-crashes: install ## end controllers and deployers between any two writes; minutes
	@$(TSX) hack/run-tests.ts crashes $(ARGS)

.PHONY: test-faults
test-faults: install ## sixty trees over a connection that refuses, delays and aborts requests; minutes; other faults: SEED=42
	@SEED=$(SEED) $(TSX) hack/run-tests.ts faults $(ARGS)

.PHONY: test-attacks
test-attacks: build ## attack the product as it is installed, and check that other namespaces still work; one kind: SUITES=test/attacks/trees.test.ts
	@$(TSX) hack/run-tests.ts $(or $(SUITES),attacks) $(ARGS)

.PHONY: test-console
test-console: build ## the web console in a headless Chromium; needs Debian's package chromium
	@$(TSX) hack/run-tests.ts console $(ARGS)

.PHONY: test-clients
test-clients: install ## clients in Go and helm on the embedded API server; builds them once, needs Go
	@$(TSX) hack/go-clients/main.ts && $(TSX) hack/run-tests.ts clients $(ARGS)

# Nothing of it stays on the machine but the caches, and nothing listens outside of the network of the node.
.PHONY: test-node
test-node: build ## the product in a real cluster of one node on this machine; needs root, Linux, Go once and Debian packages
	@$(TSX) hack/node/main.ts $(ARGS) $(SUITES)

.PHONY: test-large
test-large: install ## the runtime with 60 000 objects
	@$(TSX) hack/run-tests.ts large $(ARGS)

.PHONY: simulate
simulate: install ## controllers under random faults, with SEEDS=1000 seeds; replay one: SEED=42 ARGS=--verbose
	@$(TSX) test/simulation/main.ts $(if $(SEED),--seed $(SEED),--seeds $(SEEDS)) $(ARGS)

.PHONY: traces
traces: build ## replay recorded scenarios on the embedded API server and compare
	@$(TSX) hack/traces.ts $(ARGS)

.PHONY: traces-envtest
traces-envtest: build ## replay recorded scenarios on a real kube-apiserver and compare
	@$(TSX) hack/traces.ts --envtest $(ARGS)

.PHONY: bench
bench: build ## measure speed and size; what there is: ARGS=--help; beside another commit: ARGS="compare --base COMMIT"
	@$(NPM) run --silent bench -- $(ARGS)

.PHONY: guard
guard: build ## fail if a tree costs more writes, bytes or code than before; accept it: ARGS="--update 'why'"
	@$(NPM) run --silent bench -- guard $(ARGS)

.PHONY: mutate
mutate: install ## which small changes of the product no test notices; SUITES=src/workflow, ARGS=--changed, --survivors or --list
	@$(TSX) hack/mutate/main.ts $(ARGS) $(SUITES)

# ---------------------------------------------------------------- releasing

VERSION ?= $(shell $(NODE) -p 'require("./package.json").version')
PLATFORMS ?=

.PHONY: release
release: build ## package, chart, images, SBOM, changes and checksums into dist/release; uploads nothing; VERSION=1.2.3 PLATFORMS=linux/amd64,linux/arm64
	@$(TSX) hack/release/main.ts $(VERSION) $(if $(PLATFORMS),--platforms $(PLATFORMS)) $(ARGS)

# ---------------------------------------------------------------- checking

.PHONY: check
check: install ## format, types, lint, import rules, exports, generated files; one of them: ARGS=lint
	@$(NPM) run --silent check -- $(ARGS)

.PHONY: generate
generate: install ## regenerate the generated files
	@$(NPM) run --silent generate

.PHONY: verify
verify: install ## fail if a generated file is out of date
	@$(NPM) run --silent verify

.PHONY: format
format: install ## format all files
	@$(NODE) node_modules/prettier/bin/prettier.cjs --log-level warn --write .

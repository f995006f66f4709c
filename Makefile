# What can be done with a checkout of Kith. `make` alone lists it.

SWIFT ?= swift
PREFIX ?= /usr/local
SEED ?=
# Suites that need minutes or several hosts, and the example for apps; `make check` leaves them out.
SLOW = $(MACHINES)|Soak|SimulatedAppExample
# Suites that need several hosts.
MACHINES = RealMachines|PairedMachines|HouseholdMachines
# Tests that compute, that meet peers in this process, and that block while they wait for other processes: each kind runs by
# itself, so that nobody who waits for a peer waits for a computation instead.
COMPUTING = Project|KithCausality|KithSync|KithText|KithStore|KithTesting
CONNECTING = KithTrust|KithTransport
BLOCKING = KithDiscovery|KithNotes|KithFiles|KithCLI|KithLab
# Suites that judge many more cases when KITH_SOAK is set; those of KithText as many as it says. SoakScenarios runs real machines
# (with root), and so by itself.
SOAKING = Soak|DifferentialSQL|KithSyncTests.ConvergenceTests|History|SchemaSkew|KilledProcess|MergeModel|TextDelivery|KithTextTests|Flood|Stranger
SOAK ?= 100000
# Tests are built with warnings as errors, and the modules that compute are optimised.
STRICTLY = KITH_WERROR=1 KITH_OPTIMIZE=1
RUN = SWIFT="$(SWIFT)" $(STRICTLY) scripts/test.sh --skip-build --disable-xctest

.DEFAULT_GOAL := help
.PHONY: help demo test check lint format build release soak bench counts examples install clean setup

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: setup ## two nodes find each other on this machine and share a note; leaves nothing behind
	@scripts/demo.sh

test: setup ## build everything with warnings as errors, count instructions, run all tests
	$(STRICTLY) $(SWIFT) build --build-tests
	scripts/counts.sh
	$(RUN) --filter '^($(COMPUTING))Tests\.|^SimulatedAppExample\.'
	$(RUN) --filter '^($(CONNECTING))Tests\.'
	$(RUN) --filter '^KithTests\.' --skip '$(MACHINES)'
	$(RUN) --no-parallel --filter '^($(BLOCKING))Tests\.|$(MACHINES)'

check: setup lint ## the quick round while working: format and the tests that take seconds
	$(SWIFT) test --disable-xctest --skip '$(SLOW)'

lint: ## complain about what `make format` would change
	@$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests

format: ## rewrite all Swift files in the project's format
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests

build: setup ## build for debugging
	$(SWIFT) build

release: setup ## build for use
	$(SWIFT) build --configuration release --product kith

soak: setup ## run the tests that take hours; SEED=N repeats one run
	KITH_SOAK=$(SOAK) $(if $(SEED),KITH_SEED=$(SEED)) $(STRICTLY) $(SWIFT) test --disable-xctest --filter '$(SOAKING)' --skip SoakScenarios
	KITH_SOAK=$(SOAK) $(STRICTLY) $(SWIFT) test --disable-xctest --skip-build --filter SoakScenarios

bench: setup ## run the benchmarks
	@[ -d Benchmarks ] || { echo "There are no benchmarks in this version."; exit 1; }
	cd Benchmarks && $(SWIFT) run --configuration release

examples: setup ## build Examples/ as the package of its own that it is; `make test` compiles and runs it as a part of this one
	cd Examples && $(SWIFT) build --build-tests

counts: setup ## fail if a kernel takes a tenth more instructions than recorded; RECORD=1 records them anew
	scripts/counts.sh $(if $(RECORD),--record)

install: release ## install kith under PREFIX (default /usr/local)
	install -d "$(DESTDIR)$(PREFIX)/bin"
	install -s -m 755 "$$($(SWIFT) build --configuration release --show-bin-path)/kith" "$(DESTDIR)$(PREFIX)/bin/kith"

clean: ## remove what was built
	$(SWIFT) package clean
	rm -rf .build

setup:
	@scripts/setup.sh

# What can be done with a checkout of Kith. `make` alone lists it.

SWIFT ?= swift
export SWIFT
PREFIX ?= /usr/local
SEED ?=
PORTION ?=
# How many cases the tests of texts judge in `make soak`.
SOAK ?= 20000
RELEASE = scripts/release.sh

.DEFAULT_GOAL := help
.PHONY: help demo test check lint format build release docs soak sanitize bench counts examples install deb tarball package clean setup

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: setup ## two nodes find each other on this machine and share a note; leaves nothing behind
	@scripts/demo.sh

test: ## check the format, build everything with warnings as errors, count instructions, run all tests
	@scripts/fetch.sh & $(MAKE) --no-print-directory setup lint; result=$$?; wait; exit $$result
	scripts/build.sh --build-tests
	scripts/test.sh

check: setup lint ## the quick round while working: format and the tests that take seconds
	$(SWIFT) build --build-tests
	scripts/test.sh --quick

lint: ## complain about what `make format` would change, and about public declarations without documentation
	@$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Tests Benchmarks
	@scripts/undocumented.sh

format: ## rewrite all Swift files in the project's format
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks

build: setup ## build for debugging
	$(SWIFT) build

release: setup ## build for use: programs that need no Swift where they run
	$(RELEASE) --product kith
	$(RELEASE) --product kith-lab

docs: setup ## make the documentation of what `import Kith` brings, in .build/documentation; warnings are errors
	scripts/docs.sh

soak: setup ## run the tests that take hours; PORTION=NAME one portion of them (scripts/soak.sh), SEED=N one seed
	scripts/build.sh --build-tests
	$(if $(SEED),KITH_SEED=$(SEED)) KITH_SOAK=$(SOAK) scripts/soak.sh $(PORTION)

sanitize: setup ## run the tests that use threads under ThreadSanitizer, with a build of their own
	scripts/sanitize.sh

bench: setup ## run the benchmarks
	$(SWIFT) run --configuration release kith-bench

examples: setup ## build Examples/ as the package of its own that it is; `make test` compiles and runs it as a part of this one
	cd Examples && $(SWIFT) build --build-tests

counts: setup ## fail if a kernel takes a tenth more instructions than recorded; RECORD=1 records them anew
	scripts/counts.sh $(if $(RECORD),--record)

install: release ## install programs, manual, completions and service under PREFIX (default /usr/local)
	scripts/install.sh "$$($(RELEASE) --show-bin-path)" "$(DESTDIR)" "$(PREFIX)" kith-lab

deb: setup ## make a Debian package of kith in .build/packages
	$(RELEASE) --product kith
	scripts/deb.sh "$$($(RELEASE) --show-bin-path)" .build/packages

tarball: release ## make an archive for other systems in .build/packages
	scripts/tarball.sh "$$($(RELEASE) --show-bin-path)" .build/packages

package: deb ## install the Debian package in clean systems, use it, upgrade it, remove it, also under systemd (needs root and debootstrap)
	scripts/unicode-test.sh
	scripts/package-test.sh .build/packages/kith_$$(scripts/version.sh)_$$(dpkg --print-architecture).deb

clean: ## remove what was built
	$(SWIFT) package clean
	rm -rf .build

setup:
	@scripts/setup.sh

# Sightline: everything a person or a machine does with this repository. Linux only.
#
# The build tags stand here and nowhere else. gocv compiles only the OpenCV modules
# that are named. Without tags everything is pure Go and needs no C compiler. The tests
# that open a browser have a tag of their own: compiling what drives it takes half a minute.
GOTAGS   := opencv,gocv_specific_modules,gocv_calib3d,gocv_videoio
TESTTAGS := $(GOTAGS),browser

STATICCHECK  := honnef.co/go/tools/cmd/staticcheck@v0.7.0
GOTESTSUM    := gotest.tools/gotestsum@v1.13.0
# The packages that start goroutines, or are other code without OpenCV. Not vision/look and
# vision/obstacle: they start one each, which hands over by a channel, and take minutes here.
RACE_PKG     := $(addprefix ./cmd/internal/,web pipeline rulings access app doctor event first game hall live projector sheet squads terminal) \
                ./cmd/sightline ./hardware/... ./vision/capture ./vision/opencv
# What takes longest starts first, here and above, or it would run alone at the end.
LONG_PKG     := $(addprefix ./cmd/internal/,web accuracy app pipeline) ./vision/tablesim ./engine ./engine/move ./vision/opencv ./cmd/sightline
ACCURACY_PKG := ./cmd/internal/accuracy/... ./engine ./engine/move ./calibration/... ./vision/tablesim
BENCH_PKG    := ./...

# Git is asked only where the version is used: it changes .git, and go test would run the tests that walk the tree again.
VERSION = $(shell git -c safe.directory='*' describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS = -X main.version=$(VERSION)
SHELL   := /bin/bash
.SHELLFLAGS := -euo pipefail -c
# A Go in the usual place is found even when PATH does not name it.
export PATH := $(PATH):/usr/local/go/bin

# Processors since 2009 count bits and round in one instruction: the search for stock ships takes an eighth less time.
export GOAMD64 ?= v2

# The race detector needs a C compiler, which these tests otherwise do without.
# SQLite is C translated to Go, which passes pinned pointers as numbers: the race
# detector's pointer check does not hold for it.
RACE := $(if $(shell command -v gcc),-race -gcflags=modernc.org/sqlite/...=-d=checkptr=0)

# $(call gotest,PACKAGES,FLAGS). With RERUN=1 up to six tests that fail run once more, are listed, and
# fail when they fail again. After a data race or a panic nothing runs again.
gotest = $(if $(RERUN),go run $(GOTESTSUM) --format standard-quiet --rerun-fails=1 --rerun-fails-max-failures=6 \
	--rerun-fails-abort-on-data-race --rerun-fails-run-root-test --packages="$(1)" -- $(2),go test $(2) $(1))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help deps deps-browser deps-axe build build-arm64 deb deb-all test-packages run test quick test-one test-go test-cv test-hardware test-arm64 lint fmt tidy-check accuracy bench clean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## install what building needs and is missing (apt; sudo if not root)
	@.ci/deps

deps-browser:
	@.ci/deps browser

deps-axe: ## fetch what the pages' accessibility is tested with, into the user's cache
	@.ci/axe

build: deps ## build bin/sightline
	go build -buildvcs=false -tags "$(GOTAGS)" -ldflags "$(LDFLAGS)" -o bin/sightline ./cmd/sightline

build-arm64: ## build bin/sightline-arm64, without OpenCV
	CGO_ENABLED=0 GOARCH=arm64 go build -buildvcs=false -ldflags "$(LDFLAGS)" -o bin/sightline-arm64 ./cmd/sightline

deb: ## build a Debian package for this Debian, out/sightline_VERSION_ARCH.deb
	@.ci/deps package
	@GOTAGS="$(GOTAGS)" firmware-config/package/build

deb-all: ## build the packages for Debian 12 and 13, amd64 and arm64 (as root; long); ONLY="12/amd64" to choose
	@GOTAGS="$(GOTAGS)" firmware-config/package/build-all $(ONLY)

test-packages: ## build, install, upgrade, remove the packages in Debian roots (as root; long); ONLY as for deb-all, DEBS=out to build none
	@GOTAGS="$(GOTAGS)" DEBS="$(DEBS)" firmware-config/package/test $(ONLY)

run: build ## start on the simulated table, with the page on http://localhost:8080
	./bin/sightline run --source sim: $(ARGS)

test: deps-browser test-cv test-go ## install what is missing and run every test

# go vet looks at more than go test's own vet, which would look at everything once more. The tests of
# pages wait for a browser most of their time: another package runs meanwhile. That no OpenCV picture
# is left open takes gocv built a second time, half a minute of one processor: it is built beside the tests.
test-cv: ## vet and test with OpenCV, and test that no OpenCV picture is left open
	go vet -tags "$(TESTTAGS)" ./...
	go test -vet=off -tags "$(GOTAGS),matprofile" -run Mat ./vision/opencv & mats=$$!; failed=; \
	$(call gotest,$(LONG_PKG) ./...,-p $$(($$(nproc)+1)) -vet=off -tags "$(TESTTAGS)" -timeout 40m) || failed=1; \
	wait $$mats || failed=1; [ -z "$$failed" ]

# What starts no goroutine has no race, and test-cv tests it; where everything is ten times
# as slow the long tests are cut short.
test-go: ## vet without OpenCV, and test what runs concurrently with the race detector
	go vet -tags browser ./...
	$(call gotest,$(RACE_PKG),-vet=off -tags browser $(RACE) -short -timeout 40m)

# Without go vet, which takes an eighth of the first run and is in test and lint.
quick: ## run the short tests in pure Go, without a browser: the developer's loop
	go test -vet=off -short ./...

test-one: deps ## run one test with OpenCV: make test-one PKG=./vision/ship RUN=TestName
	go test -tags "$(TESTTAGS)" -run "$(RUN)" $(PKG)

test-hardware: deps ## test lamps, display, controls and camera against a real kernel in a virtual machine
	@GOTAGS="$(GOTAGS)" hardware/vm/test

test-arm64: build-arm64 ## run it for arm64 under qemu-user, and compare its answers with this processor's
	@.ci/arm64

lint: ## check formatting, go vet and staticcheck, with and without OpenCV
	@TESTTAGS="$(TESTTAGS)" STATICCHECK="$(STATICCHECK)" .ci/lint

fmt: ## format the Go files
	gofmt -w cmd calibration engine firmware-config hardware vision

tidy-check: ## check that go.mod and go.sum name what is used and nothing else
	go mod tidy -diff

accuracy: deps ## measure the accuracy on random simulated tables and scenes (long); ACCURACY_PKG=./... to choose
	SIGHTLINE_ACCURACY=full SIGHTLINE_REPORT="$(CURDIR)/out/accuracy" go test -tags "$(GOTAGS)" -count=1 -v -timeout 60m $(ACCURACY_PKG)

bench: deps ## run the benchmarks; BENCH_PKG=./... to choose
	go test -tags "$(GOTAGS)" -run '^$$' -bench . -benchmem $(BENCH_PKG)

clean: ## remove what was built
	rm -rf bin out

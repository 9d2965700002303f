# Targets for development and CI. "make help" lists them.

GO      ?= go
# Empty for a tagged release.
REVISION ?= $(shell git describe --tags --exact-match >/dev/null 2>&1 && git diff --quiet HEAD || git describe --always --dirty --exclude '*' 2>/dev/null || echo devel)
LDFLAGS := -s -w -X soku/internal/version.revision=$(REVISION)
export CGO_ENABLED ?= 0

.PHONY: help build cases demo quick test race plainloops lint vet cross fuzz clean peers bench sweep simulations verdicts wine notices scale scale-intake scale-stores scale-trials scale-mesh scale-starts faults

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

build: ## build bin/soku and bin/soku-hub
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/soku ./cmd/soku-hub

demo: build ## measure an emulated network and write demo/report.html
	@demo/run

cases: build ## run the five studies on emulated networks (root) and write docs/samples (CASES="NAME ..." for some)
	@examples/cases/run $(CASES)

peers: ## install the programs that the tests measure against, or print what will be skipped
	@test/peers

# Most tests wait rather than compute, so more tests of a package run in parallel than
# there are processors. Packages with timing-sensitive tests run one after another.
AT_ONCE := -parallel 8

# run_tests runs the tests of packages $(2) with the flags $(1) and lists those that were
# skipped. SKIPS='-allowed FILE' fails on a skip that FILE does not list. Failed tests are
# repeated once; test/skips accepts that only of timing-sensitive tests on a busy host.
define run_tests
	@mkdir -p bin; failed=0; \
	$(GO) tool -modfile=tools/go.mod gotestsum --format standard-quiet --hide-summary skipped --jsonfile bin/$@.json \
		--rerun-fails=1 --rerun-fails-max-failures 5 --rerun-fails-run-root-test --rerun-fails-abort-on-data-race --packages '$(2)' -- \
		$(1) -count=1 -p 1 $(AT_ONCE) -timeout 15m || failed=$$?; \
	$(GO) run ./test/skips $(SKIPS) bin/$@.json || failed=$$?; \
	exit $$failed
endef

# Without tables for debuggers the test programs are linked in a third less time.
quick: ## run the tests that need neither root nor real time
	$(GO) test -short -ldflags '-s -w' $(AT_ONCE) ./...

test: peers build ## run every test and list those that were skipped
	$(call run_tests,,./...)

# These packages start no goroutines, nor do their tests but those that the race detector omits, and
# they compute for minutes under it.
SEQUENTIAL := soku/internal/ingest soku/internal/report soku/internal/stats soku/internal/yamlfile soku/test

race: export CGO_ENABLED = 1
# By default each process sleeps for a second at its exit, so that reports of other threads are
# not cut off.
race: export GORACE = atexit_sleep_ms=50
race: ## run all but timing-sensitive tests under the race detector
	$(call run_tests,-race,$(filter-out $(SEQUENTIAL),$(shell $(GO) list ./...)))

plainloops: ## test the engines with loops inside the Go runtime (docs/decisions/0005)
	$(GO) build -tags plainloops -o /dev/null ./cmd/soku
	$(call run_tests,-tags plainloops,./internal/sock ./internal/engine/bulk ./internal/engine/latency/... ./internal/engine/tcp)

vet:
	$(GO) vet ./...

lint: ## run golangci-lint in the version pinned in tools/go.mod
	$(GO) tool -modfile=tools/go.mod golangci-lint run

cross: ## build for every platform
	@for os in linux windows darwin; do for arch in amd64 arm64; do \
		echo "build $$os/$$arch"; \
		GOOS=$$os GOARCH=$$arch $(GO) build -o /dev/null ./... || exit 1; \
	done; done

bench: build ## measure soku and its peers side by side and write docs/performance.md (BENCH="--quick")
	$(GO) run ./bench $(BENCH)

sweep: build ## compare soku with the fastest mode of iperf3 over loopback at 1 to 64 streams (SWEEP="--rounds 3")
	$(GO) run ./bench --sweep $(SWEEP)

simulations: ## simulate the rules of statistics at full size and write the table in docs/method.md
	SOKU_SIMULATIONS=10 nice $(GO) test -count=1 -timeout 60m ./internal/stats
	SOKU_SIMULATIONS=10 nice $(GO) test -count=1 -timeout 60m -run 'TestComparing|TestOfEqual|TestSentencesOfMany' -v ./internal/report

verdicts: build ## compare verdicts with the known limits of emulated networks (root, half an hour; VERDICTS="-seed 7", or -busy for the same on busy hosts)
	$(GO) run ./test/verdicts $(VERDICTS)

faults: ## kill hubs, agents, brokers and PostgreSQL at random moments, 50 times, and what takes minutes (docs/faults.md; SEED=7 repeats one run, FAULTS=5 makes five)
	SOKU_FAULTS=$(or $(FAULTS),50) SEED=$(SEED) $(GO) test -count=1 -timeout 4h -v ./test/faults

scale: ## have simulated agents join a hub and print what it takes (docs/scale.md; SCALE=3000 for that many)
	SOKU_SCALE=$(or $(SCALE),1000) $(GO) test -count=1 -v -run 'TestAHubWorks|TestTheClock' ./test/scale

scale-starts: ## have agents on one machine start together, and run the study of 18 hosts through a hub
	SOKU_SCALE=1 $(GO) test -count=1 -v -timeout 1h -run 'StartTogether|InterfaceMatrix' ./test/fleet

scale-intake: ## have agents deliver 200 results a second to a hub for FOR=60 seconds, into each kind of database
	SOKU_SCALE_SECONDS=$(or $(FOR),60) $(GO) test -count=1 -v -timeout 60m -run 'TestAHubTakes/$(KIND)' ./test/scale

scale-stores: ## store RESULTS=1000000 documents in each kind of database and ask what pages ask (10 GB of disk; KIND=SQLite for one)
	SOKU_SCALE_RESULTS=$(or $(RESULTS),1000000) $(GO) test -count=1 -v -timeout 120m -run 'TestAStoreOf/$(KIND)' ./test/scale

scale-trials: ## run CAMPAIGNS=20 campaigns by hand and as many through a hub, in turn
	SOKU_SCALE_CAMPAIGNS=$(or $(CAMPAIGNS),20) $(GO) test -count=1 -v -timeout 60m -run TestATrialThrough ./test/fleet

scale-mesh: ## plan a mesh of 1,000 hosts, and run its schedule in simulated time with lost trials
	$(GO) test -run '^$$' -bench PlanAMesh -benchtime 5x ./internal/campaign/plan ./internal/campaign/schedule
	$(GO) test -count=1 -v -run TestHostsOfAMesh ./internal/campaign/schedule

wine: ## run the Windows build's tests and program under wine, PACKAGES="internal/sock ..." for some
	@GO='$(GO)' test/wine $(PACKAGES)

fuzz: ## fuzz every decoder for FUZZTIME (default 20s) each
	@test/fuzz $(or $(FUZZTIME),20s)

notices: ## write the licenses of all modules in the program (THIRD-PARTY-NOTICES, soku licenses)
	$(GO) run ./test/notices

clean: ## remove what was built
	rm -rf bin demo/report* demo/data examples/cases/data

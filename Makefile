# Everything a person or CI does with the sources. "make help" lists it.

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
LDFLAGS := -s -w -X soku/internal/version.number=$(VERSION)
export CGO_ENABLED ?= 0

.PHONY: help build demo test race plainloops lint vet cross fuzz clean peers bench wine

help: ## list the targets
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 10

build: ## build bin/soku
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/soku ./cmd/soku

demo: build ## measure an emulated network and write demo/report.html
	@demo/run

peers: ## install what the tests measure against, or say what will be skipped
	@test/peers

test: peers build ## run every test, one package at a time: some watch the clock
	$(GO) test -count=1 -p 1 -timeout 15m ./...

race: ## run the tests that do not depend on timing under the race detector
	CGO_ENABLED=1 $(GO) test -race -short -count=1 -p 1 -timeout 15m ./...

plainloops: ## test the loops that stay inside the Go runtime (docs/decisions/0005)
	$(GO) build -tags plainloops -o /dev/null ./cmd/soku
	$(GO) test -tags plainloops -short -count=1 -p 1 ./internal/sock ./internal/engine/bulk ./internal/engine/latency ./internal/engine/tcp

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

wine: ## run the Windows build's tests and program under wine, PACKAGES="internal/sock ..." for some
	@GO='$(GO)' test/wine $(PACKAGES)

fuzz: ## fuzz every decoder for FUZZTIME (default 20s) each
	@test/fuzz $(or $(FUZZTIME),20s)

clean: ## remove what was built
	rm -rf bin demo/report.* demo/data

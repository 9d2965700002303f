package server

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
)

// gatedFacts are facts numbered from 1 that are read when the gate lets them.
func gatedFacts(age time.Duration) (f *factsCache, gate chan struct{}) {
	gate = make(chan struct{}, 10)
	var mu sync.Mutex
	n := 0
	return &factsCache{age: age, log: slog.New(slog.DiscardHandler), read: func(context.Context, netip.Addr) measure.Facts {
		<-gate
		mu.Lock()
		defer mu.Unlock()
		n++
		return measure.Facts{Hostname: fmt.Sprint(n)}
	}}, gate
}

func TestNoClientWaitsForFactsToBeReadAgainAndTheHalfHasTheNewOnes(t *testing.T) {
	f, gate := gatedFacts(0)
	defer f.work.Wait()
	local := netip.MustParseAddr("127.0.0.1")
	gate <- struct{}{}
	if got := f.get(t.Context(), local).Hostname; got != "1" {
		t.Errorf("the first client got %q", got)
	}
	if got := f.get(t.Context(), local).Hostname; got != "1" { // waits for ever if it waits
		t.Errorf("the second client got %q", got)
	}
	gate <- struct{}{}
	if got := f.latest(local).Hostname; got != "2" {
		t.Errorf("the second client's half has %q", got)
	}
}

func TestClientsThatComeAtOnceShareAReading(t *testing.T) {
	f, gate := gatedFacts(time.Hour)
	local := netip.MustParseAddr("127.0.0.1")
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			if got := f.get(t.Context(), local).Hostname; got != "1" {
				t.Errorf("a client got %q", got)
			}
		})
	}
	gate <- struct{}{}
	clients.Wait()
	f.work.Wait()
	if got := f.latest(local).Hostname; got != "1" {
		t.Errorf("after them: %q", got)
	}
}

package hub_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"soku/internal/hub"
)

func reserve(t *testing.T, r *hub.Reservations, holder string, shared bool, hosts ...string) func() {
	t.Helper()
	release, err := r.Reserve(t.Context(), holder, hosts, shared)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

// queue begins a reservation and returns when it waits.
func queue(t *testing.T, r *hub.Reservations, holder string, shared bool, hosts ...string) <-chan func() {
	t.Helper()
	changes, stop := r.Watch()
	defer stop()
	got := make(chan func(), 1)
	go func() {
		release, err := r.Reserve(t.Context(), holder, hosts, shared)
		if err != nil {
			release = nil
		}
		got <- release
	}()
	for !slices.ContainsFunc(r.Waiting(), func(w hub.Wait) bool { return w.Holder == holder }) {
		receive(t, changes)
	}
	return got
}

func TestAReservationHasAllItsHostsOrNone(t *testing.T) {
	r := hub.NewReservations()
	one := reserve(t, r, "one", false, "b", "a", "a")
	two := queue(t, r, "two", false, "b", "c")
	if free := reserve(t, r, "three", false, "d"); free == nil {
		t.Error("a host that nothing wants is not free")
	}
	three := queue(t, r, "four", false, "c")
	if got, want := fmt.Sprint(r.Waiting()), "[{two [b c] [one]} {four [c] [two]}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	one()
	one()
	end := receive(t, two)
	if len(three) != 0 {
		t.Error("a host has two")
	}
	end()
	receive(t, three)()
	if waits := r.Waiting(); len(waits) != 0 {
		t.Error(waits)
	}
}

func TestHostsMayBeShared(t *testing.T) {
	r := hub.NewReservations()
	one, two := reserve(t, r, "one", true, "a", "b"), reserve(t, r, "two", true, "b", "c")
	alone := queue(t, r, "alone", false, "b")
	late := queue(t, r, "late", true, "b") // it would keep the one before waiting for ever
	one()
	two()
	end := receive(t, alone)
	if len(late) != 0 {
		t.Error("a host that is not shared has two")
	}
	end()
	receive(t, late)()
}

func TestAWaitEnds(t *testing.T) {
	r := hub.NewReservations()
	end := reserve(t, r, "one", false, "a")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := r.Reserve(ctx, "two", []string{"a"}, false); !errors.Is(err, why) {
		t.Error(err)
	}
	ctx, cancel = context.WithCancelCause(t.Context())
	changes, stop := r.Watch()
	defer stop()
	failed := make(chan error)
	go func() {
		_, err := r.Reserve(ctx, "two", []string{"a", "b"}, false)
		failed <- err
	}()
	for len(r.Waiting()) == 0 {
		receive(t, changes)
	}
	behind := queue(t, r, "three", false, "b")
	cancel(why)
	if err := receive(t, failed); !errors.Is(err, why) {
		t.Error(err)
	}
	receive(t, behind)()
	end()
}

// Whatever campaigns want, no host is in two trials that do not share it, all get their hosts, and hosts are free
// in the end.
func TestNoHostIsInTwoIsolatedTrials(t *testing.T) {
	for seed := range uint64(20) {
		r := hub.NewReservations()
		var mu sync.Mutex
		alone, shared := map[string]int{}, map[string]int{}
		var all sync.WaitGroup
		for campaign := range 8 {
			chance := rand.New(rand.NewPCG(seed, uint64(campaign)))
			all.Go(func() {
				for range 100 {
					hosts := []string{}
					for range 1 + chance.IntN(4) {
						hosts = append(hosts, string(rune('a'+chance.IntN(6))))
					}
					slices.Sort(hosts)
					hosts = slices.Compact(hosts)
					together := chance.IntN(4) == 0
					ctx, cancel := context.WithCancel(t.Context())
					if chance.IntN(10) == 0 {
						go cancel()
					}
					release, err := r.Reserve(ctx, fmt.Sprint(campaign), hosts, together)
					if err != nil {
						cancel()
						continue
					}
					in := map[bool]map[string]int{true: shared, false: alone}[together]
					mu.Lock()
					for _, h := range hosts {
						if in[h]++; alone[h] > 1 || alone[h] == 1 && shared[h] > 0 {
							t.Errorf("host %s is in %d trials and %d that share", h, alone[h], shared[h])
						}
					}
					mu.Unlock()
					runtime.Gosched()
					mu.Lock()
					for _, h := range hosts {
						in[h]--
					}
					mu.Unlock()
					release()
					cancel()
				}
			})
		}
		all.Wait()
		if len(r.Waiting()) > 0 {
			t.Error(r.Waiting())
		}
		reserve(t, r, "last", false, "a", "b", "c", "d", "e", "f")()
	}
}

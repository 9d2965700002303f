// Package attack runs a server under attack, and checks that it goes on serving others.
//
// Attacks are rows of one table. Each runs against a server process of its own, with the
// default options and those of the row, from addresses of loopback that no honest client
// uses. To run each for longer than the tests need:
//
//	SOKU_ATTACK_TIME=30s go test -v -parallel 1 ./test/attack
package attack

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/test/tier"
)

// attack is what one or more hostile clients do.
type attack struct {
	name string
	args []string // options of the server in addition to the default ones
	// descriptors is the server's limit on open files; 0: that of this process.
	descriptors int
	// turns is how long others wait for their turn, at a server that serves one at a time.
	turns time.Duration
	// rate is the server's limit of the rate of a test; 0: none.
	rate measure.Rate
	// processors limits what the server uses of them for the attack alone, soon after it has
	// its full effect; 0: no limit.
	processors float64
	// run attacks until ctx ends, and calls ready once when the attack has its full effect.
	// All that it opened is closed when it returns.
	run func(ctx context.Context, t *testing.T, at *target, ready func())
}

// attacks are the rows, by the file that has them.
var attacks [][]attack

func row(a ...attack) bool {
	attacks = append(attacks, a)
	return true
}

// Limits that a server keeps under attack.
const (
	servedWithin = 2 * time.Second // in addition to the time that the client's test takes
	freedWithin  = 5 * time.Second
	quietWithin  = 10 * time.Second
	memoryLimit  = 200 << 20 // bytes
)

func TestAServerUnderAttackServesOthers(t *testing.T) {
	tier.WatchesTheClock(t)
	for _, rows := range attacks {
		for _, a := range rows {
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				a.test(t)
			})
		}
	}
}

func (a attack) test(t *testing.T) {
	at := serve(t, a)
	idle := at.descriptors()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var ended sync.WaitGroup
	ready := make(chan struct{})
	ended.Go(func() { a.run(ctx, t, at, sync.OnceFunc(func() { close(ready) })) })
	defer ended.Wait()
	defer stop()
	select {
	case <-ready:
	case <-time.After(20 * time.Second):
		t.Fatal("the attack does not get ready")
	}
	if a.processors > 0 {
		at.getQuiet(a.processors)
	}
	worst := at.serveOthers(attackTime(t), servedWithin+a.turns)
	memory := at.peakMemory()
	if memory > memoryLimit {
		t.Errorf("the server took %d MB", memory>>20)
	}
	stop()
	ended.Wait()
	began := time.Now()
	for !at.freed(idle) {
		if time.Since(began) > freedWithin {
			t.Fatalf("%v after the attack the server has %d descriptors, %d before it, and %+v", freedWithin, at.descriptors(), idle, at.queue())
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("others were served within %v at most; the server took %d MB, logged %d bytes, and was free after %v",
		worst, memory>>20, at.logged(), time.Since(began).Round(time.Millisecond))
}

// attackTime is how long others are served; each at least once.
func attackTime(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("SOKU_ATTACK_TIME")
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

package limits

import (
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/server"
	"soku/test/tier"
)

// quiet is a session whose client has it started, and then sends and reads nothing.
type quiet struct {
	test     measure.Test
	d        measure.Direction
	protocol string // of messages
	spin     string
}

func (q quiet) open(t *testing.T, s *served) {
	o := measure.Defaults(q.test)
	o.Duration, o.Direction = measure.Duration(time.Hour), q.d
	if q.test == measure.TestLatency {
		measure.EditOwn(&o, func(own *latency.Options) { own.Protocol, own.Spin = q.protocol, q.spin })
	}
	session := open(t, s, q.test, o)
	var err error
	if q.protocol == "udp" {
		_, err = session.UDP(t.Context())
	} else {
		_, err = session.TCP(t.Context())
	}
	if err != nil {
		t.Error(err)
		return
	}
	if err := session.Start(t.Context()); err != nil {
		t.Error(err)
	}
}

// cpu is what this process used of the processors so far.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Servers wait for whatever comes next, so that clients that do nothing cost nothing. Without
// that the first share is 0.44, and the second all processors.
func TestQuietSessionsCostNearlyNothing(t *testing.T) {
	tier.WatchesTheClock(t)
	for name, c := range map[string]struct {
		each  int
		kinds []quiet
		most  float64 // processors
	}{
		"without spin": {60, []quiet{
			{test: measure.TestTCP, d: measure.Forward}, {test: measure.TestTCP, d: measure.Reverse},
			{test: measure.TestLatency, protocol: "tcp", spin: "off"}, {test: measure.TestLatency, protocol: "udp", spin: "off"},
		}, 0.25},
		"with spin": {64, []quiet{{test: measure.TestLatency, protocol: "tcp", spin: "on"}}, 0.3},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, server.Config{})
			var opening sync.WaitGroup
			for _, q := range c.kinds {
				opening.Go(func() {
					for range c.each {
						q.open(t, s)
					}
				})
			}
			opening.Wait()
			time.Sleep(3 * time.Second) // until they are quiet
			const watched = 2 * time.Second
			before := cpu(t)
			time.Sleep(watched)
			share := float64(cpu(t)-before) / float64(watched)
			t.Logf("%.3f processors", share)
			if share > c.most {
				t.Errorf("%d quiet sessions use %.2f processors, want %.2f at most", c.each*len(c.kinds), share, c.most)
			}
		})
	}
}

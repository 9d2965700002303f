package iperf3

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
	"soku/test/servertest"
	"soku/test/tier"
)

func TestAServerOfIperf3CutsNoDatagramWhereItsClientSaysSo(t *testing.T) {
	realIperf3(t)
	s := serve(t, server.Config{Listen: "[::1]:0"}, Config{})
	for _, forbidden := range []bool{false, true} {
		args := []string{"-u", "-R", "-n", "300K", "-b", "100M", "-l", "65500"} // more than loopback's MTU of 65536 carries over IPv6
		if forbidden {
			args = append(args, "--dont-fragment")
		}
		doc := runIperf3(t, "::1", s.Port(), args...)
		if (doc.Error != "") != forbidden {
			t.Errorf("fragments forbidden: %v, error %q", forbidden, doc.Error)
		}
	}
	servertest.Eventually(t, 10*time.Second, "the log to say why", func() bool {
		return strings.Contains(s.Logs(), "without fragments: the path carries packets of")
	})
}

// watching records to which processors threads of this process are pinned while a test runs.
type watching struct {
	unshown
	mu   sync.Mutex
	kept map[string]bool
}

func (w *watching) Options(o measure.Options) measure.Options {
	o.Interval = measure.Duration(100 * time.Millisecond)
	return o
}

func (w *watching) Observe(measure.Progress) {
	files, _ := filepath.Glob("/proc/self/task/*/status")
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range files {
		b, _ := os.ReadFile(f)
		if _, after, ok := strings.Cut(string(b), "Cpus_allowed_list:\t"); ok {
			list, _, _ := strings.Cut(after, "\n")
			w.kept[list] = true
		}
	}
}

func TestTestsOfIperf3sClientsAreKeptOnTheServersProcessor(t *testing.T) {
	tier.SpendsSeconds(t)
	realIperf3(t)
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil || allowed.Count() < 2 || !allowed.IsSet(0) || !allowed.IsSet(1) {
		t.Skip("it needs processors 0 and 1")
	}
	w := &watching{kept: map[string]bool{}}
	s := serve(t, server.Config{}, Config{Pin: option.Pinning{On: true, CPUs: []int{1}}, Observer: func(bool) Observer { return w }})
	for _, c := range []struct{ asked, want, not string }{{"", "1", "0"}, {"-A 0,0", "0", "1"}} {
		w.mu.Lock()
		clear(w.kept)
		w.mu.Unlock()
		doc := runIperf3(t, "127.0.0.1", s.Port(), append([]string{"-R", "-t", "1", "-b", "50M"}, strings.Fields(c.asked)...)...)
		w.mu.Lock()
		if doc.Error != "" || !w.kept[c.want] || w.kept[c.not] {
			t.Errorf("asked %q: %s, threads are kept on %v", c.asked, doc.Error, w.kept)
		}
		w.mu.Unlock()
	}
}

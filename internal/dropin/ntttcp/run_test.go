package ntttcp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/test/freeport"
	"soku/test/tier"
)

func TestBothEndsMeasureTogether(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	// They run in parallel: all but one have a rate, so that none waits for a processor.
	for name, c := range map[string]struct{ both, receiver, sender string }{
		"sync":           {"-P 2", "", "-n 2 -l 2"},
		"no sync":        {"-P 2 -N", "", "-n 2 -l 2 -B 400M"},
		"buffers":        {"-P 2 -b 32K", "-e", "-n 2 -l 2 --no-delay -B 400M"},
		"rate":           {"-P 2", "", "-n 2 -l 2 -B 80M"},
		"paced":          {"-P 2", "", "-n 2 -l 2 --fq-rate-limit 80M"},
		"udp":            {"-P 2 -u", "", "-n 2 -l 2 -B 80M -b 1000"},
		"udp, no sync":   {"-P 2 -u -N", "", "-n 2 -l 2 -B 80M -b 1000"},
		"cycle":          {"-P 2", "", "-n 2 -l 2 -W 1 -C 1 -B 400M"},
		"source":         {"-P 2", "", "-n 2 -l 2 -a 127.0.0.1 -B 80M"},
		"quiet, verbose": {"-P 2 -V -Q", "", "-n 2 -l 2 -B 400M"},
		"processor":      {"-P 2 -m 2,0,127.0.0.1", "", "-n 2 -l 2 -B 400M"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" && (name == "source" || name == "processor") {
				t.Skip("only Linux keeps threads on a processor and sockets to an interface")
			}
			dir, port := t.TempDir(), freeport.Row(t, 3)+1
			both := fmt.Sprintf("127.0.0.1 -p %d -t 1 -V %s ", port, c.both)
			r := start(t, "-r "+both+c.receiver+" -x "+filepath.Join(dir, "r.xml"))
			r.out.until(t, "threads created")
			s := start(t, "-s "+both+c.sender+" -x "+filepath.Join(dir, "s.xml"))
			if err := s.wait(t); err != nil {
				t.Fatalf("sender: %v\n%s", err, s.out)
			}
			if err := r.wait(t); err != nil {
				t.Fatalf("receiver: %v\n%s", err, r.out)
			}
			sent, received := readXML(t, filepath.Join(dir, "s.xml")), readXML(t, filepath.Join(dir, "r.xml"))
			if sent.Conns != 8 || len(sent.Threads) != 4 || len(received.Threads) != 2 {
				t.Errorf("%d connections, %d threads, %d ports", sent.Conns, len(sent.Threads), len(received.Threads))
			}
			if sent.MB <= 0 || received.MB <= 0 || sent.Seconds < 0.9 || received.Seconds < 0.9 {
				t.Errorf("sent %+v, received %+v", sent, received)
			}
			for _, text := range []string{"Test run completed.", "#####  Totals:  #####"} {
				if !strings.Contains(s.out.String(), text) || !strings.Contains(r.out.String(), text) {
					t.Errorf("no %q in\n%s\n%s", text, s.out, r.out)
				}
			}
		})
	}
}

func TestSeveralSendersRunTogether(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	port := freeport.Row(t, 2) + 1
	r := start(t, fmt.Sprintf("-r 127.0.0.1 -p %d -P 1 -M -t 1", port))
	r.out.until(t, "threads created")
	line := fmt.Sprintf("-s 127.0.0.1 -p %d -P 1 -n 1 -t 9 -B 8M", port)
	first := start(t, line)
	first.out.until(t, "waiting for the last client")
	last := start(t, line+" -L")
	for _, e := range []*running{first, last, r} {
		if err := e.wait(t); err != nil {
			t.Errorf("%v\n%s", err, e.out)
		}
	}
}

func TestAReceiverWithHMeasuresAgain(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for name, sync := range map[string]string{"sync": "", "no sync": "-N"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := freeport.Row(t, 2) + 1
			r := start(t, fmt.Sprintf("-r 127.0.0.1 -p %d -P 1 -H -t 1 %s", port, sync))
			r.out.until(t, "threads created")
			last, ended := context.WithCancel(context.Background())
			t.Cleanup(ended)
			for round := range 2 {
				if round == 1 {
					r.out.interruptAt("cpu busy", func() {
						<-last.Done() // the interrupt would reset the connection of a sender that still sends
						r.stop(measure.TextError(measure.KindInterrupted, "interrupted", ""))
					})
				}
				s := start(t, fmt.Sprintf("-s 127.0.0.1 -p %d -P 1 -n 1 -t 1 -B 8M %s", port, sync))
				if err := s.wait(t); err != nil {
					t.Fatalf("%v\n%s", err, s.out)
				}
				if round == 1 {
					ended()
				}
				for strings.Count(r.out.String(), "cpu busy") <= round {
					r.out.until(t, "cpu busy")
				}
			}
			// The interrupt comes after the second test, whose figures do not excuse the end.
			if err := r.wait(t); measure.KindOf(err) != measure.KindInterrupted {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestAnInterruptEndsBothEndsWithTheirFigures(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for name, first := range map[string]func(sender, receiver *running) *running{
		"of the sender":   func(s, _ *running) *running { return s },
		"of the receiver": func(_, r *running) *running { return r },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port := freeport.Row(t, 2) + 1
			r := start(t, fmt.Sprintf("-r 127.0.0.1 -p %d -P 1 -t 0", port)) // until interrupted
			r.out.until(t, "threads created")
			s := start(t, fmt.Sprintf("-s 127.0.0.1 -p %d -P 1 -n 1 -t 60 -B 8M", port))
			s.out.until(t, "Real-time")
			r.out.until(t, "Real-time")
			first(s, r).stop(measure.TextError(measure.KindInterrupted, "interrupted", ""))
			for _, e := range []*running{s, r} {
				err := e.wait(t)
				if err != nil && (e == r || first(s, r) == s) { // a sender without a receiver reports it
					t.Errorf("ended with %v\n%s", err, e.out)
				}
				if !strings.Contains(e.out.String(), "#####  Totals:  #####") {
					t.Errorf("no figures in\n%s", e.out)
				}
			}
		})
	}
}

func TestAnInterruptBeforeATestIsAnError(t *testing.T) {
	r := start(t, fmt.Sprintf("-r 127.0.0.1 -p %d -P 1 -t 1", freeport.Row(t, 2)+1))
	r.out.until(t, "threads created")
	r.stop(measure.TextError(measure.KindInterrupted, "interrupted", ""))
	if err := r.wait(t); measure.KindOf(err) != measure.KindInterrupted {
		t.Errorf("ended with %v", err)
	}
}

func TestFilesAreWritten(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	dir, port := t.TempDir(), freeport.Row(t, 2)+1
	console, doc := filepath.Join(dir, "c.log"), filepath.Join(dir, "r.json")
	if err := os.WriteFile(console, []byte("of a test before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, fmt.Sprintf("-r 127.0.0.1 -p %d -P 1 -t 1 -O %s -j %s", port, console, doc))
	r.out.until(t, "threads created")
	s := start(t, fmt.Sprintf("-s 127.0.0.1 -p %d -P 1 -n 1 -t 1 -B 8M", port))
	for _, e := range []*running{s, r} {
		if err := e.wait(t); err != nil {
			t.Fatalf("%v\n%s", err, e.out)
		}
	}
	b, err := os.ReadFile(console)
	if err != nil || !strings.Contains(string(b), "cpu busy") || strings.Contains(string(b), "before") {
		t.Errorf("the console's file: %v\n%s", err, b)
	}
	b, err = os.ReadFile(doc)
	if err != nil || !json.Valid(b) {
		t.Errorf("the document: %v\n%s", err, b)
	}
}

func TestMissingResourcesAreReportedAtOnce(t *testing.T) {
	port := freeport.Row(t, 2) + 1
	for line, kind := range map[string]measure.Kind{
		fmt.Sprintf("-s 127.0.0.1 -p %d -t 1", port):                    measure.KindUnreachable,
		fmt.Sprintf("-s 127.0.0.1 -p %d -t 1 -N", port):                 measure.KindUnreachable,
		fmt.Sprintf("-s 127.0.0.1 -p %d -a 192.0.2.77", port):           measure.KindUsage,
		fmt.Sprintf("-r 192.0.2.77 -p %d", port):                        measure.KindUsage,
		fmt.Sprintf("-r -p %d --show-nic-packets no-such-card", port):   measure.KindUsage,
		fmt.Sprintf("-r 127.0.0.1 -p %d -O /no/such/folder/file", port): measure.KindUsage,
		fmt.Sprintf("-r 127.0.0.1 -p %d -x /no/such/folder/file", port): measure.KindStore,
		fmt.Sprintf("-r -p %d -m 1,60000,127.0.0.1", port):              measure.KindUsage,
	} {
		r := start(t, line)
		if err := r.wait(t); measure.KindOf(err) != kind {
			t.Errorf("%s: %v", line, err)
		}
	}
}

package server

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/wire/native"
	"soku/test/tier"
)

// mayChooseLabels tells whether this host lets a server choose the labels of what it
// sends over TCP.
func mayChooseLabels() bool {
	b, err := os.ReadFile("/proc/sys/net/ipv6/flowlabel_consistency")
	return err == nil && strings.TrimSpace(string(b)) == "0"
}

func TestPacketsOfBothEndsHaveTheFlowLabel(t *testing.T) {
	tier.SpendsSeconds(t)
	s := serveWith(t, Config{Listen: "[::1]:0"}, realEngines())
	overTCP := []measure.Direction{measure.Forward}
	if mayChooseLabels() {
		overTCP = measure.Directions()
	}
	for test, directions := range map[measure.Test][]measure.Direction{measure.TestTCP: overTCP, measure.TestUDP: measure.Directions()} {
		for _, d := range directions {
			t.Run(fmt.Sprint(test, " ", d), func(t *testing.T) { labelled(t, s, test, d) })
		}
	}
}

func TestAServerThatMayNotChooseItsLabelsSaysSo(t *testing.T) {
	if mayChooseLabels() {
		t.Skip("this host lets a server choose its labels")
	}
	s := serveWith(t, Config{Listen: "[::1]:0"}, realEngines())
	for _, d := range []measure.Direction{measure.Reverse, measure.Bidirectional} {
		_, _, err := s.run(t.Context(), measure.TestTCP, options(measure.TestTCP, func(o *measure.Options) {
			o.Bytes, o.Direction, o.FlowLabel = 1000, d, 5
		}))
		if err == nil || !strings.Contains(err.Error(), "on the server: ") || !strings.Contains(err.Error(), "net.ipv6.flowlabel_consistency") {
			t.Errorf("%s: %v", d, err)
		}
	}
}

// labelled measures with a label, and looks at the packets of the test.
func labelled(t *testing.T, s *running, test measure.Test, d measure.Direction) {
	t.Helper()
	const label = 0x54321
	captured := onLoopback(t)
	o := options(test, func(o *measure.Options) {
		o.Bytes, o.Direction, o.Streams, o.FlowLabel, o.Rate = 500_000, d, 2, label, 50_000_000
	})
	own, other, err := s.run(t.Context(), test, o)
	if err != nil {
		t.Fatal(err)
	}
	all := captured()
	for _, f := range append(own.Flows, other.Flows...) {
		if f.Role != measure.Sender {
			continue
		}
		for _, stream := range f.Streams {
			from, to := stream.Local, stream.Remote
			if f.Direction == measure.Reverse {
				from, to = to, from
			}
			packets := ofStream(all, from, to)
			var bytes, wrong int
			for _, p := range packets {
				if p.payload <= native.DatagramSize { // what opens and ends a stream is not measured
					continue
				}
				bytes += p.payload
				if p.label != label {
					wrong++
				}
			}
			if bytes == 0 || wrong > 0 {
				t.Errorf("%s, stream %d: %d bytes were seen, and %d of %d packets have another label", f.Direction, stream.Index, bytes, wrong, len(packets))
			}
		}
	}
}

func TestWhatAServerOfIperf3SendsHasTheLabelThatItsClientAsks(t *testing.T) {
	realIperf3(t)
	s := serveWith(t, Config{Listen: "[::1]:0"}, realEngines())
	modes := []string{"-u -R -b 20M"}
	if mayChooseLabels() {
		modes = append(modes, "-R")
	}
	for _, mode := range modes {
		captured := onLoopback(t)
		doc := runIperf3(t, "::1", s.port(), append(strings.Fields(mode), "-n", "200K", "-l", "1000", "-L", "0x12345")...)
		if doc.Error != "" {
			t.Fatalf("%s: %s\n%s", mode, doc.Error, s.logs)
		}
		var bytes, wrong int
		for _, p := range captured() {
			if p.from != s.Addr() || p.payload < 1000 {
				continue
			}
			bytes += p.payload
			if p.label != 0x12345 {
				wrong += p.payload
			}
		}
		// Over TCP the label is there with the first acknowledgement.
		if most := map[bool]int{true: 0, false: 160 << 10}[strings.Contains(mode, "-u")]; bytes < 200<<10 || wrong > most {
			t.Errorf("%s: %d of %d bytes have another label", mode, wrong, bytes)
		}
	}
	// Over IPv4 a client of UDP sends it along, and it means nothing.
	s = serveWith(t, Config{}, realEngines())
	if doc := runIperf3(t, "127.0.0.1", s.port(), "-u", "-R", "-n", "20K", "-L", "5"); doc.Error != "" {
		t.Errorf("over IPv4: %s\n%s", doc.Error, s.logs)
	}
	// Where the system keeps labels to itself a test over TCP goes on without.
	s = serveWith(t, Config{Listen: "[::1]:0"}, realEngines())
	if doc := runIperf3(t, "::1", s.port(), "-R", "-n", "20K", "-L", "5"); doc.Error != "" || !mayChooseLabels() && !strings.Contains(s.logs.String(), "flowlabel_consistency") {
		t.Errorf("over TCP: %s\n%s", doc.Error, s.logs)
	}
}

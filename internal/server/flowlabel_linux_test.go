package server

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/wire/native"
	"soku/test/capture"
	"soku/test/tier"
)

func TestPacketsOfBothEndsHaveTheFlowLabel(t *testing.T) {
	tier.SpendsSeconds(t)
	s := serveWith(t, Config{Listen: "[::1]:0"}, realEngines())
	overTCP := []measure.Direction{measure.Forward}
	if capture.ServersMayLabel() {
		overTCP = measure.Directions()
	}
	for test, directions := range map[measure.Test][]measure.Direction{measure.TestTCP: overTCP, measure.TestUDP: measure.Directions()} {
		for _, d := range directions {
			t.Run(fmt.Sprint(test, " ", d), func(t *testing.T) { labelled(t, s, test, d) })
		}
	}
}

func TestAServerThatMayNotSetFlowLabelsReportsIt(t *testing.T) {
	if capture.ServersMayLabel() {
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
	captured := capture.OnLoopback(t)
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
			packets := capture.OfStream(all, from, to)
			var bytes, wrong int
			for _, p := range packets {
				if p.Payload <= native.DatagramSize { // what opens and ends a stream is not measured
					continue
				}
				bytes += p.Payload
				if p.Label != label {
					wrong++
				}
			}
			if bytes == 0 || wrong > 0 {
				t.Errorf("%s, stream %d: %d bytes were seen, and %d of %d packets have another label", f.Direction, stream.Index, bytes, wrong, len(packets))
			}
		}
	}
}

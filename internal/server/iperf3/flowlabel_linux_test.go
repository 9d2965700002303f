package iperf3

import (
	"strings"
	"testing"

	"soku/internal/server"
	"soku/test/capture"
)

func TestWhatAServerOfIperf3SendsHasTheLabelThatItsClientAsks(t *testing.T) {
	realIperf3(t)
	s := serve(t, server.Config{Listen: "[::1]:0"}, Config{})
	modes := []string{"-u -R -b 20M"}
	if capture.ServersMayLabel() {
		modes = append(modes, "-R")
	}
	for _, mode := range modes {
		captured := capture.OnLoopback(t)
		doc := runIperf3(t, "::1", s.Port(), append(strings.Fields(mode), "-n", "200K", "-l", "1000", "-L", "0x12345")...)
		if doc.Error != "" {
			t.Fatalf("%s: %s\n%s", mode, doc.Error, s.Logs())
		}
		var bytes, wrong int
		for _, p := range captured() {
			if p.From != s.Addr() || p.Payload < 1000 {
				continue
			}
			bytes += p.Payload
			if p.Label != 0x12345 {
				wrong += p.Payload
			}
		}
		// Over TCP the label is there with the first acknowledgement.
		if most := map[bool]int{true: 0, false: 160 << 10}[strings.Contains(mode, "-u")]; bytes < 200<<10 || wrong > most {
			t.Errorf("%s: %d of %d bytes have another label", mode, wrong, bytes)
		}
	}
	// Over IPv4 a client of UDP sends it along, and it means nothing.
	s = serve(t, server.Config{}, Config{})
	if doc := runIperf3(t, "127.0.0.1", s.Port(), "-u", "-R", "-n", "20K", "-L", "5"); doc.Error != "" {
		t.Errorf("over IPv4: %s\n%s", doc.Error, s.Logs())
	}
	// Where the system keeps labels to itself a test over TCP goes on without.
	s = serve(t, server.Config{Listen: "[::1]:0"}, Config{})
	if doc := runIperf3(t, "::1", s.Port(), "-R", "-n", "20K", "-L", "5"); doc.Error != "" || !capture.ServersMayLabel() && !strings.Contains(s.Logs(), "flowlabel_consistency") {
		t.Errorf("over TCP: %s\n%s", doc.Error, s.Logs())
	}
}

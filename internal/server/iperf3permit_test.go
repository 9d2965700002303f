package server

import (
	"slices"
	"testing"

	"soku/internal/sock"
	"soku/internal/wire/iperf3"
)

func TestClientsOfIperf3GetCopiesUnlessTheyAskOtherwise(t *testing.T) {
	can := func(paths []string, fast, slow string) string {
		if slices.Contains(paths, fast) {
			return fast
		}
		return slow
	}
	for name, c := range map[string]struct {
		asked  iperf3.Parameters
		tx, rx string
	}{
		"plain":                    {iperf3.Parameters{Protocol: "tcp"}, "write", "read"},
		"reverse":                  {iperf3.Parameters{Protocol: "tcp", Reverse: true}, "write", "read"},
		"unread":                   {iperf3.Parameters{Protocol: "tcp", SkipRXCopy: true}, "write", can(sock.ReaderPaths(), "discard", "read")},
		"unread, by Multipath TCP": {iperf3.Parameters{Protocol: "tcp", SkipRXCopy: true, MPTCP: true}, "write", "read"},
		"datagrams":                {iperf3.Parameters{Protocol: "udp"}, "auto", "auto"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := iperf3Options(&c.asked)
			if err != nil || o.TX != c.tx || o.RX != c.rx {
				t.Errorf("sends by %q, receives by %q, %v; want %q and %q", o.TX, o.RX, err, c.tx, c.rx)
			}
		})
	}
}

package iperf3

import (
	"slices"
	"testing"

	"soku/internal/sock"
	wire "soku/internal/wire/iperf3"
)

func TestClientsOfIperf3GetCopiesUnlessTheyAskOtherwise(t *testing.T) {
	can := func(paths []string, fast, slow string) string {
		if slices.Contains(paths, fast) {
			return fast
		}
		return slow
	}
	for name, c := range map[string]struct {
		asked  wire.Parameters
		tx, rx string
	}{
		"plain":                    {wire.Parameters{Protocol: "tcp"}, "write", "read"},
		"reverse":                  {wire.Parameters{Protocol: "tcp", Reverse: true}, "write", "read"},
		"unread":                   {wire.Parameters{Protocol: "tcp", SkipRXCopy: true}, "write", can(sock.ReaderPaths(), "discard", "read")},
		"unread, by Multipath TCP": {wire.Parameters{Protocol: "tcp", SkipRXCopy: true, MPTCP: true}, "write", "read"},
		"datagrams":                {wire.Parameters{Protocol: "udp"}, "auto", "auto"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := optionsOf(&c.asked)
			if err != nil || o.TX != c.tx || o.RX != c.rx {
				t.Errorf("sends by %q, receives by %q, %v; want %q and %q", o.TX, o.RX, err, c.tx, c.rx)
			}
		})
	}
}

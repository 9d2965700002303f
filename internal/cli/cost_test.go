package cli

import (
	"testing"

	"soku/internal/measure"
)

func TestTheCostNamesTheEndsByWhatTheyDid(t *testing.T) {
	share := 0.124
	client := &measure.Host{Counters: &measure.Counters{CoresUsed: 0.9, CPUSecPerGB: 0.0691, SoftirqRatio: &share}}
	server := &measure.Host{Counters: &measure.Counters{CoresUsed: 0.4, CPUSecPerGB: 0.024, CPUNsPerPacket: 1500}}
	shared := &measure.Host{Counters: &measure.Counters{CoresUsed: 3.2, Shared: true}}
	for _, c := range []struct {
		name string
		r    measure.Result
		want string
	}{
		{"forward", measure.Result{Options: measure.Options{Direction: measure.Forward}, Hosts: measure.Hosts{Client: client, Server: server}},
			"0.0691 s/GB at the sender (0.90 cores, softirq 12 %), 0.024 s/GB at the receiver (0.40 cores, 1.500 µs a packet)"},
		{"reverse", measure.Result{Options: measure.Options{Direction: measure.Reverse}, Hosts: measure.Hosts{Client: client, Server: server}},
			"0.024 s/GB at the sender (0.40 cores, 1.500 µs a packet), 0.0691 s/GB at the receiver (0.90 cores, softirq 12 %)"},
		{"both ways, the server's process shared", measure.Result{Options: measure.Options{Direction: measure.Bidirectional}, Hosts: measure.Hosts{Client: client, Server: shared}},
			"0.0691 s/GB at the client (0.90 cores, softirq 12 %), 3.20 cores at the server (shared with other tests)"},
		{"no counters", measure.Result{Hosts: measure.Hosts{Client: &measure.Host{}}}, ""},
	} {
		if got := costText(&c.r); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

package cli

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/text"
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
			"cost        0.0691 s/GB, 0.90 cores at the sender, softirq 12.4 %\n" +
				"            0.024 s/GB, 0.40 cores at the receiver, 1.500 µs a packet\n"},
		{"reverse", measure.Result{Options: measure.Options{Direction: measure.Reverse}, Hosts: measure.Hosts{Client: client, Server: server}},
			"cost        0.024 s/GB, 0.40 cores at the sender, 1.500 µs a packet\n" +
				"            0.0691 s/GB, 0.90 cores at the receiver, softirq 12.4 %\n"},
		{"both ways, the server's process shared", measure.Result{Options: measure.Options{Direction: measure.Bidirectional}, Hosts: measure.Hosts{Client: client, Server: shared}},
			"cost        0.0691 s/GB, 0.90 cores at the client, softirq 12.4 %\n" +
				"            3.20 cores at the server; shared with other tests\n"},
		{"no counters", measure.Result{Hosts: measure.Hosts{Client: &measure.Host{}}}, ""},
	} {
		var lines text.Lines
		costSummary(&lines, &c.r)
		var b strings.Builder
		if printLines(text.English(), &b, 0, lines); b.String() != c.want {
			t.Errorf("%s:\ngot\n%swant\n%s", c.name, b.String(), c.want)
		}
	}
}

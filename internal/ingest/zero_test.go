package ingest

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/metric"
)

// A goodput of 0 that a file states is a figure, and none is made where a file has none.
func TestAGoodputOfZeroThatAFileStatesIsAFigure(t *testing.T) {
	table := func(results, rows string) func(*testing.T) ([]*measure.Result, error) {
		return func(t *testing.T) ([]*measure.Result, error) {
			m, err := ParseMapping("m.yaml", []byte("results:\n"+results))
			if err != nil {
				t.Fatal(err)
			}
			s, err := NewSource("f", []byte(rows), fileTime)
			if err != nil {
				t.Fatal(err)
			}
			return (&Request{Campaign: "x", Format: "csv", Mapping: m, Now: fileTime}).Read(s)
		}
	}
	file := func(text string) func(*testing.T) ([]*measure.Result, error) {
		return func(t *testing.T) ([]*measure.Result, error) { return read(t, Auto, text) }
	}
	zero := strings.NewReplacer("4.97 GBytes  21.3 Gbits/sec                  receiver", "0.00 Bytes  0.00 bits/sec                  receiver")
	document := strings.NewReplacer(`"bytes":	6438125568`, `"bytes":	0`, `"bits_per_second":	25741356264.73737`, `"bits_per_second":	0`)
	nothing := "Connecting to host a, port 5201\n[  5] local a port 1 connected to b port 5201\n[ ID] Interval           Transfer     Bitrate\n- - - - -\n" +
		"[  5]   0.00-2.00   sec  64.0 KBytes   262 Kbits/sec    4             sender\n[  5]   0.00-2.00   sec  0.00 Bytes  0.00 bits/sec                  receiver\n"
	for name, c := range map[string]struct {
		read  func(*testing.T) ([]*measure.Result, error)
		zeros []bool // the goodput of each result is 0; otherwise it has none
	}{
		"a cell":                         {table("  - {test: tcp, figures: {goodput: {column: x, unit: Mbit/s}}}\n", "x\n0\n0.0\n"), []bool{true, true}},
		"a cell of bytes":                {table("  - {test: tcp, figures: {bytes: {column: x, unit: MB}, duration: {value: 2, unit: s}}}\n", "x\n0\n"), []bool{true}},
		"only packets":                   {table("  - {test: udp, figures: {packets_per_second: {column: x}, loss: {column: y, unit: \"%\"}}}\n", "x,y\n1000,0\n"), []bool{false}},
		"the receiver's row":             {file(zero.Replace(text(t, "iperf3-3.12-tcp.txt"))), []bool{true}},
		"the receiver's document":        {file(document.Replace(text(t, "iperf3-3.12-tcp.json"))), []bool{true}},
		"a whole test":                   {file(nothing + "\niperf Done.\n"), []bool{true}},
		"a test that was stopped":        {file(nothing + "iperf3: interrupt - the client has terminated\n"), []bool{false}},
		"packets of Ethr":                {file(text(t, "ethr-p.txt")), []bool{false}},
		"a server that received nothing": {file("Server listening on TCP port 5001\n[  4] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 4711\n[  4]  0.0-10.0 sec  0.00 Bytes  0.00 bits/sec\n"), []bool{true}},
	} {
		results, err := c.read(t)
		if err != nil || len(results) != len(c.zeros) {
			t.Errorf("%s: %d results, %v", name, len(results), err)
			continue
		}
		for i, r := range results {
			v, found := metric.Goodput.Value(r)
			switch {
			case c.zeros[i] && (!found || v != 0 || isMissing(r, finding.GoodputOfSender)):
				t.Errorf("%s: result %d: %v, %v, missing %+v", name, i+1, v, found, r.Origin.Missing)
			case !c.zeros[i] && found && v == 0:
				t.Errorf("%s: result %d has a goodput of 0", name, i+1)
			}
		}
	}
}

func TestLossOfOldVersionsOfIperf3CountsReordering(t *testing.T) {
	old := text(t, "iperf3-3.1-udp.json")
	for name, c := range map[string]struct {
		text  string
		noted bool
	}{
		"3.1.3": {old, true}, "3.0.11": {strings.Replace(old, "iperf 3.1.3", "iperf 3.0.11", 1), true}, "3.2": {strings.Replace(old, "iperf 3.1.3", "iperf 3.2", 1), false},
		"3.12": {strings.Replace(old, "iperf 3.1.3", "iperf 3.12", 1), false}, "no loss": {strings.NewReplacer(`"lost_packets":	8`, `"lost_packets":	0`).Replace(old), false},
		"text without a version": {text(t, "iperf3-3.1-udp.txt"), false}, "text with a version": {"iperf 3.1.3\nLinux vm 6.1 x86_64\n" + text(t, "iperf3-3.1-udp.txt"), true},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != 1 {
			t.Errorf("%s: %d results, %v", name, len(results), err)
			continue
		}
		if noted := len(results[0].Findings.With(finding.LossCountsReordered)) == 1; noted != c.noted {
			t.Errorf("%s: findings %+v, %d lost", name, results[0].Findings, results[0].Summary.PacketsLost)
		}
	}
}

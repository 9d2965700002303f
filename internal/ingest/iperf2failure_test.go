package ingest

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestARefusedRunOfIperf2HasNoFigure(t *testing.T) {
	const good, bad = 53.4e6, measure.KindBroken
	results := sample(t, "iperf2-refused.txt")
	checkRuns(t, "refused", results, nil, []runOfLog{{0, bad}})
	if r := results[len(results)-1]; len(r.Flows) != 0 || r.Summary.SentBytes != 0 || r.Trial.Label != "tcp, sender's count" {
		t.Errorf("%+v, label %q", r.Summary, r.Trial.Label)
	}
	checkRuns(t, "loop", sample(t, "iperf2-loop-refused.txt"), nil, []runOfLog{{good, ""}, {0, bad}, {good, ""}})
	const banner = "------------------------------------------------------------\nClient connecting to 10.0.0.1, TCP port 5001\nTCP window size: 85.0 KByte (default)\n------------------------------------------------------------\n"
	whole := text(t, "iperf2-client-tcp.txt")
	tiny := "[  3] local 10.0.0.2 port 4711 connected with 10.0.0.1 port 5001\n[ ID] Interval       Transfer     Bandwidth\n[  3]  0.0- 0.0 sec  60.0 KBytes   315 Mbits/sec\n"
	const refused = "connect failed: Connection refused\n"
	gone := runOfLog{0, measure.KindUnreachable}
	for name, c := range map[string]struct {
		text string
		want []runOfLog
	}{
		"after its first line":           {banner + refused + banner + refused + whole, []runOfLog{gone, gone, {27e9, ""}}},
		"before its first line":          {refused + banner + refused + "write1 failed: Broken pipe\n" + banner, []runOfLog{gone, gone}},
		"without a line of its own":      {whole + refused + whole, []runOfLog{{27e9, ""}, gone, {27e9, ""}}},
		"before a connection":            {whole + refused + "write2 failed: Broken pipe\n" + banner + tiny + whole, []runOfLog{{27e9, ""}, gone, {27e9, ""}}},
		"a name that is not known":       {banner + "error: Name or service not known\n", []runOfLog{gone}},
		"broken after two seconds":       {banner + tiny[:strings.Index(tiny, "[  3]  0.0-")] + "[  3]  0.0- 1.0 sec  112 MBytes  940 Mbits/sec\nwrite failed: Connection reset by peer\n[  3]  0.0- 1.5 sec  150 MBytes  840 Mbits/sec\n", []runOfLog{{0, bad}}},
		"with the end of a whole test":   {whole + "shutdown failed: Transport endpoint is not connected\n" + whole, []runOfLog{{27e9, ""}, {27e9, ""}}},
		"several connections of one run": {strings.Replace(text(t, "iperf2-client-tcp4.txt"), "[ ID]", "tcp write failed: Broken pipe\ntcp write failed: Broken pipe\n[ ID]", 1) + whole, []runOfLog{{0, bad}, {27e9, ""}}},
	} {
		results, err := read(t, "iperf2", c.text)
		checkRuns(t, name, results, err, c.want)
	}
	udp := text(t, "iperf2-client-udp.txt")
	lost := udp[:strings.Index(udp, "[  1] Server Report:")] + "read failed: Connection refused\n[  1] WARNING: did not receive ack of last datagram after 10 tries.\n"
	results, err := read(t, Auto, lost+udp)
	checkRuns(t, "datagrams that were refused", results, err, []runOfLog{{0, measure.KindUnreachable}, {10.5e6, ""}})
	if err == nil && len(results) > 0 && results[0].Test != measure.TestUDP {
		t.Errorf("%s", results[0].Test)
	}
	server := text(t, "iperf2-server-tcp.txt")
	results, err = read(t, Auto, server+"[  3] local 127.0.0.1 port 5983 connected with 127.0.0.1 port 46700\nrecv failed: Connection reset by peer\n")
	if err != nil || len(results) != 2 || results[0].Error != nil || results[1].Error == nil {
		t.Errorf("a server: %d results, %v", len(results), err)
	}
}

func TestARefusedRunOfIperf2InItsTableHasNoFigure(t *testing.T) {
	whole, intervals := text(t, "iperf2-tcp.csv"), text(t, "iperf2-tcp-intervals.csv")
	const refused = "tcp write failed: Broken pipe\nshutdown failed: Transport endpoint is not connected\n"
	const row = "20261127021158,127.0.0.1,51600,127.0.0.1,15801,1,0.0-0.0,60,3900000\n"
	good, all, bad := runOfLog{55197684905, ""}, runOfLog{32348184115, ""}, runOfLog{0, measure.KindBroken}
	for name, c := range map[string]struct {
		text string
		want []runOfLog
	}{
		"refused":              {refused + row, []runOfLog{bad}},
		"a loop":               {whole + refused + row + whole, []runOfLog{good, bad, good}},
		"without a line":       {whole + "connect failed: Connection refused\n" + whole, []runOfLog{good, {0, measure.KindUnreachable}, good}},
		"a name not known":     {"error: Name or service not known\n" + whole, []runOfLog{{0, measure.KindUnreachable}, good}},
		"in brackets":          {"write failed (timed out)\n" + row, []runOfLog{bad}},
		"at the end":           {intervals + "connect failed: Connection refused\n", []runOfLog{all, {0, measure.KindUnreachable}}},
		"broken in the middle": {strings.SplitAfter(intervals, "\n")[0] + strings.Replace(strings.SplitAfter(intervals, "\n")[1], "\n", "\n"+refused, 1) + strings.ReplaceAll(intervals, "42076", "42078"), []runOfLog{bad, all}},
	} {
		results, err := read(t, Auto, c.text)
		checkRuns(t, name, results, err, c.want)
		for i, r := range results {
			if r.Trial.Label != "tcp" {
				t.Errorf("%s: result %d has label %q", name, i+1, r.Trial.Label)
			}
		}
	}
}

// A file may have a message after each of very many rows.
func TestMessagesOfIperf2AreReadWithoutReadingTheRowsAgain(t *testing.T) {
	const rows = 20_000
	var b strings.Builder
	b.WriteString("Client connecting to 10.0.0.1, TCP port 5001\n[  3] local 10.0.0.2 port 4711 connected with 10.0.0.1 port 5001\n")
	for i := range rows {
		fmt.Fprintf(&b, "[  3]  0.0-%d.0 sec  112 MBytes  940 Mbits/sec\nwrite failed: Broken pipe\n", i+1)
	}
	s, err := NewSource("f", []byte(b.String()), fileTime)
	if err != nil {
		t.Fatal(err)
	}
	p := &iperf2File{s: s}
	if err := s.each(p.line); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() {
		if !p.test.hasTotals() {
			t.Error("the stream has its total")
		}
	}); n != 0 {
		t.Errorf("%v allocations to see that a test of %d rows is whole", n, rows)
	}
}

func TestWhetherTestsOfIperf2HaveTheirTotals(t *testing.T) {
	test := newIperf2Test(1)
	has := func(want bool, what string) {
		t.Helper()
		if test.hasTotals() != want {
			t.Errorf("%s: %v", what, !want)
		}
	}
	put := func(id string, from, to float64) {
		t.Helper()
		row := iperf2Row{}
		row.from, row.to = from, to
		if err := test.add(&Source{}, 1, id, row); err != nil {
			t.Fatal(err)
		}
	}
	has(true, "no stream")
	test.connect("3")
	test.connect("4")
	has(false, "no rows")
	put("3", 0, 1)
	has(false, "one of two streams")
	put("*4", 0, 1)
	has(true, "the first second of both, one of them on the way back")
	put("3", 1, 2)
	has(false, "an interval after it")
	put("SUM", 0, 2)
	has(false, "a sum")
	put("3", 0, 2)
	has(true, "the whole time")
	put("4", 1, 2)
	has(false, "an interval of the way there counts first")
	put("4", 0, 2)
	has(true, "both")
	if row, intervals, ok := test.total("3"); !ok || row.to != 2 || len(intervals) != 2 || intervals[1].from != 1 {
		t.Errorf("%+v %+v %v", row, intervals, ok)
	}
}

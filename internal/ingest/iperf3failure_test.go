package ingest

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// runOfLog is what a result of a log must be: a rate without an error, or an error of that kind.
type runOfLog struct {
	bps  float64
	kind measure.Kind
}

func checkRuns(t *testing.T, name string, results []*measure.Result, err error, want []runOfLog) {
	t.Helper()
	if err != nil || len(results) != len(want) {
		t.Errorf("%s: %d results, want %d, %v", name, len(results), len(want), err)
		return
	}
	for i, r := range results {
		kind := measure.Kind("")
		if r.Error != nil {
			kind = r.Error.Kind
		}
		if kind != want[i].kind || !close2(r.Summary.GoodputBps, want[i].bps) {
			t.Errorf("%s: result %d: %v bit/s, %v; want %v bit/s, %q", name, i+1, r.Summary.GoodputBps, r.Error, want[i].bps, want[i].kind)
		}
	}
}

const refusedIperf3 = "iperf3: error - unable to connect to server: Connection refused\n"

func TestAFailedRunInALogOfIperf3LeavesTheOthersAsTheyAre(t *testing.T) {
	file := "iperf3-loop-good-refused-good.txt"
	results := sample(t, file)
	checkRuns(t, file, results, nil, []runOfLog{{50.3e6, ""}, {0, measure.KindUnreachable}, {40.9e6, ""}})
	if len(results) == 3 && len(results[1].Flows) != 0 {
		t.Errorf("the failed run has flows: %+v", results[1].Flows)
	}
	const reset = "iperf3: error - control socket has closed unexpectedly\n"
	for name, bps := range map[string]float64{
		"iperf3-3.12-tcp.txt": 21.3e9, "iperf3-3.21-rev.txt": 38.8e9, "iperf3-3.21-bidir.txt": 13.5e9 + 17.2e9, "iperf3-3.12-udp.txt": 20.2e6,
		"iperf3-3.12-udpr.txt": 10.1e6, "iperf3-3.21-udpb.txt": 2 * 5.11e6, "iperf3-3.1-udp.txt": 1.02e6, "iperf3-3.21-ts.txt": 22569e6, "iperf3-3.12-V.txt": 9.88e9,
	} {
		good := text(t, name)
		for _, c := range []struct {
			name, text string
			want       []runOfLog
		}{
			{"refused between", good + refusedIperf3 + good, []runOfLog{{bps, ""}, {0, measure.KindUnreachable}, {bps, ""}}},
			{"refused twice, first and last", refusedIperf3 + refusedIperf3 + good + refusedIperf3, []runOfLog{{0, measure.KindUnreachable}, {0, measure.KindUnreachable}, {bps, ""}, {0, measure.KindUnreachable}}},
			{"busy", good + "iperf3: error - the server is busy running a test. try again later\n" + good, []runOfLog{{bps, ""}, {0, measure.KindRefused}, {bps, ""}}},
			{"a run that was reset and printed nothing", good + reset + good, []runOfLog{{bps, ""}, {bps, ""}, {0, measure.KindBroken}}},
		} {
			results, err := read(t, Auto, c.text)
			checkRuns(t, name+", "+c.name, results, err, c.want)
		}
	}
}

// Standard error is written immediately and the lines of a test when iperf3 ends, so a message stands before
// the lines of its test.
func TestAMessageBelongsToTheTestThatHasNotEnded(t *testing.T) {
	good, begun := text(t, "iperf3-3.12-tcp.txt"), "Connecting to host a, port 5201\n[  5] local a port 1 connected to b port 5201\n[ ID] Interval Transfer Bitrate\n"
	reset := "iperf3: error - control socket has closed unexpectedly\n"
	for name, c := range map[string]struct {
		text string
		want []runOfLog
	}{
		"before its test":              {good + reset + begun + good, []runOfLog{{21.3e9, ""}, {0, measure.KindBroken}, {21.3e9, ""}}},
		"before another whole test":    {reset + good + begun, []runOfLog{{21.3e9, ""}, {0, measure.KindBroken}}},
		"among the lines of its test":  {good + begun + reset + good, []runOfLog{{21.3e9, ""}, {0, measure.KindBroken}, {21.3e9, ""}}},
		"among the lines of a whole":   {strings.Replace(good, "- - - - -", reset+"- - - - -", 1), []runOfLog{{21.3e9, ""}, {0, measure.KindBroken}}},
		"a run that was killed":        {begun + good, []runOfLog{{0, measure.KindBroken}, {21.3e9, ""}}},
		"after a test without its end": {strings.Replace(good, "iperf Done.\n", "", 1) + refusedIperf3, []runOfLog{{21.3e9, ""}, {0, measure.KindUnreachable}}},
	} {
		results, err := read(t, Auto, c.text)
		checkRuns(t, name, results, err, c.want)
	}
}

// A health check opens a connection and closes it. It is no test, and spoils none, wherever its message
// stands: with -1 the server ends and begins again, and its lines come after its messages.
func TestAHealthCheckOfAServerOfIperf3IsNoTest(t *testing.T) {
	const check = "iperf3: error - unable to receive cookie at server: Bad file descriptor\n"
	log := text(t, "iperf3-3.21-server.txt")
	want, err := read(t, Auto, log)
	if err != nil {
		t.Fatal(err)
	}
	const listening = "-----------------------------------------------------------\nServer listening on "
	for name, text := range map[string]string{
		"between tests":                   strings.Replace(log, listening, check+listening, 2),
		"as its first line":               check + log,
		"among the lines of a test":       strings.Replace(log, "[  5]   1.00-2.00 ", check+"[  5]   1.00-2.00 ", 1),
		"after the final lines":           strings.Replace(log, " receiver\n", " receiver\n"+check, 1),
		"of another kind":                 strings.Replace(log, listening, "iperf3: error - unable to receive parameters from client: Bad file descriptor\n"+listening, 3),
		"before each line of the program": strings.ReplaceAll(log, listening, check+listening),
	} {
		got, err := read(t, Auto, text)
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %d results, want %d, %v", name, len(got), len(want), err)
			continue
		}
		noted := 0
		for i, r := range got {
			if (r.Error == nil) != (want[i].Error == nil) || r.Summary.GoodputBps != want[i].Summary.GoodputBps {
				t.Errorf("%s: test %d: %v bit/s, %v", name, i+1, r.Summary.GoodputBps, r.Error)
			}
			noted += len(r.Findings.With(finding.TextAround))
		}
		if noted == 0 {
			t.Errorf("%s: the message is in no finding", name)
		}
	}
}

func TestAMessageOfAServerOfIperf3BelongsToTheTestThatHasNotEnded(t *testing.T) {
	const reset = "iperf3: error - unable to receive control message: Connection reset by peer\n"
	whole := "-----\nServer listening on 5201\n-----\nAccepted connection from 10.0.0.2, port 1\n[  5] local a port 5201 connected to b port 2\n[ ID] Interval           Transfer     Bitrate\n" +
		"[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec\n- - - - - -\n[ ID] Interval           Transfer     Bitrate\n[  5]   0.00-1.00   sec   112 MBytes   940 Mbits/sec                  receiver\n"
	stopped := "-----\nServer listening on 5201\n-----\nAccepted connection from 10.0.0.2, port 1\n[  5] local a port 5201 connected to b port 2\n[ ID] Interval           Transfer     Bitrate\n"
	for name, text := range map[string]string{
		"before both": reset + whole + stopped + whole, "between": whole + reset + stopped + whole, "at its end": whole + stopped + reset + whole,
	} {
		results, err := read(t, Auto, text)
		checkRuns(t, name, results, err, []runOfLog{{940e6, ""}, {0, measure.KindBroken}, {940e6, ""}})
		if err == nil && len(results) == 3 && !strings.Contains(results[1].Error.Message, "reset by peer") {
			t.Errorf("%s: %v", name, results[1].Error)
		}
	}
}

func TestAFailedRunInALogOfNuttcpLeavesTheOthersAsTheyAre(t *testing.T) {
	const refused = "nuttcp-t: v6.1.2: Error: connect: Connection refused\nerrno=111\n"
	const refusedReverse = "nuttcp-r: v6.1.2: Error: connect: Connection refused\nerrno=111\n"
	const both = "nuttcp-r: v6.1.2: Error: read: Connection reset by peer\nnuttcp-t: v6.1.2: Error: server not ACKing data\n"
	bad := runOfLog{0, measure.KindUnreachable}
	for name, bps := range map[string]float64{
		"nuttcp-t.txt": 16299.9341e6, "nuttcp-i.txt": 12068.5601e6, "nuttcp-fp.txt": 8299.4413e6, "nuttcp-u.txt": 6.5524e6, "nuttcp-v.txt": 11050.1249e6,
		"nuttcp-rv.txt": 13142.7077e6, "nuttcp-uv.txt": 6.3549e6, "nuttcp-none.txt": 0,
	} {
		good, whole := text(t, name), runOfLog{bps, ""}
		if bps == 0 {
			whole = bad
		}
		for _, c := range []struct {
			name, text string
			want       []runOfLog
		}{
			{"between", good + refused + good, []runOfLog{whole, bad, whole}},
			{"first, twice", refused + refused + good, []runOfLog{bad, bad, whole}},
			{"of the other way", refusedReverse + good + refused, []runOfLog{bad, whole, bad}},
			{"reported by both ends", both + good, []runOfLog{{0, measure.KindBroken}, whole}},
		} {
			results, err := read(t, Auto, c.text)
			checkRuns(t, name+", "+c.name, results, err, c.want)
		}
	}
}

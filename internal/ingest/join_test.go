package ingest

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// given reads samples under other names, as files of one command.
func given(t *testing.T, pattern string, files ...[2]string) []Joined {
	t.Helper()
	q := &Request{Campaign: "x", Format: Auto, Version: "test", Now: fileTime}
	if pattern != "" {
		p, err := ParsePathPattern(pattern)
		if err != nil {
			t.Fatal(err)
		}
		q.Path = p
	}
	ends := NewEnds(q.Path)
	var out []Joined
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join("testdata", f[1]))
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSource(f[0], data, fileTime)
		if err != nil {
			t.Fatal(err)
		}
		results, err := q.Read(s)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if !ends.Hold(r) {
				out = append(out, Joined{Result: r, Of: r})
			}
		}
	}
	return append(out, ends.Join()...)
}

func named(files ...string) (out [][2]string) {
	for _, f := range files {
		out = append(out, [2]string{f, f})
	}
	return out
}

func TestFilesOfOneCookieBecomeOneResult(t *testing.T) {
	clients := map[string]string{
		"iperf3-3.12-tcp.json": "tcp", "iperf3-3.12-bidir.json": "tcp bidirectional", "iperf3-3.12-reverse.json": "tcp reverse",
		"iperf3-3.12-udp.json": "udp", "iperf3-3.12-udp-reverse.json": "udp reverse", "iperf3-3.12-get-server-output.json": "tcp",
	}
	files := append(named("iperf3-3.12-server.json"), named(slices.Sorted(maps.Keys(clients))...)...)
	joined := given(t, "", files...)
	if len(joined) != len(clients) {
		t.Fatalf("%d results of %d runs", len(joined), len(clients))
	}
	for _, j := range joined {
		r := j.Result
		alone := one(t, r.Origin.File)
		if r.Origin.Other == nil || r.Origin.Other.File != "iperf3-3.12-server.json" || r.Origin.End != "" || r.Origin.Run == "" {
			t.Errorf("%s: origin %+v", r.Origin.File, r.Origin)
			continue
		}
		if r.Trial.Label != clients[r.Origin.File] || r.Hosts.Client == nil || r.Hosts.Server == nil {
			t.Errorf("%s: label %q, hosts %+v", r.Origin.File, r.Trial.Label, r.Hosts)
		}
		for _, phrase := range []finding.Code{finding.GoodputOfSender, finding.NoSenderCount, finding.IntervalsOfSender, finding.NoIntervals, finding.NoRetransmits, finding.NoStreams} {
			if isMissing(r, phrase) {
				t.Errorf("%s: %q is still missing with both ends", r.Origin.File, phrase)
			}
		}
		if !isMissing(r, finding.NoBaseline) {
			t.Errorf("%s: the floor came from nowhere: %q", r.Origin.File, r.Origin.Missing)
		}
		for i, f := range r.Flows {
			s, a := f.Summary, alone.Flows[i].Summary
			if s.SentBytes != a.SentBytes || s.ReceivedBytes != a.ReceivedBytes || !close2(s.GoodputBps, a.GoodputBps) || s.PacketsLost != a.PacketsLost || len(f.Streams) != len(alone.Flows[i].Streams) {
				t.Errorf("%s %s: %+v, the client heard %+v", r.Origin.File, f.Direction, s, a)
			}
			if (s.Retransmits == nil) != (r.Test == measure.TestUDP) {
				t.Errorf("%s %s: retransmits %v", r.Origin.File, f.Direction, s.Retransmits)
			}
			if len(f.Samples) == 0 || f.Samples[0].ReceivedBytes == 0 || f.Samples[0].SentBytes != 0 {
				t.Errorf("%s %s: the samples are not the receiver's: %+v", r.Origin.File, f.Direction, f.Samples)
			}
		}
		if r.Summary.GoodputBps <= 0 || r.Summary.CPUSecPerGB == nil && alone.Summary.CPUSecPerGB != nil {
			t.Errorf("%s: %+v", r.Origin.File, r.Summary)
		}
	}
}

func TestOfTwoJoinedFilesTheReceiverCounts(t *testing.T) {
	for _, c := range []struct {
		pattern        string
		client, server string
		bps            float64
		sent, received int64
		retransmits    int64
		gained         []finding.Code
	}{
		{"run{repeat}-{end}.log", "ntttcp-s.xml", "ntttcp-r.xml", 26873.733e6, 10083631104, 10080616448, 5, []finding.Code{finding.GoodputOfSender, finding.NoSenderCount, finding.NoRetransmits}},
		{"run{repeat}-{end}.log", "ethr-pair-client.log", "ethr-pair-server.log", (53.2e9 + 45.7e9 + 53.4e9) / 3, 0, 0, -1, []finding.Code{finding.GoodputOfSender, finding.NoSenderCount, finding.IntervalsOfSender}},
	} {
		for _, files := range [][][2]string{
			{{"a/run3-one.log", c.client}, {"a/run3-other.log", c.server}},
			{{"a/run3-one.log", c.server}, {"a/run3-other.log", c.client}},
		} {
			joined := given(t, c.pattern, files...)
			if len(joined) != 1 || joined[0].Err != nil || joined[0].Other == nil {
				t.Fatalf("%s: %d results, %v", c.client, len(joined), joined[0].Err)
			}
			r := joined[0].Result
			if !close2(r.Summary.GoodputBps, c.bps) || r.Summary.SentBytes != c.sent || r.Summary.ReceivedBytes != c.received {
				t.Errorf("%s: %+v", c.client, r.Summary)
			}
			if n := r.Summary.Retransmits; (n == nil) != (c.retransmits < 0) || n != nil && *n != c.retransmits {
				t.Errorf("%s: retransmits %v", c.client, n)
			}
			for _, phrase := range c.gained {
				if isMissing(r, phrase) {
					t.Errorf("%s: %q is still missing with both ends", c.client, phrase)
				}
			}
			if r.Trial.Label != "tcp" || r.Trial.Round != 3 || len(r.Trial.Levels) != 0 {
				t.Errorf("%s: %+v", c.client, r.Trial)
			}
		}
	}
}

func TestFilesNotKnownToBeOfOneRunAreNotJoined(t *testing.T) {
	for name, files := range map[string][][2]string{
		"no cookie and no {end}": named("ntttcp-s.xml", "ntttcp-r.xml"),
		"other cookies":          named("iperf3-3.12-tcp.json", "iperf3-3.21-bytes.json"),
		"a client twice":         {{"a", "iperf3-3.12-tcp.json"}, {"b", "iperf3-3.12-tcp.json"}},
	} {
		joined := given(t, "", files...)
		if len(joined) != 2 || joined[0].Other != nil || joined[1].Other != nil || joined[0].Err != nil || joined[1].Err != nil {
			t.Errorf("%s: %+v", name, joined)
		}
	}
	if joined := given(t, "{sku}-{end}.log", [2]string{"a-s.log", "ntttcp-s.xml"}, [2]string{"b-r.log", "ntttcp-r.xml"}); len(joined) != 2 || joined[0].Other != nil {
		t.Errorf("other paths: %+v", joined)
	}
	// No file may be lost if the two paths give a factor different levels.
	joined := given(t, "{end}/{sku}.json", [2]string{"c/A.json", "iperf3-3.12-tcp.json"}, [2]string{"s/B.json", "iperf3-3.12-tcp.json"})
	if len(joined) != 2 || joined[0].Err != nil || joined[1].Err != nil {
		t.Errorf("%+v", joined)
	}
}

func TestFilesThatCannotBeOneRunAreErrors(t *testing.T) {
	for want, files := range map[string][2]string{
		"both files come from the client":           {"ntttcp-s.xml", "ntttcp-s.json"},
		"one is of ntttcp, the other of ethr":       {"ntttcp-s.xml", "ethr-pair-server.log"},
		"one is the test udp, the other tcp":        {"ntttcp-su.json", "ntttcp-r.xml"},
		"there are 7 tests, and a run has two ends": {"iperf3-3.12-tcp.json", "iperf3-3.12-server.json"},
	} {
		joined := given(t, "run-{end}", [2]string{"run-1", files[0]}, [2]string{"run-2", files[1]})
		for _, j := range joined {
			if j.Result != nil || measure.KindOf(j.Err) != measure.KindFile || !strings.Contains(j.Err.Error(), want) {
				t.Errorf("%q: %+v %v", want, j.Result, j.Err)
			}
		}
	}
}

func TestAJoinedRunIsIngestedOnce(t *testing.T) {
	client, server := named("iperf3-3.12-tcp.json"), named("iperf3-3.12-server.json")
	both := append(named("iperf3-3.12-tcp.json"), server...)
	for name, c := range map[string]struct {
		first, second [][2]string
		added         int
	}{
		"both, then both":   {both, both, 0},
		"both, then client": {both, client, 0},
		"both, then server": {both, server, 0},
		"client, then both": {client, both, 5},
		"server, then both": {server, both, 0},
	} {
		st := openStore(t)
		total := 0
		for i, files := range [][][2]string{c.first, c.second} {
			in, err := Open(context.Background(), st, request("A"), false)
			if err != nil {
				t.Fatal(err)
			}
			added := 0
			for _, j := range given(t, "", files...) {
				_, ok, err := in.Add(context.Background(), j.Result)
				if err != nil {
					t.Fatal(err)
				}
				if ok {
					added++
				} else if in.Known(j.Result) == nil {
					t.Errorf("%s: not added and not known", name)
				}
			}
			if err := in.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			if total += added; i == 1 && added != c.added {
				t.Errorf("%s: %d went in the second time, want %d", name, added, c.added)
			}
		}
	}
}

func TestAReceiverThatCountsMoreThanWasSentIsReported(t *testing.T) {
	a, b := one(t, "ntttcp-s.json"), one(t, "ntttcp-r.xml")
	b.Flows[0].Summary.ReceivedBytes = a.Flows[0].Summary.SentBytes * 2
	if r := merge(a, b); len(r.Findings.With(finding.ReceivedExceedsSent)) != 1 {
		t.Errorf("%+v", r.Findings)
	}
	if a.Origin.Other != nil || a.Trial.Label != "tcp, sender's count" {
		t.Error("merging changed what it was given")
	}
}

func TestEndsThatCannotBeOfOneRunAreRefused(t *testing.T) {
	for want, change := range map[string]func(server *measure.Result){
		"":                                func(*measure.Result) {},
		"the runs have different cookies": func(r *measure.Result) { r.Origin.Run = "another" },
		"one is forward, the other reverse": func(r *measure.Result) {
			r.Path.Direction = measure.Reverse
		},
		"their paths name different rounds":   func(r *measure.Result) { r.Trial.Round = 2 },
		"they have different levels of sku":   func(r *measure.Result) { r.Trial.Levels[0].Value = "B" },
		"of the test latency one end has all": func(r *measure.Result) { r.Test = measure.TestLatency },
		"one is of iperf3, the other of ethr": func(r *measure.Result) { r.Origin.Format = "ethr" },
		"one is the test tcp, the other udp":  func(r *measure.Result) { r.Test = measure.TestUDP },
	} {
		client, server := one(t, "iperf3-3.12-tcp.json"), sample(t, "iperf3-3.12-server.json")[0]
		for _, r := range []*measure.Result{client, server} {
			r.Trial.Levels = []measure.Level{{Factor: "sku", Value: "A"}}
		}
		change(server)
		if server.Test == measure.TestLatency {
			client.Test = measure.TestLatency
		}
		got := unlike([]*measure.Result{client, server})
		if want == "" && got != nil || want != "" && (got == nil || !strings.HasPrefix(got.Message, want)) {
			t.Errorf("%v, want %q", got, want)
		}
	}
}

// A file of one end has no figures of the other end.
func TestAResultOfOneEndDoesNotReplaceOneOfBoth(t *testing.T) {
	ctx := context.Background()
	client, server := one(t, "ntttcp-s.xml"), one(t, "ntttcp-r.xml")
	levelled := func(r *measure.Result, value string) *measure.Result {
		r.Trial.Levels = []measure.Level{{Factor: "sku", Value: value}}
		return r
	}
	in, err := Open(ctx, openStore(t), request("A"), false)
	if err != nil {
		t.Fatal(err)
	}
	both, _, err := in.Add(ctx, levelled(merge(client, server), "A"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"ntttcp-s.xml", "ntttcp-r.xml"} {
		if old := in.Relevelled(levelled(one(t, file), "B")); old != nil {
			t.Errorf("%s: %+v would be replaced", file, old.Origin)
		}
	}
	if old := in.Relevelled(levelled(merge(one(t, "ntttcp-s.xml"), one(t, "ntttcp-r.xml")), "B")); old != both {
		t.Errorf("both ends with other levels: %+v", old)
	}
}

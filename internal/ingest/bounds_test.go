package ingest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

func read(t *testing.T, format, text string) ([]*measure.Result, error) {
	t.Helper()
	s, err := NewSource("f", []byte(text), fileTime)
	if err != nil {
		return nil, err
	}
	return (&Request{Campaign: "x", Format: format, Now: fileTime}).Read(s)
}

func TestHostileFilesAreRefusedWithALine(t *testing.T) {
	pingRun := "PING a\n64 bytes from a: seq=0 time=1.0 ms\n1 packets transmitted, 1 received, 0% packet loss\nrtt min/avg/max/mdev = 1/1/1/0 ms\n"
	for name, c := range map[string]struct{ format, text, want string }{
		"too large":             {"ping", strings.Repeat("x", MaxFileBytes+1), "more than 64 MiB"},
		"a long line":           {"ping", "PING a\n" + strings.Repeat("x", maxLineBytes+1), "f:2: a line of"},
		"too many lines":        {"ping", strings.Repeat("\n", maxLines+1) + "x", "lines; at most"},
		"deep JSON":             {"iperf3", strings.Repeat(`{"start":`, 100), "nested more than 64 deep"},
		"deep XML":              {"ntttcp", "<ntttcps>" + strings.Repeat("<a>", 100), "nested more than 64 deep"},
		"many objects":          {"iperf3", `{"intervals":[` + strings.Repeat("{},", maxObjects+1), "more than 500000 objects"},
		"many values":           {"iperf3", `{"intervals":[` + strings.Repeat("null,", maxObjects+2), "more than 500000 values in lists"},
		"many streams":          {"iperf3", `{"intervals":[{"streams":[` + strings.Repeat("null,", maxObjects+2), "more than 500000 values in lists"},
		"many members":          {"ntttcp", `{"ntttcpr":{` + strings.Repeat(`"a":1,`, maxMembers+1) + `"b":1}}`, "more than 100000 members"},
		"many elements":         {"ntttcp", "<ntttcpr>" + numbered("<e%d>1</e%[1]d>", maxMembers+2) + "</ntttcpr>", "more than 100000 members"},
		"many attributes":       {"ntttcp", "<ntttcpr>\n<a" + strings.Repeat(` a=""`, maxLineBytes/4) + "/></ntttcpr>", "f:2: a line of"},
		"many columns":          {"iperf2-csv", "a\n" + strings.Repeat(",", maxColumns) + "\n", "f:2: more than 10000 columns"},
		"a row of many lines":   {"iperf2-csv", strings.Repeat("\"\n\",", maxColumns) + "\n", "more than 10000 columns"},
		"many histograms":       {"ping", strings.Repeat(pingRun, maxTimed+1), "more than 1000 runs of ping"},
		"a picture":             {Auto, "\x89PNG\r\n\x1a\n\x00\x00", "no text: it has zero bytes"},
		"no encoding":           {Auto, "\xff\xf0\xfd\xa0\xff", "neither UTF-8, UTF-16 nor Shift-JIS"},
		"nothing":               {Auto, " \n", "the file is empty"},
		"another JSON":          {"iperf3", `{"a": 1}`, "no document of iperf3"},
		"another XML":           {"ntttcp", `<html></html>`, "not a log of ntttcp"},
		"iperf3 without an end": {Auto, "Connecting to host a, port 5201\n[  5] local a port 1 connected to b port 5201\n", "cut off: iperf3's test that begins in line 1"},
		"iperf3 many streams":   {Auto, "Connecting to host a, port 5201\n" + manyStreams(), "more than 4096 streams"},
		"iperf3 many intervals": {Auto, "Connecting to host a, port 5201\n" + strings.Repeat("[  5] 0.00-1.00 sec 1 Bytes 8 bits/sec\n", maxRecords+1), "more than 100000 intervals"},
		"iperf3 impossible":     {Auto, "Connecting to host a, port 5201\n[  5] 0.00-1.00 sec 1e300 Bytes 8 bits/sec sender\n", "no interval, amount and rate"},
		"a figure beyond all":   {"iperf3", strings.Replace(text(t, "iperf3-3.1-tcp.json"), `9.39610e+08`, `9e300`, 1), "impossible figure"},
		"a negative figure":     {"iperf3", strings.Replace(text(t, "iperf3-3.1-tcp.json"), `"bytes":	234912024`, `"bytes":	-1`, 1), "impossible figure"},
		"a text for a number":   {"iperf3", strings.Replace(text(t, "iperf3-3.1-tcp.json"), `"bytes":	234912024`, `"bytes":	"x"`, 1), "which does not fit"},
		"another version":       {"iperf3", strings.ReplaceAll(text(t, "iperf3-3.1-tcp.json"), "iperf 3.1.3", "iperf 4.0"), `start.version is "iperf 4.0"`},
		"SCTP":                  {"iperf3", strings.ReplaceAll(text(t, "iperf3-3.1-tcp.json"), `"TCP"`, `"SCTP"`), "only TCP and UDP are read"},
		"more than was sent":    {"ping", "PING a\n2 packets transmitted, 3 received, 0% packet loss\n", "ping's counts do not fit"},
		"an unknown format":     {"csv", "a,b\n", "needs a mapping"},
		"several Ethr clients":  {Auto, "[RemoteAddress]  Proto   Bits/s   Conn/s    Pkt/s   Latency\n[ 10.0.0.1]    TCP     6.9G        0     --        --  \n[        [SUM]]    TCP     9G   0   0\n", "several clients at a time"},
	} {
		_, err := read(t, c.format, c.text)
		var e *measure.Error
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		} else if !errors.As(err, &e) || e.Kind != measure.KindFile && name != "an unknown format" {
			t.Errorf("%s: error of kind %v", name, e.Kind)
		}
	}
}

// numbered repeats a text n times, each time with its number.
func numbered(text string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, text, i)
	}
	return b.String()
}

// The memory that a file takes grows with its bytes, not with the numbers written in it.
func TestAFileOfNothingTakesLittleMemory(t *testing.T) {
	const size, most = 20 << 20, 300 << 20
	for name, c := range map[string]struct{ format, begin, part string }{
		"intervals": {"iperf3", `{"intervals":[`, "null,"},
		"numbers":   {"iperf3", `{"intervals":[`, "-nan,"},
		"streams":   {"iperf3", `{"end":{"streams":[`, "null,"},
		"connected": {"iperf3", `{"start":{"connected":[`, "null,"},
		"threads":   {"ntttcp", `{"ntttcpr":{"threads":[`, "null,"},
		"columns":   {"iperf2-csv", "", ","},
	} {
		text := c.begin + strings.Repeat(c.part, size/len(c.part))
		if c.format != "iperf2-csv" {
			text += "null" + map[bool]string{true: "]}}", false: "]}"}[strings.Count(c.begin, "{") == 2]
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := read(t, c.format, text+"\n")
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; err == nil || grown > most {
			t.Errorf("%s: %d MiB were allocated, %.100v", name, grown>>20, err)
		}
	}
}

func manyStreams() string {
	var b strings.Builder
	for i := range maxStreams + 1 {
		fmt.Fprintf(&b, "[%d] local 10.0.0.1 port 1 connected to 10.0.0.2 port 2\n", i)
	}
	return b.String()
}

func TestAFailureHasItsPlaceAndItsProblemAsData(t *testing.T) {
	for name, c := range map[string]struct {
		format, text, code, hint string
		line                     float64
		figures                  measure.Figures
	}{
		"counts":  {"ping", "PING a\n2 packets transmitted, 3 received, 0% packet loss\n", "ingest.counts", "", 2, measure.Figures{"tool": "ping", "sent": 2.0, "received": 3.0}},
		"cut off": {"iperf3", "{\n\"start\":", "ingest.cut_off.json", "ingest.cut_off", 2, nil},
		"no text": {Auto, "\x00", "ingest.file.zero_bytes", "ingest.text", 1, nil},
	} {
		_, err := read(t, c.format, c.text)
		var e *measure.Error
		if !errors.As(err, &e) || e.Code != "ingest.at" || e.HintCode != c.hint || e.Cause == nil || e.Cause.Code != c.code {
			t.Errorf("%s: %+v", name, err)
			continue
		}
		if e.Figures["file"] != "f" || e.Figures["line"] != c.line || !maps.Equal(e.Cause.Figures, c.figures) {
			t.Errorf("%s: %v of %v", name, e.Cause.Figures, e.Figures)
		}
	}
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestALineOfManyColourCodesIsReadInLinearTime(t *testing.T) {
	if got := colours.ReplaceAllLiteralString(strings.Repeat("\x1b[1m\x1b[31mx", 80_000)+"\x1b[", ""); got != strings.Repeat("x", 80_000) {
		t.Errorf("%d characters are left", len(got))
	}
}

// A truncated file is an error, or has a finding if the rest may be whole but for its line end.
// The output of a program that prints one line per second cannot be recognised as truncated at
// the end of a line.
func TestATruncatedFileIsAnError(t *testing.T) {
	open := func(name string) bool {
		return strings.HasPrefix(name, "iperf2-") || name == "iperf3-3.12-ref.txt" || strings.HasPrefix(name, "iperf3-") && strings.HasSuffix(name, "-server.txt") || strings.HasPrefix(name, "ethr-server") || strings.HasSuffix(name, ".log")
	}
	files, _ := filepath.Glob("testdata/*.*")
	tried := 0
	for _, file := range files {
		name := filepath.Base(file)
		if name == "README.md" || open(name) || strings.Contains(name, "utf16") {
			continue
		}
		whole := text(t, name)
		for _, percent := range []int{35, 60, 80} {
			cut := whole[:len(whole)*percent/100]
			if strings.HasPrefix(name, "netperf") {
				cut = strings.TrimRight(whole, "\n 0123456789.-\t") // the table without its figures
			}
			tried++
			if results, err := read(t, Auto, cut); err == nil && len(results[len(results)-1].Findings.With(finding.LastLineOpen)) == 0 {
				t.Errorf("%s cut to %d %%: %d results and no error", name, percent, len(results))
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d cuts", tried)
	}
}

// Text that was copied from a terminal often has no last line end. It is read, and the result
// tells that its last figure may be cut off.
func TestTextWithoutALastLineEndIsReadWithAFinding(t *testing.T) {
	for _, file := range []string{"iperf2-client-tcp.txt", "iperf2-tcp.csv", "ethr-b.txt", "ethr-server.txt", "sockperf-pp.txt", "netperf-tcp_stream.txt", "ping-linux.txt", "ntttcp-r.xml", "iperf3-3.12-tcp.json", "ethr-b.log"} {
		whole := text(t, file)
		want, err := read(t, Auto, whole)
		if err != nil {
			t.Fatal(err)
		}
		got, err := read(t, Auto, strings.TrimRight(whole, "\n"))
		if err != nil || len(got) != len(want) {
			t.Errorf("%s: %d results, %v", file, len(got), err)
			continue
		}
		last, marked := got[len(got)-1], false
		switch file {
		case "ping-linux.txt", "ntttcp-r.xml", "iperf3-3.12-tcp.json", "ethr-b.log": // their ends are marks of their own
			marked = true
		}
		if found := len(last.Findings.With(finding.LastLineOpen)) == 1; found == marked {
			t.Errorf("%s: findings %+v", file, last.Findings)
		}
		if last.Summary.GoodputBps != want[len(want)-1].Summary.GoodputBps {
			t.Errorf("%s: %v bit/s, want %v", file, last.Summary.GoodputBps, want[len(want)-1].Summary.GoodputBps)
		}
	}
}

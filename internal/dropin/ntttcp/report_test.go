package ntttcp

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"soku/internal/host"
)

// sample is a test of the options with which the recorded reports were made.
func sample(t *testing.T, line string) *figures {
	t.Helper()
	o, _ := parse(t, line)
	threads := []int64{1000, 2000}
	if o.Sender {
		threads = []int64{1000, 2000, 3000, 4000}
	}
	return &figures{
		o: o, seconds: 2, threads: threads, connections: 8, mhz: 2500, rttUs: 712,
		from: reading{totals: host.Totals{CPUs: 2}},
		to: reading{
			totals: host.Totals{
				CPUs: 2, ProcessNs: 1e9,
				Time: host.CPUTimes{UserNs: 10, NiceNs: 1, SystemNs: 70, IdleNs: 5, IOWaitNs: 1, SoftirqNs: 13},
			},
			resent: host.Retransmits{Segments: 154, Lost: 2, SYN: 4, Fast: 18, Forward: 6, SlowStart: 8, Failed: 10},
			sent:   100, received: 300, interrupts: 40,
		},
	}
}

const (
	senderLine   = "-s127.0.0.1 -P 2 -n 2 -l 2 -t 2 -p 15001 -V -x s.xml -j s.json --show-tcp-retrans --show-nic-packets lo --show-dev-interrupts virtio"
	receiverLine = "-r127.0.0.1 -P 2 -e -t 2 -p 15001 -V -x r.xml -j r.json --show-tcp-retrans"
)

func reference(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// xmlShape is the path and the unit of every element, in order.
func xmlShape(t *testing.T, b []byte) (shape []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(b)))
	var path []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return shape
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			path = append(path, e.Name.Local)
			var attributes []string
			for _, a := range e.Attr {
				if a.Name.Local == "metric" {
					attributes = append(attributes, a.Value)
				} else {
					attributes = append(attributes, a.Name.Local)
				}
			}
			shape = append(shape, strings.Join(path, "/")+" "+strings.Join(attributes, " "))
		case xml.EndElement:
			path = path[:len(path)-1]
		}
	}
}

// jsonShape is the path of every value, with those of units, in order.
func jsonShape(t *testing.T, b []byte) (shape []string) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(b)))
	var walk func(path string)
	next := func() json.Token {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	walk = func(path string) {
		switch token := next(); token {
		case json.Delim('{'):
			for d.More() {
				walk(path + "/" + next().(string))
			}
			next()
		case json.Delim('['):
			for i := 0; d.More(); i++ {
				walk(path + fmt.Sprintf("[%d]", i))
			}
			next()
		default:
			if strings.HasSuffix(path, "/metric") {
				path += "=" + token.(string)
			}
			shape = append(shape, path)
		}
	}
	walk("")
	return shape
}

func TestReportsHaveTheElementsOfNtttcp(t *testing.T) {
	for name, line := range map[string]string{"sender": senderLine, "receiver": receiverLine} {
		f := sample(t, line)
		x, err := f.xml("vm")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := xmlShape(t, x), xmlShape(t, reference(t, name+".xml")); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: XML\ngot  %q\nwant %q", name, got, want)
		}
		j, err := f.json("vm")
		if err != nil {
			t.Fatal(err)
		}
		if got, want := jsonShape(t, j), jsonShape(t, reference(t, name+".json")); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: JSON\ngot  %q\nwant %q", name, got, want)
		}
	}
}

func TestFiguresAreThoseOfTheTest(t *testing.T) {
	f := sample(t, senderLine)
	b, err := f.json("host \"one\"")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	got := doc["ntttcps"]
	value := func(name string) any { return got[name].(map[string]any)["value"] }
	for name, want := range map[string]string{
		"totalBytes": "0.010000", "realTime": "2.000000", "cpu": "50.000", "avgPacketsPerInterrupt": "10.000", "interrupt": "20.000",
		"cycles": "950000.000", // 2500 MHz x 2 s x 2 processors x 0.95 over 10000 bytes
	} {
		if value(name) != want {
			t.Errorf("%s is %v, want %s", name, value(name), want)
		}
	}
	if got["computername"] != `host "one"` || got["packets_retransmitted"] != "154" || got["tcpAverageRtt metric"] != "712 us" {
		t.Errorf("got %v", got)
	}
}

// labels are the lines of totals on a console, without times, numbers and multiples.
func labels(console string) (out []string) {
	_, totals, _ := strings.Cut(console, "Totals:")
	for line := range strings.Lines(totals) {
		_, after, ok := strings.Cut(line, " INFO: ")
		label, value, _ := strings.Cut(strings.TrimRight(after, "\n"), ":")
		if ok {
			out = append(out, label+":"+strings.TrimLeft(value, "0123456789.KMG"))
		}
	}
	return out
}

func TestTheConsoleHasTheLinesOfNtttcp(t *testing.T) {
	for name, line := range map[string]string{"sender": senderLine, "receiver": receiverLine} {
		var out strings.Builder
		sample(t, line).print(&console{env: Env{Stdout: &out, Now: now}, verbose: true})
		if got, want := labels(out.String()), labels(string(reference(t, name+".txt"))); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, want)
		}
	}
}

func TestRatesHaveTheUnitsOfNtttcp(t *testing.T) {
	for want, c := range map[string]struct {
		bytes   int64
		seconds float64
	}{"0.00bps": {0, 0}, "8.00bps": {1, 1}, "1000.00bps": {125, 1}, "1.01Kbps": {126, 1}, "20.58Gbps": {5146804224, 2.000882}, "8000.00Gbps": {1e12, 1}} {
		if got := throughput(c.bytes, c.seconds); got != want {
			t.Errorf("%d bytes in %v s: %s, want %s", c.bytes, c.seconds, got, want)
		}
	}
}

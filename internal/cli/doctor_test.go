package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"soku/internal/doctor"
	"soku/internal/measure"
	"soku/internal/text"
	"soku/test/freeport"
	"soku/test/tier"
)

func TestDoctorReadsThisHost(t *testing.T) {
	tier.SpendsSeconds(t)
	out, errs, code := soku(t, "doctor", "--json", "--rate", "1G", "--rtt", "2ms")
	var d doctor.Document
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v: %s %s", err, out, errs)
	}
	if d.Schema != doctor.Schema || d.Wanted.RateBps != 1e9 || d.BDP != 250_000 || len(d.Ends) != 1 {
		t.Errorf("%+v", d)
	}
	e := d.Ends[0]
	if looked := len(e.Passed) + len(e.Findings); e.Where != measure.AtClient || looked+len(e.NotLooked) < len(doctor.Checks) || looked < 10 {
		t.Errorf("%+v", e)
	}
	if want := map[bool]int{false: 0, true: 11}[d.Problems(nil) > 0]; code != want {
		t.Errorf("status %d with %d problems: %s", code, d.Problems(nil), errs)
	}
}

func TestDoctorLooksAtThePathAndTheServer(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	out, errs, _ := soku(t, "doctor", startServer(t, nil), "--json", "--streams", "2")
	var d doctor.Document
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v: %s %s", err, out, errs)
	}
	var ends []measure.Where
	for _, e := range d.Ends {
		ends = append(ends, e.Where)
	}
	if !slices.Equal(ends, []measure.Where{measure.AtClient, doctor.AtPath, measure.AtServer}) || d.Wanted.RTTNs <= 0 || d.Wanted.RTTFrom != doctor.FromLatency {
		t.Fatalf("ends %v, wanted %+v", ends, d.Wanted)
	}
	path, far := d.Ends[1], d.Ends[2]
	if !slices.Contains(path.Passed, "port") || !slices.Contains(path.Passed, "clock_offset") || path.Address != "127.0.0.1" {
		t.Errorf("path %+v", path)
	}
	if far.Hostname == "" || len(far.Passed) < 5 || !slices.Contains(far.NotLooked, doctor.NotLooked{Code: "conntrack", Reason: doctor.NotReported}) {
		t.Errorf("far end %+v", far)
	}
}

func TestDoctorSaysWhyAPortIsNotReached(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	closed := strconv.Itoa(freeport.One(t))
	for host, want := range map[string]string{
		"127.0.0.1:" + closed: "127.0.0.1 answers, and refuses TCP " + closed,
		"no-such.invalid":     "find the address of no-such.invalid",
	} {
		out, errs, code := soku(t, "doctor", host)
		if code != 11 || !strings.Contains(out, "\nproblem     "+want) || !strings.Contains(errs, "will spoil a measurement") {
			t.Errorf("%s: status %d, %s%s", host, code, out, errs)
		}
	}
	if _, errs, code := soku(t, "doctor", "1.2.3"); code != 2 {
		t.Errorf("status %d: %s", code, errs)
	}
}

// A finding is below its severity with the commands on lines of their own, whole on any terminal.
func TestDoctorShowsFindingsWithTheirCommands(t *testing.T) {
	d := &doctor.Document{Wanted: doctor.Wanted{RateBps: 10e9, RateFrom: doctor.FromAsked, Streams: 1}, Ends: []doctor.End{{
		Where: measure.AtClient, Facts: measure.Facts{Hostname: "vm1", OS: "linux", Arch: "amd64", CPUs: 8},
		Findings: []doctor.Finding{{
			Code: "duplex", Severity: doctor.Problem, Confidence: measure.High, Figures: measure.Figures{"interface": "eth0\x1b[2J"},
			Commands: []string{"ethtool -s eth0 autoneg on # " + strings.Repeat("x", 80)},
		}},
		Passed: []string{"sack", "rings"}, NotLooked: []doctor.NotLooked{{Code: "eee", Reason: doctor.NotApplicable}, {Code: "firewall", Reason: doctor.NeedsRights}, {Code: "rss", Reason: doctor.NotApplicable}},
	}}}
	var b bytes.Buffer
	printDoctor(text.English(), &b, 60, d, false)
	out := b.String()
	for _, want := range []string{
		"host        vm1, linux/amd64, 8 CPUs\n", "10.00 Gbit/s (--rate)", "\nproblem     eth0", "half duplex", "\nfix         ethtool -s eth0 autoneg on # " + strings.Repeat("x", 80) + "\n",
		"\nwell        2 checks; --verbose lists them\n", "\nunchecked   Energy-Efficient Ethernet, RSS table: there is\n", "firewall: needs root\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Errorf("a control character in %q", out)
	}
	b.Reset()
	printDoctor(text.English(), &b, 0, d, true)
	if !strings.Contains(b.String(), "well        selective acknowledgements, rings\n") {
		t.Error(b.String())
	}
}

func TestDoctorRefusesWhatItCannotUse(t *testing.T) {
	for _, args := range [][]string{{"--streams", "0"}, {"--streams", "1025"}, {"--rate", "fast"}, {"--fix", "--undo"}, {"--fix", "--json"}, {"vm2", "--undo"}, {"a", "b"}} {
		if _, errs, code := soku(t, append([]string{"doctor"}, args...)...); code != 2 {
			t.Errorf("%v: status %d, %s", args, code, errs)
		}
	}
}

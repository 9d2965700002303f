package cli

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"soku/internal/doctor"
	"soku/internal/measure"
	"soku/internal/text"
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
	if want := map[bool]int{false: 0, true: 11}[d.Count(doctor.Problem) > 0]; code != want {
		t.Errorf("status %d with %d problems: %s", code, d.Count(doctor.Problem), errs)
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
		"host        vm1, linux/amd64, 8 CPUs\n", "10.00 Gbit/s (--rate)", "\nproblem     eth0", "half duplex", "\nmend        ethtool -s eth0 autoneg on # " + strings.Repeat("x", 80) + "\n",
		"\nwell        2 checks; --verbose lists them\n", "\nunchecked   Energy-Efficient Ethernet, RSS table: there is\n", "firewall: only root may read it\n",
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
	for _, args := range [][]string{{"--streams", "0"}, {"--streams", "1025"}, {"--rate", "fast"}} {
		if _, errs, code := soku(t, append([]string{"doctor"}, args...)...); code != 2 {
			t.Errorf("%v: status %d, %s", args, code, errs)
		}
	}
}

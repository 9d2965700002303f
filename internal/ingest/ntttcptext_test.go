package ingest

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// The figures here were read from the files by hand.
func TestNtttcpsTextIsReadOnLinuxAndWindows(t *testing.T) {
	for _, c := range []struct {
		file, label, end string
		version          string
		bps, sent, got   float64
		duration         string
		streams          int
		retransmits      int64 // -1: none
	}{
		{"ntttcp-r.txt", "tcp", measure.EndServer, "1.4.3-linux", 29.43e9, 0, 7361204951, "2s", 0, -1},
		{"ntttcp-s.txt", "tcp, sender's count", measure.EndClient, "1.4.3-linux", 29.42e9, 7354580992, 0, "2s", 2, 22},
		{"ntttcp-s-verbose.txt", "tcp, sender's count", measure.EndClient, "1.4.3-linux", 28.68e9, 7174225920, 0, "2s", 2, 15},
		{"ntttcp-ru.txt", "udp", measure.EndServer, "1.4.3-linux", 17.55e9, 0, 4387920888, "2s", 0, -1},
		{"ntttcp-windows-s.txt", "tcp, sender's count", measure.EndClient, "5.39", 112.741 * 8 * mib, 6765 * mib, 0, "1m0.005s", 2, 1207},
		{"ntttcp-windows-wide.txt", "tcp", measure.EndServer, "5.28", 1127.098 * 8 * mib, 0, 16924.5 * mib, "15.016s", 2, -1}, // it got ten times the packets that it sent
	} {
		r := one(t, c.file)
		s := r.Summary
		retransmits := int64(-1)
		if s.Retransmits != nil {
			retransmits = *s.Retransmits
		}
		if r.Trial.Label != c.label || r.Origin.End != c.end || r.Origin.ToolVersion != c.version || !close2(s.GoodputBps, c.bps) || float64(s.SentBytes) != c.sent || float64(s.ReceivedBytes) != c.got ||
			s.DurationNs.String() != c.duration || r.Options.Streams != c.streams || retransmits != c.retransmits {
			t.Errorf("%s: %q of the %s, %s, %+v, %d streams, %d retransmits, %s", c.file, r.Trial.Label, r.Origin.End, r.Origin.ToolVersion, s, r.Options.Streams, retransmits, s.DurationNs)
		}
		if !isMissing(r, finding.RoundedFigures) || !isMissing(r, finding.NoHostFacts) {
			t.Errorf("%s: missing %+v", c.file, r.Origin.Missing)
		}
	}
}

func TestNtttcpForWindowsDoesNotAlwaysNameItsEnd(t *testing.T) {
	wide := text(t, "ntttcp-windows-wide.txt")
	for name, c := range map[string]struct{ text, end string }{
		"a command":     {"PS C:\\> .\\ntttcp.exe -s10.0.0.2 -t 15\n" + wide, measure.EndClient},
		"equal packets": {strings.Replace(wide, "1241022         12185413", "12410220        12185413", 1), ""},
	} {
		results, err := read(t, Auto, c.text)
		if err != nil || len(results) != 1 || results[0].Origin.End != c.end {
			t.Errorf("%s: %+v %v", name, results, err)
			continue
		}
		if r := results[0]; isMissing(r, finding.CounterUnknown) != (c.end == "") || c.end == "" && r.Summary.SentBytes+r.Summary.ReceivedBytes != 0 {
			t.Errorf("%s: %+v", name, r.Summary)
		}
	}
}

func TestAFailedRunOfNtttcpIsAResultWithItsError(t *testing.T) {
	results, err := read(t, Auto, "NTTTCP for Linux 1.4.3\n---\n10:37:37 ERR : receiver is busy with an existing test running\n10:37:37 ERR : sender: receiver is busy with another test\n"+text(t, "ntttcp-s.txt"))
	if err != nil || len(results) != 2 || results[0].Error == nil || results[0].Error.Kind != measure.KindRefused || results[1].Error != nil || results[1].Origin.Record != 2 {
		t.Errorf("%d results, %v", len(results), err)
	}
}

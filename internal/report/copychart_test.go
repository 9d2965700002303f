package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/text"
)

// copySamples are 2 s in which each sample of 100 ms moves these bytes, by 10 operations of
// the device that keep it busy for 25 ms; without a device unless it is asked for.
func copySamples(file, network int64, device bool, count func(*measure.DiskCount, int64)) *measure.CopyWork {
	w := &measure.CopyWork{Streams: 1}
	for i := range int64(20) {
		x := measure.CopySample{StartNs: i * 1e8, EndNs: (i + 1) * 1e8, FileBytes: file, NetworkBytes: network}
		if device {
			x.Device = &measure.DiskCount{BusyNs: 25e6}
			count(x.Device, file)
		}
		w.Samples = append(w.Samples, x)
	}
	return w
}

// copies is a campaign of copies from a disk that is read with 80 Mbit/s over a network of
// 84 Mbit/s to one that is written with 80 Mbit/s.
func copies(devices, network bool) Input {
	s, r := fourPatterns(), rand.New(rand.NewPCG(5, 5))
	in := Input{Campaign: s.meta()}
	n := 0
	for round := range 3 {
		for _, p := range s.patterns {
			n++
			res := s.trial(r, p, measure.TestCopy, 1+0.1*float64((round+1)%3)) // of rounds 1 to 3 the first is the median one
			res.ID, res.StartedAt = fmt.Sprintf("01KAJ%06d", n), syntheticStart.Add(time.Duration(n)*time.Minute)
			res.Trial.Round, res.Trial.Repeat = round+1, 1
			sent := int64(0)
			if network {
				sent = 1_050_000
			}
			res.Copy = &measure.Copy{Files: 1, Directories: 1, Bytes: 20e6, Stages: []measure.CopyStage{{
				Stage: measure.StageAll, DurationNs: 2e9, Files: 1, Bytes: 20e6,
				Source: copySamples(1e6, sent, devices, func(d *measure.DiskCount, n int64) { d.Reads, d.ReadBytes, d.WrittenBytes = 10, n, 7*n }),
				Sink:   copySamples(1e6, sent, devices, func(d *measure.DiskCount, n int64) { d.Writes, d.WrittenBytes, d.ReadBytes = 10, n, 7*n }),
			}}}
			in.Results = append(in.Results, res)
		}
	}
	return in
}

func TestACopyIsShownByItsTypicalTrial(t *testing.T) {
	test := build(t, copies(true, true)).test(t, "copy")
	for _, row := range test.Rows {
		s := row.typicalCopy()
		if s == nil || s.round != 1 || len(row.copies) != 3 {
			t.Fatalf("%s: %+v of %d", row.Pattern, s, len(row.copies))
		}
		for name, got := range map[string][2]float64{
			"reading": {s.source.bps, 80e6}, "read operations": {s.source.perSecond, 100}, "source busy": {s.source.busy, 0.25},
			"network": {s.networkBps, 84e6}, "writing": {s.sink.bps, 80e6}, "write operations": {s.sink.perSecond, 100},
			"points": {float64(len(s.source.rate)), 20}, "time of the last": {s.sink.rate[19].at, 1.95},
			"a point of the network": {s.network[7].value, 84e6}, "a point of the operations": {s.sink.operations[7].value, 100},
		} {
			if d := got[0] - got[1]; d > 1e-6*got[1] || -d > 1e-6*got[1] {
				t.Errorf("%s: %s: %g, want %g", row.Pattern, name, got[0], got[1])
			}
		}
	}
}

func TestEveryFormForPeopleShowsDisksBesideTheNetwork(t *testing.T) {
	operations := text.English().Sentence("chart.copy.operations", nil)
	for _, c := range []struct {
		name             string
		devices, network bool
		lines            int // of a chart
		has, lacks       []string
	}{
		{"from disk to disk", true, true, 5, []string{"read IOPS", "write IOPS", "source disk busy", "network"}, nil},
		{"from memory to memory", false, true, 3, []string{"network"}, []string{"IOPS", "busy"}},
		{"to a local folder", true, false, 4, []string{"read IOPS", "write IOPS"}, []string{"network (Mbit/s)"}},
	} {
		r := build(t, copies(c.devices, c.network))
		markdown, page := written(t, forms(r)["md"]), written(t, forms(r)["html"])
		var b strings.Builder
		if err := r.Text(&b, text.English(), 160); err != nil {
			t.Fatal(err)
		}
		for form, text := range map[string]string{"md": markdown, "txt": b.String()} {
			_, part, found := strings.Cut(text, "disk and network of the typical trial of each pattern")
			if !found {
				t.Fatalf("%s: %s has no table", c.name, form)
			}
			for _, want := range append([]string{"read (Mbit/s)", "80.00", "written (Mbit/s)"}, c.has...) {
				if !strings.Contains(part, want) {
					t.Errorf("%s: %s lacks %q:\n%s", c.name, form, want, part)
				}
			}
			for _, not := range c.lacks {
				if strings.Contains(part, not) {
					t.Errorf("%s: %s has %q:\n%s", c.name, form, not, part)
				}
			}
		}
		_, drawing, found := strings.Cut(page, `id="t1-copy-3"`)
		drawing, _, _ = strings.Cut(drawing, "</svg>")
		if lines := strings.Count(drawing, `class="curve `); !found || lines != c.lines || strings.Contains(drawing, operations) != c.devices {
			t.Errorf("%s: %d lines, operations %v", c.name, lines, strings.Contains(drawing, operations))
		}
	}
}

func TestACopyThatFailedHasNoChart(t *testing.T) {
	in := copies(true, true)
	for _, r := range in.Results {
		failed(r)
	}
	if page := written(t, forms(build(t, in))["html"]); strings.Contains(page, `id="t1-copy-0"`) {
		t.Error("it has one")
	}
}

package floor

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/text"
)

// Schema identifies the document format. Members may be added without a new number.
const Schema = "soku.floor/1"

// Document is the loopback baseline of a host as it is stored and printed.
type Document struct {
	Schema string           `json:"schema"`
	Tool   measure.Tool     `json:"tool"`
	TookNs measure.Duration `json:"took_ns"`
	measure.HostFloor
	Findings measure.Findings `json:"findings,omitempty"`
	Host     measure.Facts    `json:"host"`
}

// Limits of a document that is read.
const (
	maxDocument = 1 << 20 // bytes
	maxEntries  = 64      // in each list
	maxText     = 256     // bytes of a name in a list
)

// File returns the name of a host's file in the data folder. The folder may be shared by
// hosts (a home directory on the network), so each host has its own file.
func File(hostname string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A' // some file systems ignore case
		}
		return '_'
	}, hostname)
	return "floor-" + clean[:min(len(clean), 200)] + ".json"
}

// Encode writes the document.
func (d *Document) Encode() ([]byte, error) {
	b, err := json.MarshalIndent(d, "", "  ")
	return append(b, '\n'), err
}

// Decode parses a document. An error has kind file: the document does not parse, has another
// schema, or contains impossible figures.
func Decode(b []byte) (*Document, error) {
	if len(b) > maxDocument {
		return nil, fail("baseline.size", measure.Figures{"size_bytes": len(b), "limit_bytes": maxDocument})
	}
	read := struct {
		Document
		Warnings []string `json:"warnings"` // sentences, of earlier versions
	}{}
	if err := json.Unmarshal(b, &read); err != nil {
		return nil, fail("baseline.syntax", measure.Figures{"cause": err})
	}
	d := read.Document
	if len(d.Findings) == 0 {
		d.Findings = measure.OfSentences(read.Warnings)
	}
	if d.Schema != Schema {
		return nil, fail("baseline.schema", measure.Figures{"schema": d.Schema, "known": Schema})
	}
	if err := d.check(); err != nil {
		return nil, err
	}
	return &d, nil
}

// fail is what is wrong with a stored baseline. What to do next is always the same.
func fail(code string, figures measure.Figures) error {
	return measure.Fail(measure.KindFile, code, figures).WithHintCode("measure_baseline", nil)
}

func (d *Document) check() error {
	if d.MeasuredAt.IsZero() || d.MeasuredAt.Year() < 2000 || d.MeasuredAt.Year() > 9999 {
		return fail("baseline.no_time", nil)
	}
	if max(len(d.RoundTrips), len(d.Goodput), len(d.Packets), len(d.Timers), len(d.Findings)) > maxEntries {
		return fail("baseline.long_list", measure.Figures{"limit": maxEntries})
	}
	var figures []float64
	texts := []string{d.Tool.Version}
	for _, t := range d.RoundTrips {
		figures = append(figures, t.RTT.P50, t.RTT.P99, t.RTT.P999, t.RTT.Max)
		texts = append(texts, t.Mode, t.Protocol, t.Method)
	}
	for _, g := range d.Goodput {
		figures = append(figures, g.GoodputBps, g.BpsPerCore)
		if g.CPUSecPerGB != nil {
			figures = append(figures, *g.CPUSecPerGB)
		}
		texts = append(texts, g.Mode, g.TXPath, g.RXPath, g.Congestion)
	}
	for _, p := range d.Packets {
		figures = append(figures, p.PacketsPerSecond, p.SenderNsPerPacket, p.ReceiverNsPerPacket, float64(p.SizeBytes))
		texts = append(texts, p.Mode, p.TXPath, p.RXPath)
	}
	for _, t := range d.Timers {
		figures = append(figures, float64(t.AskedNs), t.LateNs.P50, t.LateNs.P99, t.LateNs.Max)
	}
	for _, v := range figures {
		if math.IsNaN(v) || v < 0 || v > 1e18 {
			return fail("baseline.figure", measure.Figures{"value": v})
		}
	}
	for _, s := range texts {
		if len(s) > maxText {
			return fail("baseline.long_name", measure.Figures{"size_bytes": len(s)})
		}
	}
	return nil
}

// Usable reports whether d is a floor of a host with these facts and this version of
// soku, and if not, why. Facts that this run could not read are not compared.
func (d *Document) Usable(now measure.Facts, version string) (why text.Line, usable bool) {
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprint(n)
	}
	for _, c := range []struct{ name, kept, now string }{
		{"soku", d.Tool.Version, version},
		{"host_name", d.Host.Hostname, now.Hostname},
		{"system", d.Host.OS + "/" + d.Host.Arch, now.OS + "/" + now.Arch},
		{"kernel", d.Host.Kernel, now.Kernel},
		{"processor", d.Host.CPUModel, now.CPUModel},
		{"processors", number(d.Host.CPUs), number(now.CPUs)},
	} {
		if c.kept != "" && c.now != "" && c.kept != c.now {
			return text.Line{Key: "floor.changed." + c.name, Args: text.Args{"Was": c.kept, "Now": c.now}}, false
		}
	}
	return why, true
}

// Age returns how long ago the floor was measured; zero if the time is in the future.
func (d *Document) Age(now time.Time) time.Duration { return max(0, now.Sub(d.MeasuredAt)) }

package ingest

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
)

// The figures here were read from the files by hand. nuttcp's MB is 2^20 bytes.
func TestNuttcpIsReadInEveryForm(t *testing.T) {
	const fwd, rev = measure.Forward, measure.Reverse
	for _, c := range []struct {
		file, label string
		known       bool // the direction
		flow        flowOfText
	}{
		{"nuttcp-t.txt", "tcp", false, flowOfText{fwd, 16299.9341e6, 0, 3885.3094 * mib, 0, 0, 0, 0, 0, 0}},
		{"nuttcp-i.txt", "tcp", false, flowOfText{fwd, 12068.5601e6, 0, 2877.0625 * mib, 0, 0, 0, 0, 0, 1}},
		{"nuttcp-m.txt", "tcp", false, flowOfText{fwd, 5311.3131e6, 0, 1267.375 * mib, -1, 0, 0, 0, 0, 0}},
		{"nuttcp-fp.txt", "tcp", false, flowOfText{fwd, 8299.4413e6, 0, 1980.2468 * mib, 0, 0, 0, 0, 0, 0}},
		{"nuttcp-u.txt", "udp", false, flowOfText{fwd, 6.5524e6, 0, 1.5469 * mib, -1, 198, 0, 0, 0, 0}},
		{"nuttcp-ux.txt", "udp", false, flowOfText{fwd, 181.9664e6, 0, 21.644 * mib, -1, 24578, 8367, 0, 0, 0}},
		{"nuttcp-ur.txt", "udp", false, flowOfText{fwd, 1.6383e6, 0, 0.3906 * mib, -1, 50, 0, 0, 0, 2}},
		{"nuttcp-v.txt", "tcp", true, flowOfText{fwd, 11050.1249e6, 2635.875 * mib, 2635.875 * mib, 0, 0, 0, 0, 0, 0}},
		{"nuttcp-rv.txt", "tcp reverse", true, flowOfText{rev, 13142.7077e6, 1585.1843 * mib, 1585.1843 * mib, 0, 0, 0, 0, 0, 0}},
		{"nuttcp-uv.txt", "udp", true, flowOfText{fwd, 6.3549e6, 1.5156 * mib, 1.5156 * mib, -1, 194, 0, 0, 0, 2}},
	} {
		r := one(t, c.file)
		c.flow.check(t, c.file, r.Flows[0])
		if r.Trial.Label != c.label || isMissing(r, finding.NoDirection) == c.known || (r.Origin.ToolVersion == "6.1.2") != c.known {
			t.Errorf("%s: %q, version %q, missing %+v", c.file, r.Trial.Label, r.Origin.ToolVersion, r.Origin.Missing)
		}
	}
	results, err := read(t, Auto, text(t, "nuttcp-v.txt")+"\n"+text(t, "nuttcp-rv.txt")+text(t, "nuttcp-t.txt")+text(t, "nuttcp-none.txt"))
	if err != nil || len(results) != 4 || results[1].Path.Direction != rev || results[3].Error == nil || results[3].Error.Kind != measure.KindUnreachable {
		t.Errorf("runs one after another: %d results, %v", len(results), err)
	}
	if _, err := read(t, Auto, strings.SplitAfter(text(t, "nuttcp-v.txt"), "\n")[0]); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("only the first line: %v", err)
	}
}

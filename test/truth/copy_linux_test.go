package truth

import (
	"fmt"
	"math"
	"os"
	"testing"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/report"
)

// A disk of 40 Mbit/s behind a network that carries five times as much.
const slowDisk = `
hosts:
  client: {disk: }
  server: {server: true, disk: {read: 40M, write: 40M}}
links: [{from: client, to: server, rate: 200M}]
`

// The block controller lets a burst of 0.1 s of the disk's rate pass, which is 8 % of such a copy,
// and the disk waits for the first block.
func TestACopyPastThePageCacheIsAsFastAsTheDiskThatLimitsIt(t *testing.T) {
	l := network(t, slowDisk)
	for _, c := range []struct {
		direction string
		limited   measure.Bottleneck
		rate      func(there, back lab.Truth) measure.Rate
	}{
		{"forward", measure.BottleneckDiskWrite, func(there, _ lab.Truth) measure.Rate { return there.WriteBps }},
		{"reverse", measure.BottleneckDiskRead, func(_, back lab.Truth) measure.Rate { return back.ReadBps }},
	} {
		t.Run(c.direction, func(t *testing.T) {
			there, err := l.Topology.Truth("client", "server", "")
			if err != nil {
				t.Fatal(err)
			}
			back, err := l.Topology.Truth("server", "client", "")
			if err != nil {
				t.Fatal(err)
			}
			want := float64(c.rate(there, back))
			agrees(t, func() error {
				r := run(t, l, "copy", "--disk", l.DiskFolder("client"), "--direction", c.direction, "--file-size", "6Mi", "--direct", "--sync", "off")
				off := (r.Summary.GoodputBps - want) / want * 100
				t.Logf("%.2f of %.2f Mbit/s (%+.1f %%), %+v", r.Summary.GoodputBps/1e6, want/1e6, off, r.Verdict)
				if math.Abs(off) > 15 {
					return fmt.Errorf("%.2f Mbit/s, want %.2f within 15 %% (%+.1f %%)", r.Summary.GoodputBps/1e6, want/1e6, off)
				}
				if r.Verdict == nil || r.Verdict.LimitedBy != c.limited {
					return fmt.Errorf("limited by %s, the verdict is %+v", c.limited, r.Verdict)
				}
				return nil
			})
		})
	}
	for _, host := range []string{"client", "server"} {
		if left, err := os.ReadDir(l.DiskFolder(host)); err != nil || len(left) > 0 {
			t.Errorf("the copies left %v on %s, %v", left, host, err)
		}
	}
}

func TestACampaignOfCopiesFindsThatTheLimitIsTheDisk(t *testing.T) {
	needNetworks(t)
	var doc report.Report
	campaign(t, `
hosts:
  client: {disk: }
  slow: {server: true, disk: {write: 30M}}
  fast: {server: true, disk: }
links:
  - {from: client, to: slow, rate: 60M, delay: 100us}
  - {from: client, to: fast, rate: 60M, delay: 100us}
`, `campaign: disks
lab: topology.yaml
endpoints: {client: {host: client}, slow: {host: slow}, fast: {host: fast}}
from: client
factors:
  disk: [{name: HDD, to: slow}, {name: SSD, to: fast}]
  set: [{name: many, options: {files: 16, file_size: 256Ki}}, {name: one, options: {file_size: 4Mi}}]
tests: {copy: {test: copy, direct: true, sync: off}}
rounds: 1
seed: 1
`, "disks", &doc)
	if doc.Failed > 0 || len(doc.Tests) != 1 || len(doc.Tests[0].Rows) != 4 {
		t.Fatalf("%d trials failed; %+v", doc.Failed, doc.Tests)
	}
	if m := doc.Tests[0].Moved; m == nil || m.Factor != "disk" || m.Levels[0].LimitedBy != measure.BottleneckDiskWrite || m.Levels[1].LimitedBy != measure.BottleneckPathShaper {
		for _, r := range doc.Tests[0].Rows {
			t.Logf("%s: %+v", r.Pattern, r.Verdict)
		}
		t.Errorf("the limit moved with %+v, want the HDD or the network by disk", m)
	}
}

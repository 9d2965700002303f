package truth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/test/built"
)

// searched is what a campaign with find left: its report and how many trials it ran.
type searched struct {
	Trials int
	Tests  []struct {
		Curve struct {
			Option        string
			Searched      bool
			Points        []struct{ Level string }
			Knee, Plateau float64
		}
	}
}

// campaign runs the plan of a campaign on a network of its own and decodes its report.
func campaign(t *testing.T, topology, plan, name string, report any) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"topology.yaml": fmt.Sprintf("lab: truth-%08x\n%s", rand.Uint32(), topology), "plan.yaml": plan} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	soku := func(args ...string) []byte {
		cmd := exec.CommandContext(t.Context(), built.Program(t), args...)
		cmd.Env = append(os.Environ(), "SOKU_DATA="+filepath.Join(dir, "data"))
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, errs.String())
		}
		return out.Bytes()
	}
	soku("run", filepath.Join(dir, "plan.yaml"))
	if err := json.Unmarshal(soku("report", name, "--format", "json"), report); err != nil {
		t.Fatal(err)
	}
}

// A stream of 32 KiB in flight carries 13 Mbit/s over a round trip of 20 ms, whatever the rate
// of the link: three of them fill 36 Mbit/s. The search finds that four streams are enough and
// how much the link carries, with fewer trials than three of every level would take.
func TestASearchFindsThePlateauOfALinkThatOneStreamDoesNotFill(t *testing.T) {
	t.Parallel()
	needNetworks(t)
	// A stream carries 13 or 20 Mbit/s in its window and 20 ms, by how much of the buffer the
	// kernel takes for the overhead of packets: two do not fill the link, four do.
	const rate = measure.Rate(48e6)
	agrees(t, func() error {
		var s searched
		campaign(t, strings.ReplaceAll(`
hosts:
  client:
  server: {server: true, sysctl: {net.ipv4.tcp_rmem: 4096 32768 32768}}
routers:
  gateway:
links:
  - {from: client, to: gateway, rate: RATE, delay: 10ms}
  - {from: gateway, to: server}
`, "RATE", fmt.Sprint(int64(rate))), `campaign: knee
lab: topology.yaml
endpoints: {client: {host: client}, server: {host: server}}
from: client
to: server
find: {option: streams, from: 1, to: 64, gain: 5%}
tests: {up: {test: tcp, duration: 600ms, window: 32Ki}}
seed: 1
`, "knee", &s)
		if len(s.Tests) != 1 {
			return fmt.Errorf("%+v", s)
		}
		c := s.Tests[0].Curve
		want := float64(lab.GoodputCap(rate, 1500, false))
		off := (c.Plateau - want) / want * 100
		const full = 7 * 3
		t.Logf("knee %v, plateau %.2f Mbit/s of %.2f (%+.2f %%), %d trials of levels %v", c.Knee, c.Plateau/1e6, want/1e6, off, s.Trials, c.Points)
		if c.Option != "streams" || !c.Searched || s.Trials >= full {
			return fmt.Errorf("%d trials, %+v", s.Trials, c)
		}
		if math.Abs(off) > 3 || c.Knee != 4 {
			return fmt.Errorf("knee %v, plateau %.2f Mbit/s, want 4 and %.2f Mbit/s within 3 %% (%+.2f %%)", c.Knee, c.Plateau/1e6, want/1e6, off)
		}
		return nil
	})
}

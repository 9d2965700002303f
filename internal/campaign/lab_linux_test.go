package campaign_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/campaign"
	"soku/internal/campaign/schedule"
	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/server"
	"soku/test/tier"

	"golang.org/x/sys/unix"
)

// The test program stands in for soku in the hosts of a lab.
func init() {
	commands["lab"] = func(args []string) error {
		if args[0] == "enter" {
			return lab.Enter(args[1], args[3:])
		}
		return errors.New("unknown arguments")
	}
	commands["server"] = func([]string) error {
		ctx, stop := signal.NotifyContext(context.Background(), unix.SIGTERM)
		defer stop()
		s, err := server.New(server.Config{Listen: fmt.Sprint(":", lab.ServerPort), MaxClients: 10, Version: "test"})
		if err != nil {
			return err
		}
		return s.Serve(ctx)
	}
	commands["trial"] = func([]string) error {
		return agent.Serve(context.Background(), os.Stdin, os.Stdout, agent.Local{Version: "test"})
	}
}

// labNet is a lab of hosts a to d, each with a server, and a campaign on them
// whose trials run in processes of their own on their clients.
type labNet struct {
	*net
	lab *lab.Lab

	mu   sync.Mutex
	runs map[string][2]time.Time // from the start of each trial's packets to its end
}

func newLabNet(t *testing.T, limit int, blocks ...[]pair) *labNet {
	t.Helper()
	n := &labNet{net: newNet(t, limit, blocks...), lab: labOf(t, "a", "b", "c", "d"), runs: map[string][2]time.Time{}}
	n.exec.Runner = &timedRunner{placesIn(t, n.lab), n}
	n.exec.Blocks = n.inLab(n.exec.Blocks)
	return n
}

// labOf is a lab of hosts with a server each, behind one router.
func labOf(t *testing.T, hosts ...string) *lab.Lab {
	t.Helper()
	tier.NeedsRoot(t, "network namespaces")
	var nodes, links []string
	for _, h := range hosts {
		nodes = append(nodes, h+": {server: true}")
		links = append(links, "{from: "+h+", to: r}")
	}
	file := t.TempDir() + "/topology.yaml"
	text := fmt.Sprintf("lab: campaign-%08x\nhosts: {%s}\nrouters: {r: }\nlinks: [%s]\n", rand.Uint32(), strings.Join(nodes, ", "), strings.Join(links, ", "))
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	topology, err := lab.Load(file, os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l, err := lab.Up(t.Context(), topology, lab.Options{Executable: self, RunDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Down(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return l
}

// placesIn runs each trial in a process of its own on its client.
func placesIn(t *testing.T, l *lab.Lab) campaign.Places {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return campaign.Places{Of: func(j schedule.Job) agent.Place {
		return agent.Process{Now: time.Now, Clock: agent.SameClock, Command: func(ctx context.Context) (*exec.Cmd, error) {
			return l.Command(ctx, j.Client.Host, self, "trial"), nil
		}}
	}}
}

// inLab gives the jobs of a schedule the hosts and addresses of the lab, and a
// load that the machine carries several times over.
func (n *labNet) inLab(blocks func(*campaign.Campaign) iter.Seq[schedule.Block]) func(*campaign.Campaign) iter.Seq[schedule.Block] {
	return func(c *campaign.Campaign) iter.Seq[schedule.Block] {
		return func(yield func(schedule.Block) bool) {
			for b := range blocks(c) {
				job := b.Job
				b.Job = func(i int) schedule.Job {
					j := job(i)
					address, err := n.lab.Topology.Address(j.Server.Endpoint.Name, "")
					if err != nil {
						n.t.Error(err)
					}
					j.Client.Host, j.Server.Host = j.Client.Endpoint.Name, j.Server.Endpoint.Name
					j.Server.Endpoint.Address = address.String()
					j.Options.Duration, j.Options.Rate = measure.Duration(time.Second), 10e6
					return j
				}
				if !yield(b) {
					return
				}
			}
		}
	}
}

// timedRunner notes when trials run.
type timedRunner struct {
	campaign.Runner
	n *labNet
}

func (r *timedRunner) Run(ctx context.Context, j schedule.Job, h campaign.Hooks) *measure.Result {
	begin := time.Now()
	progress := h.Progress
	seen := false
	h.Progress = func(p measure.Progress) {
		if !seen { // now is the end of the first interval
			begin, seen = time.Now().Add(-time.Duration(p.EndNs)), true
		}
		progress(p)
	}
	res := r.Runner.Run(ctx, j, h)
	r.n.mu.Lock()
	defer r.n.mu.Unlock()
	r.n.runs[name(j)] = [2]time.Time{begin, time.Now()}
	return res
}

// together reports for how long two trials ran at the same time; negative: how
// long after the one the other began.
func (n *labNet) together(x, y string) time.Duration {
	a, b := n.runs[x], n.runs[y]
	return min(a[1].Sub(b[0]), b[1].Sub(a[0]))
}

// good fails unless each trial has a result with goodput.
func (n *labNet) good(want int) {
	n.t.Helper()
	for _, r := range n.store.results {
		if r.Error != nil || r.Summary.GoodputBps < 9e6 || r.Summary.GoodputBps > 11e6 {
			n.t.Errorf("%+v: %.1f Mbit/s, error %v", r.Trial.Pair, r.Summary.GoodputBps/1e6, r.Error)
		}
	}
	n.onceEach(want)
}

func TestInALabDisjointPairsRunTogetherAndSharedHostsInTurn(t *testing.T) {
	n := newLabNet(t, 9, []pair{{from: "a", to: "b"}, {from: "c", to: "d"}, {from: "a", to: "d"}})
	if out, err := n.run(); err != nil || out.Done != 3 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	n.good(3)
	// a has two trials, d has two: a>d is first, or the other two are.
	if both := n.together("a>b", "c>d"); both < 300*time.Millisecond {
		t.Errorf("a>b and c>d, which have no host in common, ran together for %s", both)
	}
	for _, pairs := range [][2]string{{"a>b", "a>d"}, {"c>d", "a>d"}} {
		if both := n.together(pairs[0], pairs[1]); both > 0 {
			t.Errorf("%s and %s, which share a host, ran together for %s", pairs[0], pairs[1], both)
		}
	}
}

func TestInALabALimitOfOneRunsDisjointPairsInTurn(t *testing.T) {
	n := newLabNet(t, 1, []pair{{from: "a", to: "b"}, {from: "c", to: "d"}})
	if out, err := n.run(); err != nil || out.Done != 2 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	n.good(2)
	if both := n.together("a>b", "c>d"); both > 0 {
		t.Errorf("a>b and c>d ran together for %s", both)
	}
}

func TestInALabAGroupStartsAtOneBarrierWithItsSkewRecorded(t *testing.T) {
	n := newLabNet(t, 1, two)
	if out, err := n.run(); err != nil || out.Done != 2 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	n.good(2)
	if both := n.together("a>b", "c>d"); both < 300*time.Millisecond {
		t.Errorf("the trials of a group ran together for %s", both)
	}
	var skews []int64
	for _, r := range n.store.results {
		g := r.Trial.Group
		if g == nil || g.StartSkewNs == nil {
			t.Fatalf("%+v has group %+v", r.Trial.Pair, g)
		}
		skews = append(skews, *g.StartSkewNs)
	}
	slices.Sort(skews)
	if skews[0] != 0 || skews[1] <= 0 || skews[1] > int64(500*time.Millisecond) {
		t.Errorf("skews are %d ns, want 0 for the first and a little for the other", skews)
	}
	t.Logf("started %s apart", time.Duration(skews[1]))
}

func TestInALabAGroupWithoutAServerFailsAsAWhole(t *testing.T) {
	n := newLabNet(t, 1, two)
	blocks := n.exec.Blocks
	n.exec.Blocks = func(c *campaign.Campaign) iter.Seq[schedule.Block] {
		return func(yield func(schedule.Block) bool) {
			for b := range blocks(c) {
				job := b.Job
				b.Job = func(i int) schedule.Job {
					j := job(i)
					if j.Client.Host == "c" {
						j.Options.Port = 1 // a closed port
					}
					return j
				}
				yield(b)
			}
		}
	}
	if out, err := n.run(); measure.KindOf(err) != measure.KindIncomplete || out.Failed != 2 {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	for _, r := range n.store.results {
		group := strings.HasPrefix(r.Error.Message, "the group did not start: ")
		if group != (r.Trial.Pair.Client.Name == "a") || r.Trial.Group.StartSkewNs != nil || r.Summary.ReceivedBytes != 0 {
			t.Errorf("%+v: error %v, group %+v", r.Trial.Pair, r.Error, r.Trial.Group)
		}
	}
}

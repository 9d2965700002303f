package campaign_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"soku/test/plans"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/internal/store/sqlite"
	"soku/test/tier"
)

// childRoles are what the test binary does when it is started with
// SOKU_TEST_ROLE, as another process of soku would.
var childRoles = map[string]func() int{
	"campaign": campaignChild,
}

// campaignChild works on a campaign until it is killed.
func campaignChild() int {
	dir := os.Getenv("SOKU_TEST_DIR")
	kind := os.Getenv("SOKU_TEST_SCHEDULE")
	text := plans.Study
	if kind == "pairs" {
		text = killedPairs
	}
	p, err := plan.Parse("plan.yaml", []byte(text))
	if err != nil {
		return 1
	}
	var c *campaign.Campaign
	if id := os.Getenv("SOKU_TEST_CAMPAIGN"); id != "" {
		c, err = campaign.Resume(journal.Folder(filepath.Join(dir, "campaigns")), id, p)
	} else {
		c, err = campaign.Create(journal.Folder(filepath.Join(dir, "campaigns")), p, 42, "test", time.Now())
	}
	if err != nil {
		println(err.Error())
		return 1
	}
	ctx := context.Background()
	st, err := sqlite.Open(ctx, filepath.Join(dir, "soku.db"))
	if err != nil {
		println(err.Error())
		return 1
	}
	e := &campaign.Executor{Store: st, Now: time.Now, Runner: slowRunner{}, Limit: p.Concurrency()}
	if kind == "mesh" {
		e.Limit, e.Blocks = 3, blocksOf(p, killedMesh)
	}
	if _, err := e.Run(ctx, c); err != nil {
		println(err.Error())
		return 1
	}
	return 0
}

// slowRunner reports each trial to its parent and gives it time to kill.
type slowRunner struct{}

func (slowRunner) Run(ctx context.Context, j schedule.Job, h campaign.Hooks) *measure.Result {
	if h.Ready != nil {
		_, _ = h.Ready(ctx, 0)
	}
	_, _ = os.Stdout.WriteString("trial\n")
	time.Sleep(time.Duration(j.Trial.Order%3) * time.Millisecond)
	return invented(j, "r"+strings.NewReplacer(" ", "", ",", "-").Replace(identity(j.Key())), 1)
}

// killedMesh runs several trials concurrently while it is killed: 5 blocks of
// pairs and groups, 28 trials.
var killedMesh = [][]pair{meshOf(3), two, meshOf(4), two, meshOf(3)}

// killedPairs is a plan of 4 blocks: twice a mesh of 5 hosts whose pairs run two at a time,
// and twice all 20 of them at one barrier.
var killedPairs = strings.Replace(plans.ManyHosts(5), "campaign: many", "campaign: study", 1) +
	"pairs: {mesh: ['*']}\ncontention: [isolated, together]\nrounds: 2\n"

func TestKillingTheProcessLosesAndRepeatsNothing(t *testing.T) {
	// The third trial of each life is cut short somewhere.
	third := func() (int, time.Duration) { return 3, 0 }
	t.Run("one trial at a time", func(t *testing.T) { t.Parallel(); killAndResume(t, "", 16, third) })
	t.Run("several at once and groups", func(t *testing.T) { t.Parallel(); killAndResume(t, "mesh", 28, third) })
}

func TestKillingACampaignOfPairsAtThirtyMomentsLosesAndRepeatsNothing(t *testing.T) {
	tier.SpendsSeconds(t)
	g := rand.New(rand.NewPCG(30, 9))
	kills := 0
	for campaigns := 0; kills < 30; campaigns++ {
		if campaigns == 30 {
			t.Fatalf("%d campaigns were killed %d times", campaigns, kills)
		}
		kills += killAndResume(t, "pairs", 80, func() (int, time.Duration) {
			return 1 + g.IntN(30), time.Duration(g.IntN(3000)) * time.Microsecond
		})
	}
	t.Logf("killed %d times", kills)
}

// killAndResume kills a campaign of want trials again and again, each life after the trials and
// the further time that moment returns, until a life comes to its end. It returns
// how often it killed.
func killAndResume(t *testing.T, schedule string, want int, moment func() (trials int, after time.Duration)) (killed int) {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	id := ""
	for kills := 1; ; kills++ {
		if kills > 2*want {
			t.Fatal("the campaign does not come to its end")
		}
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), "SOKU_TEST_ROLE=campaign", "SOKU_TEST_DIR="+dir, "SOKU_TEST_CAMPAIGN="+id, "SOKU_TEST_SCHEDULE="+schedule)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		trials, after := moment()
		buf := make([]byte, trials*len("trial\n"))
		n := 0
		for n < len(buf) {
			m, err := out.Read(buf[n:])
			if n += m; err != nil {
				break
			}
		}
		if n == len(buf) {
			time.Sleep(after)
			_ = cmd.Process.Kill()
		}
		_, _ = io.Copy(io.Discard, out)
		err = cmd.Wait()
		infos, ferr := campaign.Find(journal.Folder(filepath.Join(dir, "campaigns")), "study")
		if ferr != nil || len(infos) != 1 {
			t.Fatalf("campaigns are %+v (%v); the process said %s", infos, ferr, &stderr)
		}
		id = infos[0].Record.ID
		if err == nil {
			break
		}
		if stderr.Len() > 0 {
			t.Fatalf("the process failed by itself: %s", &stderr)
		}
		killed++
	}
	st, err := sqlite.Open(t.Context(), filepath.Join(dir, "soku.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if results := campaignResults(t, st, id); len(results) != want {
		t.Errorf("%d results, want %d", len(results), want)
	}
	finished := map[string]int{}
	f, err := os.Open(filepath.Join(dir, "campaigns", id, "journal.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := journal.Read(f, func(r journal.Record) error {
		for _, f := range append(r.Group, r) {
			if f.Kind == journal.RecordTrialFinished {
				finished[identity(*f.Trial)]++
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for k, n := range finished {
		if n != 1 {
			t.Errorf("%s finished %d times", k, n)
		}
	}
	if len(finished) != want {
		t.Errorf("%d trials finished, want %d", len(finished), want)
	}
	return killed
}

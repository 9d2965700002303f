package scale_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/journal/sqljournal"
	"soku/internal/campaign/plan"
	"soku/internal/fleet"
	"soku/internal/store"
	_ "soku/internal/tests" // what documents may have
	"soku/test/databases"
	"soku/test/postgresql"
	"soku/test/storetest"
	"soku/test/tier"
)

const (
	resultsASecond = 200
	senders        = 20 // agents
)

// A hub that was away finds what agents have kept for it.
func TestAHubTakesResultsFromItsAgents(t *testing.T) {
	tier.SpendsSeconds(t)
	n := resultsASecond * many(t, "SOKU_SCALE_SECONDS", 3, 3600)
	for kind, place := range places {
		t.Run(kind, func(t *testing.T) {
			if kind == "PostgreSQL" && postgresql.Missing() {
				t.Skip(postgresql.ErrMissing)
			}
			address := place(t)
			trials := storetest.NewTrials(t)
			results := databases.Open(t, address)
			order(t, results, trials, n)
			takeAll(t, newHub(t, "--store", address), kind, trials, n)
			if missing, err := results.Missing(t.Context(), identities(trials, n)); len(missing) > 0 || err != nil {
				t.Errorf("%d of %d results are missing, %v", len(missing), n, err)
			}
			if stored, err := results.Count(t.Context(), store.Query{}); stored != n || err != nil {
				t.Errorf("%d results in the store of %d, %v", stored, n, err)
			}
		})
	}
}

func identities(trials *storetest.Trials, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = trials.ID(i)
	}
	return ids
}

// order writes the journal of a campaign that has started trials, the i-th on the agent i%senders.
func order(t *testing.T, s store.Store, trials *storetest.Trials, n int) {
	t.Helper()
	journals, err := sqljournal.Open(t.Context(), databases.Of(t, s), "scale")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	text.WriteString("campaign: intake\ntests: {up: {test: tcp, duration: 1s}}\npairs: {mesh: ['*']}\nendpoints:\n")
	for i := range senders {
		fmt.Fprintf(&text, "  e%d: {agent: %s}\n", i, hostName(i))
	}
	id := time.Now().UTC().Format("20060102-150405") + "-intake-ab" // a hub asks for nothing of campaigns that are too old
	records := []journal.Record{{Kind: journal.RecordPlan, Plan: &journal.PlanRecord{Schema: journal.Schema, ID: id, Name: "intake", File: "intake.yaml", Text: text.String()}}}
	for i := range n {
		records = append(records, journal.Record{Kind: journal.RecordTrialStarted, ResultID: trials.ID(i), Trial: &plan.TrialKey{Client: fmt.Sprint("e", i%senders), Label: "up", Round: 1, Repeat: 1}})
	}
	j, lock, err := journals.Create(id)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(j.Append(append(records, journal.Record{Kind: journal.RecordEnded})...), j.Close(), lock.Release()); err != nil {
		t.Fatal(err)
	}
}

// takeAll has agents deliver each result at its time, so that a hub that answers late is not asked less often.
func takeAll(t *testing.T, h *hub, kind string, trials *storetest.Trials, n int) {
	t.Helper()
	note := newTable(t, fmt.Sprintf("%d results, %d a second, into %s", n, resultsASecond, kind))
	all, tokens := make([]*agent, senders), tokensFor(t, h, senders)
	each(t, senders, func(i int) (err error) {
		if all[i], err = newAgent(i); err == nil {
			err = all[i].join(h, tokens[0])
		}
		if err == nil {
			err = all[i].connect(h)
		}
		if err == nil {
			t.Cleanup(all[i].conn.Close)
			err = all[i].hello()
		}
		return err
	})
	documents := make([]store.Document, n)
	for i := range documents {
		documents[i] = trials.Document(i)
	}
	used := h.processor()
	_, server := work(t, kind)
	took := make([]time.Duration, n)
	var failed sync.Once
	var again atomic.Int64
	var deliveries sync.WaitGroup
	began := time.Now()
	for i := range n {
		at := began.Add(time.Duration(i) * time.Second / resultsASecond)
		time.Sleep(time.Until(at)) // the rate is what is asked
		deliveries.Go(func() {
			for took[i] < waits { // as an agent does
				err := all[i%senders].deliver(trials.ID(i), documents[i])
				if took[i] = time.Since(at); err == nil {
					return
				}
				again.Add(1)
				failed.Do(func() { t.Logf("result %d, the first that is sent again: %v", i, err) })
			}
		})
	}
	deliveries.Wait()
	passed := time.Since(began)
	each := func(d time.Duration) float64 { return ms(d) / float64(n) }
	hub := h.processor() - used
	note("bytes of a document, compressed", "%d", len(documents[0]))
	note("results a second", "%.0f", float64(n)/passed.Seconds())
	note("processor time of the hub", "%.2f ms a result, %.0f %% of one", each(hub), 100*hub.Seconds()/passed.Seconds())
	if _, now := work(t, kind); now > 0 {
		note("processor time of PostgreSQL", "%.2f ms a result", each(now-server))
	}
	slices.Sort(took)
	note("answer, median", "%.1f ms", ms(took[n/2]))
	note("answer, p99", "%.1f ms", ms(took[n*99/100]))
	note("results that were sent again", "%d", again.Load())
	note("memory of the hub", "%.0f MB", h.memory())
}

// deliver sends a document as the protocol has it, and returns when it is kept.
func (a *agent) deliver(result string, document store.Document) error {
	sum := sha256.Sum256(document)
	m := &nats.Msg{
		Subject: fleet.Up(a.id, fleet.UpResult), Data: document,
		Header: nats.Header{fleet.HeaderResult: {result}, fleet.HeaderSHA256: {hex.EncodeToString(sum[:])}},
	}
	got, err := a.conn.RequestMsg(m, waits)
	if err != nil {
		return err
	}
	var receipt fleet.Receipt
	if err := json.Unmarshal(got.Data, &receipt); err != nil {
		return err
	}
	if !receipt.Kept {
		return fmt.Errorf("%+v", receipt)
	}
	return nil
}

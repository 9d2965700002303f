package campaign_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"soku/test/plans"
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
)

// slashes is a plan whose patterns cannot be distinguished by their joined levels:
// "x / y" and "z" read as "x" and "y / z" do.
const slashes = `campaign: slashes
endpoints: {vm: {address: 10.0.0.4}}
to: vm
factors: {a: ['x / y', x], b: [z, 'y / z']}
tests: {rtt: {test: ping, count: 10}}
rounds: 2
before: set $SOKU_FACTOR_A $SOKU_FACTOR_B
`

func TestPatternsKeepTheirNamesWhereTheseAreDistinct(t *testing.T) {
	p := plans.Parse(t, strings.Replace(slashes, "'y / z'", "y", 1))
	if got, want := plans.PatternNames(p), "x / y / z; x / y / y; x / z; x / y"; got != want {
		t.Errorf("patterns are %s, want %s", got, want)
	}
}

// asOlder rewrites a journal as versions wrote it that identified a pattern by
// its name: trials have no levels and endpoints, runs have no session.
func asOlder(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for line := range bytes.Lines(text) {
		var rec map[string]json.RawMessage
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatal(err)
		}
		for member, drop := range map[string][]string{"trial": {"levels", "client", "server"}, "run": {"session"}} {
			if rec[member] == nil {
				continue
			}
			var object map[string]json.RawMessage
			if err := json.Unmarshal(rec[member], &object); err != nil {
				t.Fatal(err)
			}
			for _, name := range drop {
				delete(object, name)
			}
			rec[member], _ = json.Marshal(object)
		}
		b, _ := json.Marshal(rec)
		out.Write(append(b, '\n'))
	}
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestAJournalWithPatternsAsTextIsResumed(t *testing.T) {
	// Two factors, and a level with the separator in its name that is not ambiguous.
	b := newBench(t, strings.Replace(plans.Study, "sku: [small, {name: large,", "zone: [one, {name: two, options: {rate: 9M}}], sku: [small, {name: 'large / new',", 1))
	b.create()
	b.exec.Only = plan.Selection{{Name: "zone", Value: []string{"one"}}}
	b.fail = func(j schedule.Job) error {
		if j.Trial.Repeat == 2 {
			return measure.TextError(measure.KindBroken, "peer gone", "")
		}
		return nil
	}
	if _, err := b.run(); measure.KindOf(err) != measure.KindIncomplete {
		t.Fatal(err)
	}
	asOlder(t, b.campaign.JournalName())
	b.exec.Only, b.fail, b.exec.RetryFailed = nil, nil, true
	b.resume()
	out, err := b.run() // 8 that failed and 16 that were left
	if err != nil || out != (campaign.Outcome{Total: 32, Done: 32, Ran: 24}) {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	// The journal now names some trials both ways, which are still one trial each.
	infos, err := campaign.Find(b.campaigns(), "study")
	if err != nil || len(infos) != 1 || infos[0].Done != 32 || infos[0].Failed != 0 {
		t.Errorf("found %+v (%v)", infos, err)
	}
	if all := b.results(); len(all) != 40 {
		t.Errorf("%d results, want 32 and the 8 that were replaced", len(all))
	}
}

func TestAResultNamesItsPairAndSession(t *testing.T) {
	b := newBench(t, strings.Replace(plans.Study, "{address: 10.0.0.4}", "{address: 10.0.0.4, addresses: {vlan: 10.1.0.4}}", 1)+"from: vm.vlan\n")
	b.create()
	b.exec.Only = plan.Selection{{Name: "sku", Value: []string{"large"}}}
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	b.exec.Only = nil
	b.resume()
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, r := range b.results() {
		want := measure.Pair{Client: measure.Endpoint{Name: "vm", Label: "vlan", Address: "10.1.0.4"}, Server: measure.Endpoint{Name: "vm", Address: "10.0.0.4"}}
		if r.Trial.Pair == nil || *r.Trial.Pair != want {
			t.Fatalf("pair is %+v, want %+v", r.Trial.Pair, want)
		}
		session := 2
		if r.Trial.Pattern == "large" {
			session = 1
		}
		if r.Trial.Session == nil || r.Trial.Session.Number != session {
			t.Fatalf("%s has session %+v, want number %d", r.Trial.Pattern, r.Trial.Session, session)
		}
		if id := r.Trial.Session.ID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) != 2 {
		t.Errorf("sessions are %q, want two", ids)
	}
	started := []measure.Session{}
	text, err := os.ReadFile(b.campaign.JournalName())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Read(bytes.NewReader(text), func(r journal.Record) error {
		if r.Run != nil {
			started = append(started, *r.Run.Session)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for i, s := range started {
		if s.Number != i+1 || !slices.Contains(ids, s.ID) {
			t.Errorf("run %d started session %+v, results have %q", i+1, s, ids)
		}
	}
}

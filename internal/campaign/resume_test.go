package campaign_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"soku/test/plans"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlite"
)

func TestTheOrderOfCampaignsIsThatOfTheirCreation(t *testing.T) {
	in := new(journal.Memory)
	p := plans.Parse(t, plans.Study)
	var begun []string
	// The clock was a year ahead for the first.
	for _, at := range []time.Time{time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), time.Date(2026, 1, 1, 3, 4, 5, 0, time.UTC)} {
		c, err := campaign.Create(in, p, 1, "test", at)
		if err != nil {
			t.Fatal(err)
		}
		begun = append(begun, c.ID())
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	found, err := campaign.Find(in, "study")
	if err != nil || len(found) != 3 || found[0].Record.ID != begun[2] || found[2].Record.ID != begun[0] {
		t.Errorf("found %+v, error %v; begun %q", found, err, begun)
	}
	if last, err := campaign.FindID(in, "last"); err != nil || last != begun[2] {
		t.Errorf("the last is %s, error %v", last, err)
	}
}

func TestAnUnknownCampaignIsNotFound(t *testing.T) {
	for _, id := range []string{"nothing", "", "..", "../x", "/etc"} {
		_, err := campaign.Resume(journal.Folder(t.TempDir()), id, plans.Parse(t, plans.Study))
		if measure.KindOf(err) != measure.KindNotFound {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestTwoRunsCannotWorkOnOneCampaign(t *testing.T) {
	b := newBench(t, plans.Study)
	b.create()
	_, err := campaign.Resume(b.campaigns(), b.campaign.ID(), b.plan)
	if measure.KindOf(err) != measure.KindRefused || !strings.Contains(err.Error(), "another process (pid ") {
		t.Errorf("error is %v", err)
	}
	b.resume() // closes it first
}

// countingStore counts what is put into a store.
type countingStore struct {
	store.Store
	puts int
}

func (s *countingStore) Put(ctx context.Context, results ...*measure.Result) error {
	s.puts += len(results)
	return s.Store.Put(ctx, results...)
}

func TestAResumedRunStoresOnlyMissingResults(t *testing.T) {
	b := newBench(t, plans.Study)
	b.create()
	b.exec.Only = plan.Selection{{Name: "sku", Value: []string{"large"}}}
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	b.exec.Only = nil
	counting := &countingStore{Store: b.store}
	b.exec.Store = counting
	b.resume()
	if _, err := b.run(); err != nil || counting.puts != 8 {
		t.Errorf("%d results were put, want the 8 that ran now (%v)", counting.puts, err)
	}
	// A kill between journal and store leaves a result in the one alone.
	incomplete, err := sqlite.Open(t.Context(), filepath.Join(b.dir, "incomplete.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer incomplete.Close()
	for _, r := range b.results()[2:] {
		if err := incomplete.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	counting = &countingStore{Store: incomplete}
	b.store, b.exec.Store = incomplete, counting
	b.resume()
	if _, err := b.run(); err != nil || counting.puts != 2 {
		t.Errorf("%d results were put, want the 2 that are missing (%v)", counting.puts, err)
	}
	b.onceEach(16)
}

// TestAJournalCutAnywhereResumes cuts the journal of a finished campaign at
// every byte of some records, as a kill or a power cut would, and resumes.
func TestAJournalCutAnywhereResumes(t *testing.T) {
	b := newBench(t, strings.Replace(strings.Replace(plans.Study, "repeats: 2", "repeats: 1", 1), "rounds: 2", "rounds: 1", 1))
	b.create()
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(b.campaign.JournalName())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.campaign.Close(); err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for cut := first; cut <= len(whole); cut += 37 {
		for _, damage := range []string{"", "\x00\x00\x00\x00", "{\"record\":\n"} {
			if err := os.WriteFile(b.campaign.JournalName(), append(bytes.Clone(whole[:cut]), damage...), 0o644); err != nil {
				t.Fatal(err)
			}
			finished := bytes.Count(whole[:cut], []byte(`"record":"trial_finished"`))
			if i := bytes.LastIndexByte(whole[:cut], '\n') + 1; bytes.Contains(whole[i:cut], []byte(`"record":"trial_finished"`)) {
				finished-- // the record that was cut
			}
			c, err := campaign.Resume(b.campaigns(), b.campaign.ID(), b.plan)
			if err != nil {
				t.Fatalf("cut at %d: %v", cut, err)
			}
			if done, _ := c.Done(); done != finished {
				t.Errorf("cut at %d: %d trials are done, want %d", cut, done, finished)
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRecordsAfterATornLineAreComplete(t *testing.T) {
	b := newBench(t, plans.Study)
	b.create()
	b.exec.Only = plan.Selection{{Name: "sku", Value: []string{"large"}}}
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(b.campaign.JournalName(), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// Longer than all that follows, so that it would stick out behind it.
	if _, err := f.WriteString(`{"record":"trial_finished","x":"` + strings.Repeat("x", 1<<20)); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	b.exec.Only = nil
	b.resume()
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(b.campaign.JournalName())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := journal.Read(bytes.NewReader(text), func(journal.Record) error { return nil })
	if err != nil || whole != int64(len(text)) {
		t.Errorf("%d of %d bytes are whole (%v)", whole, len(text), err)
	}
	b.onceEach(16)
}

func TestADamagedLineInTheMiddleIsReported(t *testing.T) {
	b := newBench(t, plans.Study)
	b.create()
	if _, err := b.run(); err != nil {
		t.Fatal(err)
	}
	path := b.campaign.JournalName()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.campaign.Close(); err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	lines[4] = []byte("oops\n")
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = campaign.Resume(b.campaigns(), b.campaign.ID(), b.plan)
	if measure.KindOf(err) != measure.KindStore || !strings.Contains(err.Error(), "line 5 is damaged") || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(after, bytes.Join(lines, nil)) {
		t.Error("a damaged journal was changed")
	}
}

func TestAJournalOfANewerSokuIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "c"), 0o755); err != nil {
		t.Fatal(err)
	}
	line := `{"record":"plan","at":"2030-01-01T00:00:00Z","plan":{"schema":"soku.journal/2","id":"c"}}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, "c", "journal.ndjson"), []byte(line+line), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := campaign.Resume(journal.Folder(dir), "c", plans.Parse(t, plans.Study))
	if measure.KindOf(err) != measure.KindStore || !strings.Contains(err.Error(), "soku.journal/2") {
		t.Errorf("error is %v", err)
	}
}

// A campaign whose journal cannot be read is not one that there is none of.
func TestACampaignWhoseJournalCannotBeReadIsNamed(t *testing.T) {
	const newer = `{"record":"plan","at":"2030-01-01T00:00:00Z","plan":{"schema":"soku.journal/9","id":"c"}}` + "\n"
	for text, want := range map[string][]string{
		newer + newer:               {"line 1", "soku.journal/9", "use the soku that wrote it"},
		"\n\n\n":                    {"line 1", "restore the journal"},
		"":                          {"ends before its plan", "begin anew"},
		"\n":                        {"ends before its plan", "begin anew"},
		`{"record":"ended"}` + "\n": {"ends before its plan", "begin anew"},
	} {
		dir := t.TempDir()
		id := measure.NewCampaignID("study", time.Now())
		path := filepath.Join(dir, id, "journal.ndjson")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, wanted := range []string{id, id[:20], "last"} {
			_, err := campaign.FindID(journal.Folder(dir), wanted)
			if measure.KindOf(err) != measure.KindStore || !strings.Contains(err.Error(), path) {
				t.Errorf("%q, %s: error is %v", text, wanted, err)
				continue
			}
			for _, part := range want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("%q, %s: error is %v, without %q", text, wanted, err, part)
				}
			}
		}
		if _, err := campaign.FindID(journal.Folder(dir), "20990101"); measure.KindOf(err) != measure.KindNotFound {
			t.Errorf("another campaign: error is %v", err)
		}
	}
}

func FuzzReadJournal(f *testing.F) {
	plan := `{"record":"plan","at":"2026-01-01T00:00:00Z","plan":{"schema":"soku.journal/1","id":"c","name":"x"}}` + "\n"
	f.Add([]byte(plan))
	f.Add([]byte(plan + `{"record":"trial_finished","trial":{"pattern":"a","label":"b","round":1,"repeat":1},"result":{"schema":"soku.result/1","id":"1"}}` + "\n"))
	f.Add([]byte(plan + `{"record":"group_finished","group":[{"record":"trial_finished","trial":{"pattern":"a","levels":[],"label":"b","round":1,"repeat":1},"result":{"id":"1"}},{"trial":{},"result":{}}]}` + "\n"))
	f.Add([]byte(plan + `{"record":"rounds_added","rounds":2,"trials":8}` + "\n"))
	f.Add([]byte(plan + `{"record":"later"}` + "\n" + `{"rec`))
	f.Add([]byte(plan + "\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		records := 0
		whole, err := journal.Read(bytes.NewReader(b), func(r journal.Record) error {
			records++
			if r.Kind == "" || r.Kind == journal.RecordTrialFinished && (r.Trial == nil || r.Result == nil) {
				t.Errorf("visited %+v", r)
			}
			for _, f := range r.Group {
				if r.Kind == journal.RecordGroupFinished && (f.Trial == nil || f.Result == nil) {
					t.Errorf("visited a group with %+v", f)
				}
			}
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("a record that was read cannot be written: %v", err)
			}
			return nil
		})
		if whole < 0 || whole > int64(len(b)) || whole > 0 && b[whole-1] != '\n' || bytes.Count(b[:whole], []byte("\n")) != records {
			t.Errorf("%d whole bytes of %d with %d records", whole, len(b), records)
		}
		if err != nil && measure.KindOf(err) != measure.KindStore {
			t.Errorf("%v has kind %s", err, measure.KindOf(err))
		}
		again, err2 := journal.Read(bytes.NewReader(b[:whole]), func(journal.Record) error { return nil })
		if again != whole || err2 != nil {
			t.Errorf("what is whole reads as %d of %d bytes (%v)", again, whole, err2)
		}
	})
}

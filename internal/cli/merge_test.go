package cli

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"soku/internal/archive"
	"soku/internal/campaign"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/store"
)

// elsewhere is another data folder with a store that fillStore filled.
func elsewhere(t *testing.T) *System {
	t.Helper()
	other, _, _ := fakeSystem(t)
	fillStore(t, other)
	return other
}

// begunElsewhere begins a campaign of a plan in the data folder of a system, with a
// result in its journal, and returns its identity and that of the result.
func begunElsewhere(t *testing.T, sys *System) (id, result string) {
	t.Helper()
	p, err := plan.Parse("plan.yaml", []byte("campaign: study\nendpoints: {vm: {address: 10.0.0.4}}\nto: vm\ntests: {rtt: {test: ping}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := campaign.Create(campaignsDir(sys), p, 1, "test", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	j, lock, err := campaignsDir(sys).Open(c.ID(), func(journal.Record) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release()
	defer j.Close()
	o, err := option.Effective(option.Defaults(measure.TestPing), measure.TestPing)
	if err != nil {
		t.Fatal(err)
	}
	r := &measure.Result{
		Schema: measure.Schema, ID: "0123456789ab0001", Test: measure.TestPing, StartedAt: c.StartedAt, Options: o,
		Trial: &measure.Trial{Campaign: c.ID(), Name: "study", Label: "rtt", Round: 1, Repeat: 1, Order: 1, Seed: 1, Levels: []measure.Level{}},
		Path:  measure.Path{Client: measure.Endpoint{Name: "here"}, Server: measure.Endpoint{Name: "vm"}, Direction: measure.Forward},
	}
	key := plan.TrialKey{Levels: []measure.Level{}, Server: "vm", Label: "rtt", Round: 1, Repeat: 1}
	if err := j.Append(journal.Record{Kind: journal.RecordTrialFinished, At: c.StartedAt, Trial: &key, Order: 1, Result: journal.NewDocument(r)}); err != nil {
		t.Fatal(err)
	}
	return c.ID(), r.ID
}

// merged runs soku merge --json and returns what it says.
func merged(t *testing.T, run func(...string) (string, string, int), want int, args ...string) (m archive.Merged) {
	t.Helper()
	out, errs, code := run(append([]string{"merge", "--json"}, args...)...)
	if code != want {
		t.Fatalf("status %d: %s%s", code, out, errs)
	}
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return m
}

func storedIDs(t *testing.T, sys *System) map[string]*measure.Result {
	t.Helper()
	st, err := openStore(t.Context(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	out := map[string]*measure.Result{}
	for r, err := range st.Results(t.Context(), store.Query{}, store.Whole) {
		if err != nil {
			t.Fatal(err)
		}
		out[r.ID] = r
	}
	return out
}

func TestMergingTwiceAddsOnce(t *testing.T) {
	sys, run := stocked(t, 5)
	other := elsewhere(t)
	from := storeFile(other, "")
	// A data folder has the results of its store in journals, too: what two places have is counted once.
	want := func(m archive.Merged) bool {
		return m.Results.New == 6 && m.Campaigns.New == 1 && m.Results.Known+m.Campaigns.Known == 0
	}
	if m := merged(t, run, 0, "--from", from, "--from", from, "--dry-run"); !want(m) || len(storedIDs(t, sys)) != 5 {
		t.Errorf("a dry run: %+v, %d stored", m, len(storedIDs(t, sys)))
	}
	if m := merged(t, run, 0, "--from", from, "--from", from); !want(m) {
		t.Errorf("%+v", m)
	}
	for range 2 {
		if m := merged(t, run, 0, "--from", from); m.Results.New != 0 || m.Results.Known != 6 || m.Campaigns.Known != 1 {
			t.Errorf("again: %+v", m)
		}
	}
	all := storedIDs(t, sys)
	for id, want := range storedIDs(t, other) {
		got, err := json.Marshal(all[id])
		wanted, werr := json.Marshal(want)
		if err != nil || werr != nil || string(got) != string(wanted) {
			t.Errorf("%s is %s, want %s", id, got, wanted)
		}
	}
	if out, errs, code := run("report", "gateway/sku"); code != 0 || !strings.Contains(out, "ultra") {
		t.Errorf("report: status %d, %s%s", code, out, errs)
	}
	out, _, _ := run("merge", "--from", from)
	if out != "0 results and 0 campaigns added; 6 results and 1 campaign were there already\n" {
		t.Errorf("%q", out)
	}
}

func TestADifferentResultOfTheSameIdentityIsLeftOut(t *testing.T) {
	sys, run := stocked(t, 0)
	fillStore(t, sys)
	other := elsewhere(t)
	change := func(id string, change func(*measure.Result)) {
		t.Helper()
		st, err := openStore(t.Context(), other, "")
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		r, err := st.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.Delete(t.Context(), []string{id}); err != nil {
			t.Fatal(err)
		}
		change(r)
		if err := st.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	change("01RESULT8", func(r *measure.Result) { r.Summary.GoodputBps++ })
	change("01RESULT9", func(r *measure.Result) { r.ID = "01RESULT10" })
	before := storedIDs(t, sys)["01RESULT8"].Summary.GoodputBps
	m := merged(t, run, 10, "--from", storeFile(other, ""))
	// fillStore gives the patterns their identities in an order of chance.
	if m.Results.New != 1 || m.Results.Known+len(m.Results.Conflicts) != 5 || !strings.Contains(strings.Join(m.Results.Conflicts, " "), "01RESULT8") {
		t.Errorf("%+v", m)
	}
	if after := storedIDs(t, sys)["01RESULT8"].Summary.GoodputBps; after != before {
		t.Errorf("what was stored is changed from %g to %g", before, after)
	}
	out, errs, code := run("merge", storeFile(other, ""))
	if code != 10 || !strings.Contains(out, "01RESULT8") || !strings.Contains(errs, "in conflict") {
		t.Errorf("status %d: %s%s", code, out, errs)
	}
}

func TestTheResultsOfADifferentCampaignAreLeftOut(t *testing.T) {
	sys, run := stocked(t, 0)
	st, err := openStore(t.Context(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.PutCampaign(t.Context(), store.Campaign{ID: "01CAMPAIGN", Name: "gateway/sku", Seed: 6}); err != nil {
		t.Fatal(err)
	}
	from := storeFile(elsewhere(t), "")
	m := merged(t, run, 10, "--from", from, "--from", from)
	if m.Results.New != 2 || len(m.Results.Conflicts) != 4 || len(m.Campaigns.Conflicts) != 1 || m.Campaigns.Conflicts[0] != "01CAMPAIGN" {
		t.Errorf("%+v", m)
	}
}

func TestACampaignOfAnotherDataFolderCanBeResumed(t *testing.T) {
	other := elsewhere(t)
	id, result := begunElsewhere(t, other)
	for name, from := range map[string]string{
		"data folder": other.DataDir, "campaigns": campaignsDir(other).Name(), "campaign": filepath.Join(campaignsDir(other).Name(), id),
		"journal": journal.File(filepath.Join(campaignsDir(other).Name(), id)),
	} {
		t.Run(name, func(t *testing.T) {
			sys, run := stocked(t, 0)
			if m := merged(t, run, 0, "--from", from, "--dry-run"); m.Results.New == 0 || m.Journals != 0 {
				t.Errorf("a dry run: %+v", m)
			}
			m := merged(t, run, 0, "--from", from)
			if r := storedIDs(t, sys)[result]; r == nil || m.Journals != 1 || m.Campaigns.New == 0 {
				t.Errorf("%+v, result %v", m, r)
			}
			found, err := campaign.Find(campaignsDir(sys), "study")
			if err != nil || len(found) != 1 || found[0].Record.ID != id || found[0].Done != 1 || !found[0].Open() {
				t.Errorf("%+v, %v", found, err)
			}
			if m := merged(t, run, 0, "--from", from); m.Results.New+m.Campaigns.New+m.Journals != 0 || m.Results.Known == 0 {
				t.Errorf("again: %+v", m)
			}
			if out, errs, _ := run("ls", "--campaigns"); !strings.Contains(out, id) {
				t.Errorf("%s%s", out, errs)
			}
		})
	}
}

func TestAJournalThatWasCutOffIsMergedToItsLastRecord(t *testing.T) {
	other, _, _ := fakeSystem(t)
	id, result := begunElsewhere(t, other)
	file := journal.File(filepath.Join(campaignsDir(other).Name(), id))
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(whole, `{"record":"trial_fin`...), 0o600); err != nil {
		t.Fatal(err)
	}
	sys, run := stocked(t, 0)
	merged(t, run, 0, "--from", file)
	copied, err := os.ReadFile(journal.File(filepath.Join(campaignsDir(sys).Name(), id)))
	if err != nil || string(copied) != string(whole) || storedIDs(t, sys)[result] == nil {
		t.Errorf("%v: %d bytes are copied of %d", err, len(copied), len(whole))
	}
	// Damage in the middle is reported, and the other places are merged.
	if err := os.WriteFile(file, append([]byte("{\"record\":\n"), whole...), 0o600); err != nil {
		t.Fatal(err)
	}
	_, run = stocked(t, 0)
	if m := merged(t, run, 10, "--from", file, "--from", storeFile(elsewhere(t), "")); m.Results.New != 6 || len(m.Unread) != 1 || m.Unread[0].File != file {
		t.Errorf("%+v", m)
	}
}

func TestMergeRefusesWhatIsNoOtherPlace(t *testing.T) {
	sys, run := stocked(t, 1)
	text := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(text, []byte("campaign: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]struct {
		code int
		says string
	}{
		"merge":                          {2, "no place to merge from"},
		"merge --from " + sys.DataDir:    {2, "it is the store that would be merged into"},
		"merge --from nothing.db":        {3, "nothing.db"},
		"merge --from " + t.TempDir():    {9, "neither a store"},
		"merge --from " + text:           {10, "1 journal unread"},
		"merge --from x --from y --yes ": {2, "unknown flag"},
	} {
		if out, errs, code := run(strings.Fields(args)...); code != want.code || !strings.Contains(errs, want.says) {
			t.Errorf("%s: status %d, %s%s", args, code, out, errs)
		}
	}
}

// A journal is read from its beginning to its end, several times: what has no end is refused.
func TestWhatIsNoFileIsNotMerged(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // no such paths
	}
	_, run := stocked(t, 0)
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.CommandContext(t.Context(), "mkfifo", pipe).Run(); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "campaigns", "c")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(folder, "journal.ndjson")); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{"/dev/zero", pipe, folder, filepath.Dir(filepath.Dir(folder))} {
		_, errs, code := run("merge", "--from", place)
		if code != exitStatus[measure.KindFile] || !strings.Contains(errs, "not a file") || !strings.Contains(errs, place) {
			t.Errorf("%s: status %d, %s", place, code, errs)
		}
	}
}

// An interrupt ends the reading of a journal.
func TestAnInterruptEndsTheReadingOfAJournal(t *testing.T) {
	sys, _ := stocked(t, 0)
	other := elsewhere(t)
	id, _ := begunElsewhere(t, other)
	file := journal.File(filepath.Join(campaignsDir(other).Name(), id))
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(measure.Fail(measure.KindInterrupted, "cli.interrupted", nil))
	files := archive.System{Stat: sys.Stat, Open: sys.Open, OpenStore: sys.OpenStore, OpenJournals: sys.OpenJournals}
	_, err := archive.Archive{}.Merge(ctx, files, archive.Places{Journals: []string{file}}, true, func(e *measure.Error) { t.Error(e) })
	if measure.KindOf(err) != measure.KindInterrupted {
		t.Errorf("error is %v", err)
	}
}

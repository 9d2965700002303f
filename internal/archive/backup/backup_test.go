package backup_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"soku/internal/archive/backup"
	"soku/internal/campaign/journal"
	"soku/internal/campaign/journal/sqljournal"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/memory"
	_ "soku/internal/tests" // registers the tests whose options and metrics are used here
	"soku/test/databases"
	"soku/test/postgresql"
	"soku/test/storetest"
	"soku/test/tier"
)

func TestMain(m *testing.M) { postgresql.Main(m) }

func journals(t *testing.T, s store.Store) *sqljournal.Journals {
	t.Helper()
	j, err := sqljournal.Open(t.Context(), databases.Of(t, s), "test")
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// campaign writes a campaign of that many results with its journal, which stays held.
func campaign(t *testing.T, s store.Store, id string, results int) journal.Journal {
	t.Helper()
	if err := s.PutCampaign(t.Context(), store.Campaign{ID: id, Name: "study", Plan: "plan", Trials: results}); err != nil {
		t.Fatal(err)
	}
	j, lock, err := journals(t, s).Create(id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
	for i := range results {
		if err := appended(j, result(id, i)); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

func result(campaign string, i int) *measure.Result {
	r := storetest.Result(fmt.Sprintf("%s-%04d\x00", campaign, i), i)
	r.Trial = &measure.Trial{Campaign: campaign, Levels: []measure.Level{{Factor: "sku", Value: "a"}}}
	return r
}

func appended(j journal.Journal, r *measure.Result) error {
	return j.Append(journal.Record{Kind: journal.RecordTrialFinished, At: r.StartedAt, Trial: &plan.TrialKey{}, Result: journal.NewDocument(r)})
}

// content is all that a store has, as texts.
func content(t *testing.T, s store.Store) (all []string) {
	t.Helper()
	add := func(v any) {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, string(b))
	}
	campaigns, err := s.Campaigns(t.Context(), store.CampaignQuery{})
	if err != nil {
		t.Fatal(err)
	}
	add(campaigns)
	for e, err := range store.Entries(t.Context(), s, store.Query{Levels: []measure.Level{{Factor: "sku", Value: "a"}}, Endpoint: "vm.vlan"}) {
		if err != nil {
			t.Fatal(err)
		}
		add(e)
	}
	for r, err := range s.Results(t.Context(), store.Query{OldestFirst: true}, store.Whole) {
		if err != nil {
			t.Fatal(err)
		}
		add(r)
	}
	j := journals(t, s)
	ids, err := j.IDs()
	for _, id := range ids {
		err = errors.Join(err, j.Read(id, func(r journal.Record) error { add(r); return nil }))
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAStoreMovesToEachKindOfDatabase(t *testing.T) {
	tier.SpendsSeconds(t)
	for from, open := range databases.Kinds {
		for to, openTo := range databases.Kinds {
			t.Run(from+" to "+to, func(t *testing.T) {
				a, b, file := open(t), openTo(t), filepath.Join(t.TempDir(), "backup")
				campaign(t, a, "c1", 130)
				campaign(t, a, "c2", 3)
				if err := a.PutDocuments(t.Context(), storetest.Compressed([]byte(`{"schema":"soku.result/1","id":"by-hand","test":"tcp","later":1}`))); err != nil {
					t.Fatal(err)
				}
				var seen []int
				done, err := backup.Write(t.Context(), a, file, func(done, of int) { seen = append(seen, done, of) })
				if err != nil || done.Results.New != 134 || done.Journals.New != 2 || !slices.Equal(seen, []int{100, 134, 134, 134}) {
					t.Fatalf("%+v, %v, %v", done, seen, err)
				}
				for again := range 2 {
					done, err := backup.Restore(t.Context(), file, b, nil)
					if want := [2]int{134, 0}; err != nil || done.Results.New != want[again] || done.Results.Known != 134-want[again] || len(done.Results.Conflicts) != 0 {
						t.Errorf("%+v, %v", done, err)
					}
				}
				if was, is := content(t, a), content(t, b); !reflect.DeepEqual(was, is) || len(was) != 1+133+134+133 {
					t.Errorf("%d parts came back as %d", len(was), len(is))
				}
				j, lock, err := journals(t, b).Open("c1", func(journal.Record) error { return nil }) // it has no holder there
				if err != nil {
					t.Fatal(err)
				}
				defer lock.Release()
				if err := appended(j, result("c1", 999)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A campaign goes on while it is copied.
func TestABackupIsOfOneMoment(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, open := range databases.Kinds {
		t.Run(name, func(t *testing.T) {
			s, file := open(t), filepath.Join(t.TempDir(), "backup")
			j := campaign(t, s, "c1", 250)
			written := 0
			done, err := backup.Write(t.Context(), s, file, func(int, int) {
				for range 5 {
					if err := appended(j, result("c1", 250+written)); err != nil {
						t.Fatal(err)
					}
					if written++; written > 50 {
						t.Fatal("the backup reads what is written meanwhile")
					}
				}
			})
			if err != nil || done.Results.New != 250 || written == 0 {
				t.Fatalf("%+v, %d were written meanwhile, %v", done, written, err)
			}
			records := 0
			copied := databases.SQLite(t, file)
			if err := journals(t, copied).Read("c1", func(r journal.Record) error {
				records++
				_, err := r.Result.Result()
				return err
			}); err != nil || records != 250 {
				t.Errorf("%d records, %v", records, err)
			}
		})
	}
}

func TestConflictsOfABackupAreReported(t *testing.T) {
	a, b, file := databases.Kinds["SQLite"](t), databases.Kinds["SQLite"](t), filepath.Join(t.TempDir(), "backup")
	campaign(t, a, "c1", 3)
	campaign(t, a, "c2", 2)
	other := result("c1", 1)
	other.Summary.GoodputBps = 1
	if err := errors.Join(b.Put(t.Context(), other), b.PutCampaign(t.Context(), store.Campaign{ID: "c2", Name: "another"})); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Write(t.Context(), a, file, nil); err != nil {
		t.Fatal(err)
	}
	done, err := backup.Restore(t.Context(), file, b, nil)
	if err != nil || done.Results.New != 2 || strings.Join(done.Results.Conflicts, " ") != "c1-0001\x00 c2-0000\x00 c2-0001\x00" ||
		strings.Join(done.Campaigns.Conflicts, " ") != "c2" || strings.Join(done.Journals.Conflicts, " ") != "c1 c2" {
		t.Errorf("%+v, %v", done, err)
	}
	if r, err := b.Get(t.Context(), other.ID); err != nil || r.Summary.GoodputBps != 1 {
		t.Errorf("the result of the store was changed: %v", err)
	}
}

func TestAFileThatIsNoBackupIsRefused(t *testing.T) {
	s, folder := databases.Kinds["SQLite"](t), t.TempDir()
	campaign(t, s, "c1", 200)
	file := filepath.Join(folder, "backup")
	if _, err := backup.Write(t.Context(), s, file, nil); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte
		says    string
	}{
		"half": {whole[:len(whole)/2], "damaged"}, "cut off": {whole[:len(whole)-4096], "damaged"},
		"text": {[]byte("hello, this is no backup at all"), "no SQLite database"},
	} {
		bad, to := filepath.Join(folder, name), databases.Kinds["SQLite"](t)
		if err := os.WriteFile(bad, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		done, err := backup.Restore(t.Context(), bad, to, nil)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") || done.Results.New != 0 {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	if _, err := backup.Restore(t.Context(), filepath.Join(folder, "missing"), s, nil); measure.KindOf(err) != measure.KindFile {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := backup.Write(t.Context(), s, file, nil); measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), "exists") {
		t.Errorf("an existing file: %v", err)
	}
	if _, err := backup.Write(t.Context(), memory.New(), filepath.Join(folder, "x"), nil); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("a store in memory: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := backup.Write(ended, s, filepath.Join(folder, "y"), nil); err == nil {
		t.Error("a backup after its context ended")
	}
	if left, err := filepath.Glob(filepath.Join(folder, "[xy]*")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

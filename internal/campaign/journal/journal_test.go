package journal_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"soku/internal/campaign/journal"
	"soku/internal/measure"
)

// reasons are the texts of records, which the tests number by them.
func reasons(t *testing.T, read func(visit func(journal.Record) error) error) string {
	t.Helper()
	var out []string
	if err := read(func(r journal.Record) error { out = append(out, r.Reason); return nil }); err != nil {
		t.Error(err)
	}
	return strings.Join(out, " ")
}

func note(n int) journal.Record {
	return journal.Record{Kind: journal.RecordEnded, Reason: fmt.Sprint(n)}
}

func TestAJournalKeepsItsRecordsInOrder(t *testing.T) {
	for name, in := range places(t) {
		t.Run(name, func(t *testing.T) {
			j, lock, err := in.Create("c1")
			if err != nil {
				t.Fatal(err)
			}
			for n := range 3 {
				if err := j.Append(note(n)); err != nil {
					t.Fatal(err)
				}
			}
			if got := reasons(t, j.Read); got != "0 1 2" {
				t.Errorf("the open journal has %s", got)
			}
			other := func(visit func(journal.Record) error) error { return in.Read("c1", visit) }
			if got := reasons(t, other); got != "0 1 2" {
				t.Errorf("whoever does not hold it reads %s", got)
			}
			if err := j.Close(); err != nil {
				t.Error(err)
			}
			if err := lock.Release(); err != nil {
				t.Error(err)
			}
			if err := j.Append(note(9)); err == nil {
				t.Error("a closed journal was appended to")
			}
			got := reasons(t, func(visit func(journal.Record) error) error {
				j, lock, err = in.Open("c1", visit)
				return err
			})
			if got != "0 1 2" {
				t.Errorf("opening reads %s", got)
			}
			if err := j.Append(note(3)); err != nil {
				t.Fatal(err)
			}
			if got := reasons(t, j.Read); got != "0 1 2 3" {
				t.Errorf("going on leaves %s", got)
			}
			_, _ = j.Close(), lock.Release()
		})
	}
}

func TestOneOpenerHoldsACampaign(t *testing.T) {
	for name, in := range places(t) {
		t.Run(name, func(t *testing.T) {
			j, lock, err := in.Create("c1")
			if err != nil {
				t.Fatal(err)
			}
			nothing := func(journal.Record) error { return nil }
			if _, _, err := in.Open("c1", nothing); measure.KindOf(err) != measure.KindRefused {
				t.Errorf("a held campaign was opened: %v", err)
			}
			if _, _, err := in.Create("c1"); err == nil {
				t.Error("a campaign was created twice")
			}
			_, _ = j.Close(), lock.Release()
			wrong := fmt.Errorf("wrong")
			j, lock, err = in.Open("c1", nothing)
			if err != nil {
				t.Fatalf("a released campaign: %v", err)
			}
			if err := j.Append(note(1)); err != nil {
				t.Fatal(err)
			}
			_, _ = j.Close(), lock.Release()
			if _, _, err := in.Open("c1", func(journal.Record) error { return wrong }); err == nil {
				t.Error("opening passed over the visitor's error")
			}
			if j, lock, err = in.Open("c1", nothing); err != nil {
				t.Errorf("a campaign that could not be opened stays held: %v", err)
			} else {
				_, _ = j.Close(), lock.Release()
			}
		})
	}
}

func TestCampaignsAreListedAndUnknownOnesNotFound(t *testing.T) {
	for name, in := range places(t) {
		t.Run(name, func(t *testing.T) {
			if ids, err := in.IDs(); err != nil || len(ids) != 0 {
				t.Errorf("an empty place has %q (%v)", ids, err)
			}
			for _, id := range []string{"2-b", "1-a", "3-c"} {
				j, lock, err := in.Create(id)
				if err != nil {
					t.Fatal(err)
				}
				_, _ = j.Close(), lock.Release()
			}
			if ids, err := in.IDs(); err != nil || !slices.Equal(ids, []string{"1-a", "2-b", "3-c"}) {
				t.Errorf("campaigns are %q (%v)", ids, err)
			}
			nothing := func(journal.Record) error { return nil }
			if _, _, err := in.Open("4", nothing); measure.KindOf(err) != measure.KindNotFound {
				t.Errorf("opening an unknown campaign: %v", err)
			}
			if err := in.Read("4", nothing); measure.KindOf(err) != measure.KindNotFound {
				t.Errorf("reading an unknown campaign: %v", err)
			}
		})
	}
}

// The identity of a campaign can come from another user's journal or store.
func TestAnIdentityNamesACampaignOfItsPlaceOnly(t *testing.T) {
	for name, in := range places(t) {
		t.Run(name, func(t *testing.T) {
			j, lock, err := in.Create("kept")
			if err != nil {
				t.Fatal(err)
			}
			_, _ = j.Close(), lock.Release()
			nothing := func(journal.Record) error { return nil }
			for _, id := range []string{"", ".", "..", "../outside", "../campaigns", "kept/", "./kept", "kept/../kept", "kept/inside", ".kept", in.Name() + "/kept"} {
				_, _, created := in.Create(id)
				_, _, opened := in.Open(id, nothing)
				_, adopted := in.Adopt(id, strings.NewReader(""))
				for method, err := range map[string]error{
					"Create": created, "Open": opened, "Read": in.Read(id, nothing), "Adopt": adopted, "Remove": in.Remove(id),
				} {
					if measure.KindOf(err) != measure.KindNotFound {
						t.Errorf("%s(%q): %v", method, id, err)
					}
				}
			}
			if ids, err := in.IDs(); err != nil || !slices.Equal(ids, []string{"kept"}) {
				t.Errorf("campaigns are %q (%v)", ids, err)
			}
			if dir, ok := in.(journal.Folder); ok {
				if entries, err := os.ReadDir(filepath.Dir(dir.Name())); err != nil || len(entries) != 1 {
					t.Errorf("files outside the folder: %v (%v)", entries, err)
				}
			}
		})
	}
}

func TestAJournalIsAdoptedOnceAndGoesOn(t *testing.T) {
	for name, in := range places(t) {
		t.Run(name, func(t *testing.T) {
			lines := `{"record":"ended","reason":"0"}` + "\n" + `{"record":"ended","reason":"1"}` + "\n" + `{"record":"ended","rea`
			for _, want := range []bool{true, false} {
				adopted, err := in.Adopt("c1", strings.NewReader(lines))
				if adopted != want || err != nil {
					t.Errorf("adopted %v (%v), want %v", adopted, err, want)
				}
			}
			if _, err := in.Adopt("c2", strings.NewReader("no journal\n"+lines)); measure.KindOf(err) != measure.KindStore {
				t.Errorf("a damaged journal was adopted: %v", err)
			}
			if err := in.Read("c2", func(journal.Record) error { return nil }); measure.KindOf(err) != measure.KindNotFound {
				t.Errorf("reading a journal that was not adopted: %v", err)
			}
			j, lock, err := in.Open("c1", func(journal.Record) error { return nil })
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Append(note(2)); err != nil {
				t.Error(err)
			}
			if got := reasons(t, j.Read); got != "0 1 2" {
				t.Errorf("the journal has %s", got)
			}
			_, _ = j.Close(), lock.Release()
		})
	}
}

func TestAJournalIsRemovedUnlessItsCampaignIsHeld(t *testing.T) {
	for name, in := range places(t) {
		t.Run(name, func(t *testing.T) {
			if err := in.Remove("c1"); measure.KindOf(err) != measure.KindNotFound {
				t.Errorf("removing an unknown campaign: %v", err)
			}
			j, lock, err := in.Create("c1")
			if err != nil {
				t.Fatal(err)
			}
			if err := in.Remove("c1"); measure.KindOf(err) != measure.KindRefused {
				t.Errorf("removing a held campaign: %v", err)
			}
			_, _ = j.Close(), lock.Release()
			if err := in.Remove("c1"); err != nil {
				t.Error(err)
			}
			if ids, err := in.IDs(); err != nil || len(ids) != 0 {
				t.Errorf("campaigns are %q (%v)", ids, err)
			}
		})
	}
}

// A document that is no journal is not read to its end: its first line cannot be a plan.
func TestOfAnotherDocumentOnlyTheBeginningIsRead(t *testing.T) {
	const size = 100 << 20
	in := &io.LimitedReader{R: endless('x'), N: size}
	_, err := journal.Read(in, func(journal.Record) error { return nil })
	if read := size - in.N; measure.KindOf(err) != measure.KindStore || !strings.Contains(fmt.Sprint(err), "bytes") || read > 40<<20 {
		t.Errorf("%d bytes were read: %v", read, err)
	}
}

// endless is a reader of one byte again and again.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/store"
)

// withCampaigns is a system with a campaign of the store alone, one of a journal alone and
// two results by hand.
func withCampaigns(t *testing.T) (sys *System, run func(...string) (string, string, int), begun string) {
	t.Helper()
	sys, run = stocked(t, 0)
	fillStore(t, sys)
	begun, _ = begunElsewhere(t, sys)
	return sys, run, begun
}

// remaining is what the store has, and which journals there are.
func remaining(t *testing.T, sys *System) (results int, campaigns, journals string) {
	t.Helper()
	st, err := openStore(t.Context(), sys, "")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	page, err := st.Campaigns(t.Context(), store.CampaignQuery{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range page.Items {
		campaigns += c.ID
	}
	ids, err := campaignsDir(sys).IDs()
	if err != nil {
		t.Fatal(err)
	}
	return len(storedIDs(t, sys)), campaigns, strings.Join(ids, " ")
}

func TestACampaignIsDeletedWithItsResultsAndItsJournal(t *testing.T) {
	sys, run, begun := withCampaigns(t)
	if _, errs, code := run("rm", "--campaign", "gateway/sku"); code != 2 || !strings.Contains(errs, "no terminal") {
		t.Errorf("nobody to ask: status %d, %s", code, errs)
	}
	sys.StdinTerminal = func() bool { return true }
	sys.Stdin = strings.NewReader("n\n")
	if _, errs, code := run("rm", "--campaign", "gateway/sku"); code != 0 || !strings.Contains(errs, "delete 1 campaign with 4 results: 01CAMPAIGN? [y/N]") {
		t.Errorf("no: status %d, %s", code, errs)
	}
	if results, campaigns, journals := remaining(t, sys); results != 6 || campaigns != "01CAMPAIGN" || journals != begun {
		t.Errorf("left are %d, %s, %s", results, campaigns, journals)
	}
	sys.Stdin = strings.NewReader("y\n")
	if out, errs, code := run("rm", "--campaign", "gateway/sku"); code != 0 || out != "1 campaign deleted, with 4 results\n" {
		t.Errorf("yes: status %d, %s%s", code, out, errs)
	}
	if out, errs, code := run("rm", "--campaign", begun, "--yes"); code != 0 || out != "1 campaign deleted, with 0 results\n" {
		t.Errorf("a journal alone: status %d, %s%s", code, out, errs)
	}
	if results, campaigns, journals := remaining(t, sys); results != 2 || campaigns+journals != "" {
		t.Errorf("left are %d, %s, %s", results, campaigns, journals)
	}
	if _, errs, code := run("rm", "--campaign", "gateway/sku", "--yes"); code != 9 {
		t.Errorf("one that is not there: status %d, %s", code, errs)
	}
	if _, errs, code := run("rm"); code != 2 || !strings.Contains(errs, "no argument given; usage: soku rm RESULT...") {
		t.Errorf("nothing: status %d, %s", code, errs)
	}
}

func TestOldCampaignsAreDeletedWhole(t *testing.T) {
	sys, run, begun := withCampaigns(t)
	old := filepath.Join(campaignsDir(sys).Name(), begun)
	if out, errs, code := run("prune", "--campaigns", "--older-than", "2026-03-01", "--dry-run"); code != 0 || !strings.Contains(out, "1 campaign would be deleted, with 0 results: "+begun) {
		t.Errorf("a dry run: status %d, %s%s", code, out, errs)
	}
	if _, err := os.Stat(old); err != nil {
		t.Error(err)
	}
	if out, errs, code := run("prune", "--campaigns", "--older-than", "2026-03-01", "--yes"); code != 0 || out != "1 campaign deleted, with 0 results\n" {
		t.Errorf("status %d, %s%s", code, out, errs)
	}
	if results, campaigns, journals := remaining(t, sys); results != 6 || campaigns != "01CAMPAIGN" || journals != "" {
		t.Errorf("left are %d, %s, %s", results, campaigns, journals)
	}
	if out, errs, code := run("prune", "--campaigns", "--older-than", "1d", "--yes"); code != 0 || out != "1 campaign deleted, with 4 results\n" {
		t.Errorf("status %d, %s%s", code, out, errs)
	}
	if _, errs, code := run("prune", "--campaigns", "--older-than", "1d", "--test", "tcp"); code != 2 {
		t.Errorf("of a test: status %d, %s", code, errs)
	}
}

func TestACampaignThatRunsIsNotDeleted(t *testing.T) {
	sys, run, begun := withCampaigns(t)
	j, lock, err := campaignsDir(sys).Open(begun, func(journal.Record) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	sys.Now = func() time.Time { return time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC) }
	out, errs, code := run("prune", "--campaigns", "--older-than", "1d", "--yes")
	if code != 5 || out != "1 campaign deleted, with 4 results\n" || !strings.Contains(errs, begun+" is not deleted") {
		t.Errorf("status %d, %s%s", code, out, errs)
	}
	if results, campaigns, journals := remaining(t, sys); results != 2 || campaigns != "" || journals != begun {
		t.Errorf("left are %d, %s, %s", results, campaigns, journals)
	}
	if err := errors.Join(j.Close(), lock.Release()); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := run("rm", "--campaign", begun, "--yes"); code != 0 {
		t.Errorf("when it has ended: status %d, %s", code, errs)
	}
}

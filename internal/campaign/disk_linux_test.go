package campaign_test

import (
	"os"
	"path/filepath"
	"soku/test/plans"
	"strings"
	"testing"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/schedule"
	"soku/internal/measure"
	"soku/test/tier"

	"golang.org/x/sys/unix"
)

func TestAFullDiskStopsTheCampaignAndItResumes(t *testing.T) {
	tier.NeedsRoot(t, "small file systems to fill")
	b := newBench(t, plans.Study+"abort_after: 0\n")
	if err := os.Mkdir(string(b.campaigns()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("soku-test", string(b.campaigns()), "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mounting a small file system to fill: %v", err)
	}
	t.Cleanup(func() {
		if b.campaign != nil {
			_ = b.campaign.Close()
		}
		if err := unix.Unmount(string(b.campaigns()), unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	b.create()
	b.fail = func(schedule.Job) error { // a long text makes the results large
		return measure.TextError(measure.KindBroken, strings.Repeat("w", 12_000), "")
	}
	out, err := b.run()
	if measure.KindOf(err) != measure.KindStore || !strings.Contains(err.Error(), "full") ||
		!strings.Contains(err.Error(), b.campaign.JournalName()) || !strings.Contains(err.Error(), "--resume") {
		t.Fatalf("outcome %+v, error %v", out, err)
	}
	if out.Done == 0 || out.Done == 16 {
		t.Fatalf("outcome %+v", out)
	}
	b.onceEach(out.Done)
	if err := unix.Mount("soku-test", string(b.campaigns()), "tmpfs", unix.MS_REMOUNT, "size=4m"); err != nil {
		t.Fatal(err)
	}
	before := out.Done
	b.resume()
	out, err = b.run()
	if measure.KindOf(err) != measure.KindIncomplete || out.Ran != 16-before {
		t.Errorf("outcome %+v, error %v", out, err)
	}
	b.onceEach(16)
	if f, err := os.Open(filepath.Join(string(b.campaigns()), b.campaign.ID(), "journal.ndjson")); err != nil {
		t.Error(err)
	} else {
		defer f.Close()
		if _, err := journal.Read(f, func(journal.Record) error { return nil }); err != nil {
			t.Error(err)
		}
	}
}

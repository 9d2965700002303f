package campaign_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/campaign"
	"soku/internal/measure"
)

// The identity of a campaign can come from a journal or a store that somebody else wrote.
func TestWhatIsNoNameOfAFolderIsNoCampaign(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "campaigns")
	kept := filepath.Join(dir, "kept", "journal.ndjson")
	outside := filepath.Join(filepath.Dir(dir), "journal.ndjson")
	for _, file := range []string{kept, outside, filepath.Join(dir, "journal.ndjson")} {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := campaign.Folder(dir)
	for _, id := range []string{"", ".", "..", "../campaigns", "kept/", "./kept", "kept/../kept", dir} {
		if err := folder.Remove(id); measure.KindOf(err) != measure.KindNotFound {
			t.Errorf("remove %q: %v", id, err)
		}
		if _, err := folder.Adopt(id, strings.NewReader("")); measure.KindOf(err) != measure.KindNotFound {
			t.Errorf("adopt %q: %v", id, err)
		}
		if _, _, err := folder.Open(id, func(campaign.Record) error { return nil }); measure.KindOf(err) != measure.KindNotFound {
			t.Errorf("open %q: %v", id, err)
		}
	}
	for _, file := range []string{kept, outside} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
	if err := folder.Remove("kept"); err != nil {
		t.Error(err)
	}
}

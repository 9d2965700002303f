package campaign_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"soku/test/plans"
	"strings"
	"sync"
	"testing"
	"time"

	"soku/internal/campaign"
	"soku/internal/campaign/journal"
)

// begin begins a campaign and returns its number.
func begin(t *testing.T, in journal.Backend, id string) int {
	t.Helper()
	c, err := campaign.CreateAs(id, in, plans.Parse(t, plans.Study), 1, "test", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.Record.Number
}

func TestNumbersAreTakenOnce(t *testing.T) {
	for name, in := range places(t) {
		t.Run(name, func(t *testing.T) {
			numbers := make([]int, 20)
			var all sync.WaitGroup
			for i := range numbers {
				all.Go(func() {
					var err error
					if numbers[i], err = in.Number(); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			slices.Sort(numbers)
			for i, n := range numbers {
				if n != i+1 {
					t.Fatalf("numbers are %v", numbers)
				}
			}
		})
	}
}

func TestANumberIsHigherThanThoseOfAdoptedCampaigns(t *testing.T) {
	for name, in := range places(t) {
		t.Run(name, func(t *testing.T) {
			if n := begin(t, in, "c1"); n != 1 {
				t.Errorf("the first number is %d", n)
			}
			journal := `{"record":"plan","plan":{"schema":"soku.journal/1","id":"a","name":"a","text":"","number":7}}` + "\n"
			if adopted, err := in.Adopt("a", strings.NewReader(journal)); !adopted || err != nil {
				t.Fatal(adopted, err)
			}
			if n := begin(t, in, "c2"); n != 8 {
				t.Errorf("the number after that of an adopted campaign, 7, is %d", n)
			}
		})
	}
}

// An older version writes no counter, and a disk may lose it.
func TestWithoutACounterTheNumberIsThatOfTheJournals(t *testing.T) {
	in := journal.Folder(t.TempDir())
	counter := filepath.Join(in.Name(), ".number")
	for i := range 3 {
		begin(t, in, fmt.Sprintf("c%d", 9-i)) // a clock that steps back
	}
	if err := os.Remove(counter); err != nil {
		t.Fatal(err)
	}
	if n := begin(t, in, "c0"); n != 4 {
		t.Errorf("without a counter the number is %d", n)
	}
	for _, text := range []string{"", "x", "-7", "1e3"} {
		if err := os.WriteFile(counter, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, err := in.Number(); n != 5 || err != nil {
			t.Errorf("with the counter %q the number is %d (%v)", text, n, err)
		}
	}
	if err := os.WriteFile(counter, []byte("1\n"), 0o600); err != nil { // before the newest, c9, which has 1
		t.Fatal(err)
	}
	if n := begin(t, in, "d"); n != 2 {
		t.Errorf("after the counter 1 the number is %d", n)
	}
	if err := os.WriteFile(counter, []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := in.Number(); n != 3 || err != nil {
		t.Errorf("after a newest journal with 2 that the counter lacks the number is %d (%v)", n, err)
	}
	if ids, err := in.IDs(); err != nil || !slices.Equal(ids, []string{"c0", "c7", "c8", "c9", "d"}) {
		t.Errorf("campaigns are %q (%v)", ids, err)
	}
}

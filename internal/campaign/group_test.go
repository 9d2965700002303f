package campaign_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"

	"soku/internal/campaign/journal"
)

var two = []pair{{from: "a", to: "b", group: 1}, {from: "c", to: "d", group: 1}}

// A kill leaves a journal that ends anywhere: of a group all results or none.
func TestAGroupIsOneRecordOfTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNet(t, 1, two)
		if _, err := n.run(); err != nil {
			t.Fatal(err)
		}
		whole := n.in.Bytes(n.campaign.ID())
		from := bytes.Index(whole, []byte(`"record":"group_finished"`))
		to := from + bytes.IndexByte(whole[from:], '\n') + 1
		for cut := from; cut <= to; cut += 7 {
			done := map[string]bool{}
			if _, err := journal.Read(bytes.NewReader(whole[:cut]), func(r journal.Record) error {
				for _, f := range r.Group {
					done[fmt.Sprint(f.Trial.Client)] = true
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if len(done) != 0 {
				t.Errorf("cut at %d of %d..%d: %v are done", cut, from, to, done)
			}
		}
	})
}

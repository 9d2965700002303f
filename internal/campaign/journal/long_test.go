package journal_test

import (
	"bytes"
	"encoding/json"
	"runtime"
	"testing"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/measure/option"
)

// longJournal is a journal with one result of many samples. members are further ones of its result.
func longJournal(t *testing.T, members string) (text []byte, document int) {
	t.Helper()
	options, err := option.Effective(option.Defaults(measure.TestTCP), measure.TestTCP)
	if err != nil {
		t.Fatal(err)
	}
	r := &measure.Result{Schema: measure.Schema, ID: measure.NewResultID(time.Now()), Test: measure.TestTCP, Options: options, StartedAt: time.Now()}
	for range 8 {
		s := measure.Stream{}
		for i := range 1000 {
			s.Samples = append(s.Samples, measure.Sample{StartNs: int64(i) * 1e8, EndNs: int64(i+1) * 1e8, ReceivedBytes: 123456789, TCP: &measure.TCPInfo{
				State: "established", Congestion: "cubic", MSS: 1448, CwndSegments: 1000, SsthreshSegs: 700, RTTNs: 1234567, RTTVarNs: 123456, MinRTTNs: 1034567, Retransmits: 12,
				Reordering: 3, SndWndBytes: 6291456, PMTU: 1500, DeliveryBps: 9414123456, PacingBps: 11296123456, BusyNs: 12345678901, UnackedSegs: 900,
			}})
		}
		r.Flows = append(r.Flows, measure.Flow{Streams: []measure.Stream{s}})
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	b = append(append(b[:len(b)-1], members...), '}')
	for _, rec := range []journal.Record{
		{Kind: journal.RecordPlan, Plan: &journal.PlanRecord{Schema: journal.Schema, ID: "c", Name: "c", Text: "campaign: c"}},
		{Kind: journal.RecordTrialFinished, Trial: &plan.TrialKey{Label: "tcp", Round: 1}, Result: new(journal.Document)},
	} {
		if rec.Result != nil {
			if err := json.Unmarshal(b, rec.Result); err != nil {
				t.Fatal(err)
			}
		}
		line, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, line...), '\n')
	}
	return text, len(b)
}

// allocated is how many bytes f allocates.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

func TestALongRecordIsReadWithFewCopies(t *testing.T) {
	for name, c := range map[string]struct {
		members string
		decode  bool
		most    float64 // of the document
	}{
		"looked at":            {"", false, 2.5},
		"decoded":              {"", true, 4},
		"with unknown members": {`,"later":{"n":[1,2,3]}`, true, 4},
	} {
		text, document := longJournal(t, c.members)
		var total int
		n := allocated(func() {
			_, err := journal.Read(bytes.NewReader(text), func(r journal.Record) error {
				if r.Result != nil && c.decode {
					res, err := r.Result.Result()
					if err != nil {
						return err
					}
					total += len(res.Flows)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
		if times := float64(n) / float64(document); times > c.most || c.decode && total != 8 {
			t.Errorf("%s: %d flows of a document of %d bytes, %.1f times as many allocated, want %.1f", name, total, document, times, c.most)
		}
	}
}

package storetest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"soku/internal/measure"
	"soku/internal/store"
)

// tcpDocument is the result of a real TCP trial of 3.4 s.
//
//go:embed tcp.json.zst
var tcpDocument []byte

// Trials are documents of trials between [TrialHosts] hosts: the result of a real TCP trial with other identities, times and ends.
// Of each only the beginning is made, so that a million of them are made in a minute.
type Trials struct {
	first      measure.Result
	rest       []byte // JSON from the options on
	compressed store.Document
}

// Properties of all trials.
const (
	TrialHosts      = 20     // named vm0 and so on; each is client of each, itself among them
	TrialsOfOne     = 10_000 // campaign
	TrialsApart     = time.Second
	trialRestBegins = `,"options":`
)

// NewTrials reads the document that all are made of.
func NewTrials(t testing.TB) *Trials {
	t.Helper()
	r, _ := zstd.NewReader(nil)
	text, err := r.DecodeAll(tcpDocument, nil)
	made := new(Trials)
	if err == nil {
		err = json.Unmarshal(text, &made.first)
	}
	if err == nil {
		text, err = json.Marshal(&made.first)
	}
	if err != nil {
		t.Fatal(err)
	}
	made.rest = text[bytes.Index(text, []byte(trialRestBegins)):]
	made.compressed = Compressed(made.rest)
	return made
}

// ID is the identity of the i-th result.
func (d *Trials) ID(i int) string { return fmt.Sprintf("%012x%08x", i*1000, i*7919) }

// Campaign is the campaign of the i-th result.
func (d *Trials) Campaign(i int) string {
	return fmt.Sprintf("20260102-030405-study-%06d", i/TrialsOfOne)
}

// Client is the client of the i-th result.
func (d *Trials) Client(i int) string { return fmt.Sprintf("vm%d", i%TrialHosts) }

// Server is the server of the i-th result.
func (d *Trials) Server(i int) string { return fmt.Sprintf("vm%d", i/TrialHosts%TrialHosts) }

// StartedAt is when the i-th trial started.
func (d *Trials) StartedAt(i int) time.Time {
	return d.first.StartedAt.Add(time.Duration(i) * TrialsApart)
}

// begin is JSON to the options.
func (d *Trials) begin(i int) []byte {
	path := d.first.Path
	path.Client.Name, path.Server.Name = d.Client(i), d.Server(i)
	head, _ := json.Marshal(struct { // these types have no errors
		Schema    string         `json:"schema"`
		ID        string         `json:"id"`
		Tool      measure.Tool   `json:"tool"`
		Test      measure.Test   `json:"test"`
		Trial     *measure.Trial `json:"trial"`
		StartedAt time.Time      `json:"started_at"`
		Path      measure.Path   `json:"path"`
	}{d.first.Schema, d.ID(i), d.first.Tool, d.first.Test, &measure.Trial{
		Campaign: d.Campaign(i), Pattern: "sku1, zone1", Label: "up", Round: i%100 + 1, Repeat: 1, Order: 1,
		Levels: []measure.Level{{Factor: "sku", Value: fmt.Sprint("sku", i%10)}, {Factor: "zone", Value: fmt.Sprint(i % 3)}},
	}, d.StartedAt(i), path})
	return bytes.TrimSuffix(head, []byte("}"))
}

// Document is the i-th document as an agent sends it.
func (d *Trials) Document(i int) store.Document { return Compressed(append(d.begin(i), d.rest...)) }

// Prepared is the i-th document in two frames of zstd, of which the second is that of all.
func (d *Trials) Prepared(i int) store.Document {
	return append(Compressed(d.begin(i)), d.compressed...)
}

// preparedBatch is how many documents one call of [PutAll] has.
const preparedBatch = 400

// PutAll stores documents by several callers at the same time.
func PutAll(t testing.TB, s store.Store, callers int, documents []store.Document) {
	t.Helper()
	batches := slices.Collect(slices.Chunk(documents, preparedBatch))
	var next atomic.Int64
	var working sync.WaitGroup
	for range callers {
		working.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(batches); i = next.Add(1) - 1 {
				if err := s.PutDocuments(t.Context(), batches[i]...); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	working.Wait()
}

// BenchmarkPutDocuments writes 20,000 documents by several callers at the same time, and reports how many a second:
//
//	go test ./internal/store/... -run '^$' -bench PutDocuments -benchtime 1x
func BenchmarkPutDocuments(b *testing.B, callers int, s store.Store) {
	trials := NewTrials(b)
	documents := make([]store.Document, 20_000)
	runtime.GC()
	for n := range b.N {
		b.StopTimer()
		for i := range documents {
			documents[i] = trials.Prepared(n*len(documents) + i)
		}
		b.StartTimer()
		PutAll(b, s, callers, documents)
	}
	b.ReportMetric(float64(b.N*len(documents))/b.Elapsed().Seconds(), "documents/s")
}

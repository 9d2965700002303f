package storetest

import (
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

// preparedBatch is how many documents one call of the benchmark has.
const preparedBatch = 400

// documentsOfTrials are compressed documents of a campaign's trials between some hosts.
func documentsOfTrials(b *testing.B, n int) (all []store.Document, size int) {
	b.Helper()
	r, _ := zstd.NewReader(nil)
	text, err := r.DecodeAll(tcpDocument, nil)
	var result measure.Result
	if err == nil {
		err = json.Unmarshal(text, &result)
	}
	if err != nil {
		b.Fatal(err)
	}
	start := result.StartedAt
	for i := range n {
		result.ID, result.StartedAt = fmt.Sprintf("%012x%08x", i*1000, i*7919), start.Add(time.Duration(i)*time.Second)
		result.Path.Client.Name, result.Path.Server.Name = fmt.Sprintf("vm%d", i%20), fmt.Sprintf("vm%d", i/20%20)
		result.Trial = &measure.Trial{Campaign: fmt.Sprintf("20260102-030405-study-%06d", i/10_000), Pattern: "sku1, zone1", Label: "up", Round: i%100 + 1, Repeat: 1, Order: 1,
			Levels: []measure.Level{{Factor: "sku", Value: fmt.Sprint("sku", i%10)}, {Factor: "zone", Value: fmt.Sprint(i % 3)}}}
		document, err := json.Marshal(&result)
		if err != nil {
			b.Fatal(err)
		}
		all, size = append(all, Compressed(document)), len(document)
	}
	return all, size
}

// BenchmarkPutDocuments writes 20,000 documents by several callers at the same time, and reports how many a second:
//
//	go test ./internal/store/... -run '^$' -bench PutDocuments -benchtime 1x
func BenchmarkPutDocuments(b *testing.B, callers int, s store.Store) {
	documents, size := documentsOfTrials(b, 20_000)
	b.Logf("documents of %d bytes, compressed %d", size, len(documents[0]))
	runtime.GC()
	b.ResetTimer()
	for range b.N {
		batches := slices.Collect(slices.Chunk(documents, preparedBatch))
		var next atomic.Int64
		var working sync.WaitGroup
		for range callers {
			working.Go(func() {
				for i := next.Add(1) - 1; int(i) < len(batches); i = next.Add(1) - 1 {
					if err := s.PutDocuments(b.Context(), batches[i]...); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		working.Wait()
	}
	b.ReportMetric(float64(b.N*len(documents))/b.Elapsed().Seconds(), "documents/s")
}

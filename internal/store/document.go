package store

import (
	"bytes"
	"context"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"

	"soku/internal/measure"
	"soku/internal/panics"
)

// Document is a result document as its sender wrote it: JSON, or JSON compressed with zstd.
type Document []byte

const (
	// MaxDocument is the largest document that [Store].PutDocuments takes, in bytes without compression.
	MaxDocument = 64 << 20
	// mostStored is the largest document that is read from a store, in bytes without compression.
	mostStored = 256 << 20
	// mostText is the largest identity, name or level of a document from outside, in bytes: an index of
	// PostgreSQL has rows of 2,700.
	mostText = 500
	// mostBuffer is the largest buffer that is kept for the next document, in bytes.
	mostBuffer = 1 << 20
)

var (
	zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

	incoming = sync.OnceValue(func() *zstd.Decoder { return decompressor(MaxDocument) })
	stored   = sync.OnceValue(func() *zstd.Decoder { return decompressor(mostStored) })

	buffers = sync.Pool{New: func() any { return new([]byte) }}
	// decoding has a place for each document that is decoded at the same time, in all stores together.
	decoding = make(chan struct{}, runtime.GOMAXPROCS(0))
)

func decompressor(most uint64) *zstd.Decoder {
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(most)) // only a wrong option is an error
	return d
}

// Compressed reports whether the document is compressed.
func (d Document) Compressed() bool { return bytes.HasPrefix(d, zstdMagic) }

// JSON is the document of a store without compression.
func (d Document) JSON() ([]byte, error) {
	if !d.Compressed() {
		return d, nil
	}
	return stored().DecodeAll(d, nil)
}

// Row is what a store has of one result.
type Row struct {
	Entry
	Levels    []measure.Level
	Endpoints []string // what [Query].Endpoint finds it by
	Document  Document
}

// RowOf is the row of a result, whose document that is. It is for implementations of [Store].
func RowOf(r *measure.Result, d Document) Row {
	row := Row{Entry: EntryOf(r), Endpoints: EndpointNames(r), Document: d}
	if r.Trial != nil {
		row.Levels = r.Trial.Levels
	}
	return row
}

// RowsOf are the rows of results. It is for implementations of [Store], as [DocumentRows] is.
func RowsOf(name string, results []*measure.Result) ([]Row, error) {
	rows := make([]Row, len(results))
	for i, r := range results {
		if r == nil || r.ID == "" {
			return nil, withoutID()
		}
		var document bytes.Buffer
		if err := r.WriteJSON(&document); err != nil {
			return nil, measure.Fail(measure.KindStore, "store.write_result", measure.Figures{"result": r.ID, "store": name, "cause": err})
		}
		rows[i] = RowOf(r, bytes.TrimSuffix(document.Bytes(), []byte("\n")))
	}
	return rows, nil
}

// DocumentRows decodes documents on all processors, at most as many at a time as there are processors in
// all calls together. Its goroutines have ended when it returns.
func DocumentRows(ctx context.Context, documents []Document) ([]Row, error) {
	return rowsBy(ctx, documents, Document.row)
}

// StoredRows does so with documents of another store, which may be larger than those from outside.
func StoredRows(ctx context.Context, documents []Document) ([]Row, error) {
	return rowsBy(ctx, documents, func(d Document) (Row, error) {
		text, err := d.JSON()
		if err != nil {
			return Row{}, err
		}
		var r measure.Result
		err = measure.UnmarshalFigures(text, &r)
		return RowOf(&r, d), err
	})
}

func rowsBy(ctx context.Context, documents []Document, decode func(Document) (Row, error)) ([]Row, error) {
	rows, failed := make([]Row, len(documents)), make([]error, len(documents))
	var working panics.Group
	for i, d := range documents {
		select {
		case decoding <- struct{}{}:
		case <-ctx.Done():
			working.Wait()
			return nil, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
		}
		working.Go(func() {
			defer func() { <-decoding }()
			rows[i], failed[i] = decode(d)
		})
	}
	working.Wait()
	for i, err := range failed {
		if err != nil {
			return nil, measure.Fail(measure.AsError(err, measure.KindFile).Kind, "store.document", measure.Figures{"number": i + 1, "cause": err})
		}
	}
	return rows, nil
}

// row decodes a document once and keeps only its columns.
func (d Document) row() (Row, error) {
	text := []byte(d)
	if d.Compressed() {
		buffer := buffers.Get().(*[]byte)
		defer func() {
			if cap(*buffer) <= mostBuffer {
				buffers.Put(buffer)
			}
		}()
		var err error
		if *buffer, err = incoming().DecodeAll(d, (*buffer)[:0]); err != nil {
			return Row{}, err
		}
		text = *buffer
	}
	if len(text) > MaxDocument {
		return Row{}, zstd.ErrDecoderSizeExceeded
	}
	var r measure.Result
	if err := measure.UnmarshalFigures(text, &r); err != nil {
		return Row{}, err
	}
	if r.ID == "" {
		return Row{}, withoutID()
	}
	row := RowOf(&r, d)
	return row, row.checkTexts()
}

// checkTexts refuses texts that the index of a database cannot hold.
func (r Row) checkTexts() error {
	texts := append([]string{r.ID, r.Client, r.Server, r.Campaign}, r.Endpoints...)
	for _, l := range r.Levels {
		texts = append(texts, l.Factor, l.Value)
	}
	for _, t := range texts {
		if len(t) > mostText {
			return measure.Fail(measure.KindFile, "store.document_text", measure.Figures{"bytes": len(t), "limit": mostText})
		}
	}
	return nil
}

package store

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"time"

	"soku/internal/measure"
)

// Store keeps whole result documents and the campaigns they belong to.
//
// All methods may be called from several goroutines and, for one file, from
// several processes at the same time. A method that changes something returns when its
// change is on disk; one that reads sees every change that was complete when it
// was called. Ending ctx makes a method return early; then a change is either
// whole or absent.
//
// A store that finds another writer at work waits for it as long as the
// implementation says (sqlite.BusyTimeout) and then fails with kind store. It
// does not repeat a call after any other error. The caller may, and this is always
// safe, since Put and PutCampaign may be repeated.
//
// Every error is a [measure.Error]:
//
//   - kind not_found: nothing with that identity is stored ([NoResult],
//     [NoCampaign]). An empty list is no error;
//   - kind usage: a value cannot be stored (a result without an ID), or a query
//     cannot be answered (a cursor that no page gave, a negative limit);
//   - kind file: a document cannot be stored;
//   - kind refused: another result has that identity ([Conflict]);
//   - kind store: the store cannot be read or written (disk full, damaged file,
//     locked for too long, closed). What was stored before is not affected;
//   - kind interrupted: ctx ended.
type Store interface {
	// Put stores results under their IDs, all of them or none. Results do not
	// change: putting a result that is already there does nothing and is no error, so
	// that a journal can be written again as often as one likes. An ID that is already
	// there with another document is a conflict ([IsConflict]): the stored one stays.
	// Members of the document that this version does not know are kept.
	Put(ctx context.Context, results ...*measure.Result) error
	// PutDocuments stores documents as Put stores results, and keeps their bytes. It decodes of each what
	// [measure.UnmarshalFigures] reads; the rest is kept unread, and found damaged by who reads it. A document that
	// cannot be stored has an error of kind file with its number in the call, from 1: it is not JSON of this
	// schema, it has more than [MaxDocument] bytes without compression, or one of its names is too long for an index.
	PutDocuments(ctx context.Context, documents ...Document) error
	// Get returns the result with exactly that ID.
	Get(ctx context.Context, id string) (*measure.Result, error)
	// Delete removes the results with exactly these IDs, all of them or none, and returns
	// how many there were. An ID that no result has is no error. Campaigns stay, and so do
	// the journals from which a resumed campaign puts its results back.
	Delete(ctx context.Context, ids []string) (int, error)
	// DeleteBefore removes the results that started before a time, the earliest first, and returns how many there
	// were, also with an error. It removes thousands at a time: if it ends early, the latest of them stay.
	DeleteBefore(ctx context.Context, t time.Time) (int, error)
	// Missing returns those of the IDs that no stored result has, in the order in
	// which they were given. With it a campaign that is resumed finds out which
	// results of its journal are missing from the store without reading any document.
	Missing(ctx context.Context, ids []string) ([]string, error)
	// List returns a page of what the query selects, without reading documents.
	List(ctx context.Context, q Query) (Page[Entry], error)
	// Series returns a page of the figures with these keys of what the query selects, without reading documents.
	Series(ctx context.Context, q Query, keys ...string) (Page[Point], error)
	// Newest returns a page of the newest results of the pairs that the query selects, one a pair, in the order of
	// their clients and servers.
	Newest(ctx context.Context, q PairQuery) (Page[Entry], error)
	// Count returns how many results the query selects; After and Limit of the
	// query do not matter.
	Count(ctx context.Context, q Query) (int, error)
	// Results returns the documents of what the query selects, one after another
	// and in the query's order, with as much of each as detail says. The store
	// holds a bounded number of them at a time, whatever the query selects. An
	// error is the last element, with a nil result. Inside the loop other methods
	// may be called; whether the loop sees what they change is not said. The loop
	// may keep resources of the store until it ends.
	Results(ctx context.Context, q Query, detail Detail) iter.Seq2[*measure.Result, error]

	// PutCampaign stores c under its ID and replaces what was there.
	PutCampaign(ctx context.Context, c Campaign) error
	// Campaign returns the campaign with exactly that ID.
	Campaign(ctx context.Context, id string) (Campaign, error)
	// DeleteCampaign removes the campaign with exactly that ID and every result that
	// names it as its own, all of them or nothing, and returns how many results there
	// were. A campaign that is not there is no error.
	DeleteCampaign(ctx context.Context, id string) (results int, err error)
	// Campaigns returns a page of the campaigns that the query selects, the
	// latest start first.
	Campaigns(ctx context.Context, q CampaignQuery) (Page[Campaign], error)

	// Name is what messages call the store, such as the path of its file.
	Name() string
	// Close ends the store. Methods called after it return kind store; a second
	// Close does nothing.
	Close() error
}

// Detail says how much of a document [Store.Results] returns.
type Detail int

// The values of Detail.
const (
	// Whole is the document as it was put.
	Whole Detail = iota
	// WithoutRows is the document without the rows of its round trips and the series of its
	// hosts, as [measure.UnmarshalWithoutRows] reads it. It must not be put again.
	WithoutRows
	// Outline is the document without its samples, streams and histograms, as
	// [measure.UnmarshalOutline] reads it. It must not be put again.
	Outline
)

// Decode reads the parts of a document that d includes. It is for implementations of [Store].
func (d Detail) Decode(document []byte) (*measure.Result, error) {
	r := new(measure.Result)
	switch d {
	case Outline:
		return r, measure.UnmarshalOutline(document, r)
	case WithoutRows:
		return r, measure.UnmarshalWithoutRows(document, r)
	}
	return r, r.UnmarshalJSON(document) // json.Unmarshal would read it twice more
}

// NoResult is the error for an ID that no result has in the store of that name.
func NoResult(name, id string) *measure.Error {
	return measure.Fail(measure.KindNotFound, "store.no_result", measure.Figures{"result": id, "store": name})
}

// Conflict returns an error if a document differs in its content from the one that is stored under its ID in
// the store of that name.
func Conflict(name, id string, given, there Document) error {
	if bytes.Equal(given, there) {
		return nil
	}
	one, err := given.JSON()
	if err != nil {
		return err
	}
	other, err := there.JSON()
	if err != nil || bytes.Equal(one, other) {
		return err
	}
	a, err := Whole.Decode(one)
	if err != nil {
		return err
	}
	b, err := Whole.Decode(other)
	if err != nil {
		return err
	}
	if same, err := equal(a, b); err != nil || same {
		return err
	}
	return measure.Fail(measure.KindRefused, codeConflict, measure.Figures{"result": id, "store": name})
}

const codeConflict = "store.conflict"

// IsConflict reports whether an error is that of [Conflict].
func IsConflict(err error) bool {
	var e *measure.Error
	return errors.As(err, &e) && e.Code == codeConflict
}

// NoCampaign is the error for an ID that no campaign has in the store of that name.
func NoCampaign(name, id string) *measure.Error {
	return measure.Fail(measure.KindNotFound, "store.no_campaign", measure.Figures{"campaign": id, "store": name})
}

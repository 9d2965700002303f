package store

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"soku/internal/measure"
)

// Query selects results: those that every member which is set applies to. The
// zero value selects all. Results come with the latest start first, or the
// earliest where OldestFirst is set; results that started at the same time come
// in the order of their IDs, turned round with it.
type Query struct {
	IDPrefix string       // the ID begins so
	Campaign string       // ID of their campaign
	ByHand   bool         // those that belong to no campaign
	Test     measure.Test // kind of test
	// Endpoint is the client or the server, by its name, by its name and the label
	// of its address ("vm.vlan"), or by its address.
	Endpoint       string
	Client, Server string // [Entry].Client and Server; with both, an index selects the pair
	// Levels selects patterns in which each of these factors has this level.
	Levels []measure.Level
	Since  time.Time // started at this time or later
	Until  time.Time // started before this time

	OldestFirst bool
	After       Cursor // go on behind this place; empty: from the first
	Limit       int    // largest number of rows; 0: no limit
}

// CampaignQuery selects campaigns: those that every member which is set applies
// to. The zero value selects all.
type CampaignQuery struct {
	IDPrefix string // the ID begins so
	Name     string // name in the plan

	After Cursor // go on behind this place; empty: from the first
	Limit int    // largest number of rows; 0: no limit
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T
	// Next is where the next page begins: [Query.After] of the same query. It is
	// empty where this page ends the list.
	Next Cursor
}

// PageOf makes a page of at most limit items, 0 for all, out of the first items of
// a list: one more than limit if there are as many, which shows that a page
// follows. It is for implementations of [Store].
func PageOf[T any](items []T, limit int, at func(T) Cursor) Page[T] {
	if limit == 0 || len(items) <= limit {
		return Page[T]{Items: items}
	}
	return Page[T]{Items: items[:limit], Next: at(items[limit-1])}
}

// Cursor is the place of the entry in a list of results.
func (e Entry) Cursor() Cursor { return CursorAt(e.StartedAt, e.ID) }

// Cursor is the place of the campaign in a list of campaigns.
func (c Campaign) Cursor() Cursor { return CursorAt(c.StartedAt, c.ID) }

// Cursor is a place in a list of results or campaigns. It is text, so that it can
// travel in a URL; what it holds may change. It stays valid while results are
// added: those in front of it are not seen any more, those behind it are.
type Cursor string

// CursorAt is the place of what started at that time and has that ID. It is for
// implementations of [Store].
func CursorAt(start time.Time, id string) Cursor {
	return Cursor(base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(Nanos(start), 36) + " " + id)))
}

// Position is what [CursorAt] made the cursor of, the time as [Nanos]. The error
// is of kind usage.
func (c Cursor) Position() (start int64, id string, err error) {
	b, err := base64.RawURLEncoding.DecodeString(string(c))
	text, id, found := strings.Cut(string(b), " ")
	if err == nil && found {
		start, err = strconv.ParseInt(text, 36, 64)
	}
	if err != nil || !found {
		return 0, "", measure.Fail(measure.KindUsage, "store.cursor", measure.Figures{"cursor": c})
	}
	return start, id, nil
}

// Nanos is how stores keep and order a time: ns since 1970. The zero time, which
// is outside the range of int64, is 0.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Moment is the time, in UTC, that [Nanos] made ns of.
func Moment(ns int64) time.Time {
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns).UTC()
}

// Package store keeps results and campaigns. It has one interface, [Store],
// one embedded implementation on SQLite, [OpenSQLite], and one conformance
// suite that every implementation passes, package storetest.
//
// A store is where results are looked up, not where they are safest: while a
// campaign runs, its journal (package campaign) is written first and fills the
// store again after a loss.
//
// The package starts no goroutines beyond those of database/sql, which end with Close.
package store

import (
	"context"
	"time"

	"soku/internal/measure"
)

// Store keeps whole result documents and the campaigns they belong to.
//
// All methods may be called from several goroutines and, for one file, from
// several processes at once; a writer that finds another one waits for it up to
// [BusyTimeout]. A method returns when its change is on disk. Ending ctx makes
// a method return early; then the change is either whole or absent.
//
// Every error is a [measure.Error]:
//
//   - kind not_found: nothing with that identity is stored;
//   - kind usage: an abbreviated identity fits several things, or a value cannot
//     be stored (a result without an ID);
//   - kind store: the store cannot be read or written (disk full, damaged file,
//     locked for too long, closed). What was stored before is not affected;
//   - kind interrupted: ctx ended.
type Store interface {
	// Put stores a result under its ID. Results do not change: putting an ID
	// that is already there does nothing and is no error, so that a journal can
	// be poured in as often as one likes. Members of the document that this
	// version does not know are kept.
	Put(ctx context.Context, r *measure.Result) error
	// Get returns the result with that ID, or whose ID alone begins with the
	// given text (at least [MinPrefix] characters), or for "last" the one that
	// started last.
	Get(ctx context.Context, id string) (*measure.Result, error)
	// Missing returns those of the IDs that no stored result has, in the order in
	// which they were given. With it a campaign that goes on finds out which
	// results of its journal the store lacks without reading any document.
	Missing(ctx context.Context, ids []string) ([]string, error)
	// List returns what [Query] selects, the latest start first.
	List(ctx context.Context, q Query) ([]Entry, error)

	// PutCampaign stores c under its ID and replaces what was there.
	PutCampaign(ctx context.Context, c Campaign) error
	// Campaign returns the campaign with that ID, or the newest with that name,
	// or the one whose ID alone begins with the text, or for "last" the newest
	// of all. They are tried in this order.
	Campaign(ctx context.Context, id string) (Campaign, error)
	// Campaigns returns all campaigns, the latest start first.
	Campaigns(ctx context.Context) ([]Campaign, error)
	// CampaignResults returns every result of the campaign with that full ID in
	// order of round, order, repeat and start; an empty slice if there is none.
	CampaignResults(ctx context.Context, campaignID string) ([]*measure.Result, error)

	// Close ends the store. Methods called after it return kind store; a second
	// Close does nothing.
	Close() error
}

// MinPrefix is the shortest abbreviation of an identity that is looked up.
const MinPrefix = 4

// BusyTimeout is how long a method waits for another process that writes.
const BusyTimeout = 10 * time.Second

// Last is the identity that stands for the newest result or campaign.
const Last = "last"

// Entry is one line of the history: a result without its samples.
type Entry struct {
	ID        string       `json:"id"`
	StartedAt time.Time    `json:"started_at"`
	Test      measure.Test `json:"test"`
	Client    string       `json:"client"`
	Server    string       `json:"server"`
	Campaign  string       `json:"campaign,omitempty"` // identity
	Pattern   string       `json:"pattern,omitempty"`
	Headline  string       `json:"headline"`        // as [Headline] writes it
	Error     string       `json:"error,omitempty"` // message, empty for a trial that succeeded
}

// Query selects results. The zero value selects all.
type Query struct {
	Test     measure.Test
	Campaign string // full identity
	Limit    int    // at most this many; 0 for all
}

// Campaign is what the store knows of a campaign beside its results.
type Campaign struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Title      string    `json:"title,omitempty"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at,omitzero"` // zero while trials are left
	Plan       string    `json:"plan"`                 // YAML text as it was read
	Seed       int64     `json:"seed"`
	Patterns   int       `json:"patterns"`
	Trials     int       `json:"trials"` // planned
	Done       int       `json:"done"`   // with a result, failed ones included
	Failed     int       `json:"failed"` // whose newest result is an error
}

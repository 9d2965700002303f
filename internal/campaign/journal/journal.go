package journal

import (
	"io"
	"path/filepath"
	"strings"

	"soku/internal/measure"
)

// Backend is a place that keeps the journals of campaigns: [Folder] on a disk,
// [Memory] for tests. Its methods may be called by several goroutines and, where
// processes share the place, by several processes simultaneously.
//
// An error is a [measure.Error] of kind
//
//   - not_found: no campaign has that identity, or no campaign can have it: an identity
//     may come from a file that somebody else wrote, and must be a plain file name that
//     does not begin with a point;
//   - refused: another process, or another opener in this one, holds the campaign;
//   - store: the journal cannot be read or written; what was appended before is
//     not affected.
type Backend interface {
	// Name is where they are, for messages.
	Name() string
	// IDs are the identities of all campaigns in ascending order, which is that of
	// their beginning.
	IDs() ([]string, error)
	// Number takes a number for a campaign that begins. It is higher than those of all
	// campaigns that were begun or adopted here, and no other call returns it.
	Number() (int, error)
	// Create begins the journal of a new campaign and holds it.
	Create(id string) (Journal, Lock, error)
	// Open holds a campaign to go on with its journal, and gives every record to
	// visit from the first on, as Journal.Read does. A record that was cut off while
	// it was written is dropped.
	Open(id string, visit func(Record) error) (Journal, Lock, error)
	// Read visits the records of a campaign without holding it, also while another
	// process writes. It returns visit's error.
	Read(id string, visit func(Record) error) error
	// Adopt copies the whole records of a journal from elsewhere, so that the campaign can
	// be resumed here. If the campaign has a journal already, that one stays and adopted is
	// false.
	Adopt(id string, journal io.Reader) (adopted bool, err error)
	// Remove deletes the journal of a campaign that nothing holds.
	Remove(id string) error
}

// CheckIdentity returns an error of kind not_found for an identity that no campaign can have. It is for
// implementations of [Backend].
func CheckIdentity(id, place string) error {
	if !filepath.IsLocal(id) || filepath.Base(id) != id || strings.HasPrefix(id, ".") {
		return UnknownCampaign(id, place)
	}
	return nil
}

// Journal is the append-only record of one campaign. It is used by one goroutine
// at a time.
type Journal interface {
	// Append adds records. When it returns nil they last, whatever happens to this
	// process or its machine; after an error none of them is in the journal. A kill
	// meanwhile may leave the first of them, each whole. Where a lock can be lost,
	// as a lease can, Append refuses after that.
	Append(records ...Record) error
	// Read visits all records from the first on, and returns visit's error.
	Read(visit func(Record) error) error
	// Name is where the journal is, for messages.
	Name() string
	// Close ends the use of the journal. All that was appended lasts already.
	Close() error
}

// Lock is the right to append to a campaign's journal, which one opener has at a
// time. It ends with the process, however that ends.
type Lock interface {
	Release() error
}

// UnknownCampaign is the error for an identity that is not in a place.
func UnknownCampaign(id, place string) error {
	return measure.Fail(measure.KindNotFound, "campaign.not_found", measure.Figures{"campaign": id, "place": place})
}

package campaign

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"soku/internal/campaign/journal"
	"soku/internal/measure"
	"soku/internal/store"
)

// inOrder lists the first records of the journals whose identities have that name in
// them, in the order in which the campaigns were begun. Journals without one, and what is
// no journal, are passed over.
func inOrder(in journal.Backend, name string) ([]journal.PlanRecord, error) {
	ids, err := in.IDs()
	if err != nil {
		return nil, err
	}
	var out []journal.PlanRecord
	for _, id := range ids {
		if !strings.Contains(id, name) {
			continue
		}
		_ = in.Read(id, func(r journal.Record) error {
			if r.Plan != nil {
				out = append(out, *r.Plan)
			}
			return journal.ErrEnough
		})
	}
	slices.SortStableFunc(out, func(a, b journal.PlanRecord) int { return a.Number - b.Number })
	return out, nil
}

// Newest are the identities of the campaigns with that name, of all if it is empty, the one
// that was begun last first, whatever the clock said.
func Newest(in journal.Backend, name string) ([]string, error) {
	begun, err := inOrder(in, name)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, b := range slices.Backward(begun) {
		if name == "" || b.Name == name {
			out = append(out, b.ID)
		}
	}
	return out, nil
}

// FindID returns the full identity of the campaign that id means: an identity,
// the beginning of one, or "last" for the newest. The error is of kind not_found,
// usage if several campaigns begin like that, or store if the journal cannot be read.
func FindID(in journal.Backend, id string) (string, error) {
	begun, err := inOrder(in, "")
	if err != nil {
		return "", err
	}
	ids := make([]string, len(begun))
	for i, b := range begun {
		ids[i] = b.ID
	}
	found, err := store.MatchID(id, ids)
	if err == nil && found == "" {
		err = cmp.Or(Unreadable(in, func(other string) bool {
			match, _ := store.MatchID(id, []string{other})
			return match != ""
		}), journal.UnknownCampaign(id, in.Name()))
	}
	return found, err
}

// Unreadable returns why the newest journal that has no plan which this version reads, and whose
// identity is wanted, cannot be read: an error of kind store. It returns nil if there is no such
// journal.
func Unreadable(in journal.Backend, wanted func(id string) bool) error {
	ids, err := in.IDs()
	if err != nil {
		return err
	}
	for _, id := range slices.Backward(ids) {
		if !wanted(id) {
			continue
		}
		planned := false
		err := in.Read(id, func(r journal.Record) error {
			planned = r.Plan != nil
			return journal.ErrEnough
		})
		if !planned && (err == nil || errors.Is(err, journal.ErrEnough)) {
			err = journal.Failure("journal.read", journal.File(filepath.Join(in.Name(), id)), measure.Fail(measure.KindStore, "journal.no_plan", nil))
		}
		if !planned && measure.KindOf(err) == measure.KindStore {
			return err
		}
	}
	return nil
}

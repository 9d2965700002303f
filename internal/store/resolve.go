package store

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"soku/internal/measure"
)

// Last is the text that stands for the newest result or campaign, and last~1 for the one before
// it.
const Last = "last"

// BeforeLast reads [Last] and what stands for those before it: 1 for last~1. ok is
// false for another text.
func BeforeLast(text string) (before int, ok bool) {
	number, found := strings.CutPrefix(text, Last+"~")
	if !found {
		return 0, text == Last
	}
	n, err := strconv.ParseUint(number, 10, 16)
	return int(n), err == nil
}

// MinPrefix is the shortest abbreviation of an identity that is looked up, in bytes.
const MinPrefix = 4

// mostNamed is how many identities a message names that an abbreviation fits.
const mostNamed = 4

// FindResult returns the result that a person means by text: for [Last] the one
// that started last, for what [BeforeLast] reads one before it, otherwise the one with that ID, otherwise the only one whose ID
// begins with the text, if it has at least [MinPrefix] bytes. It fails if the store
// fails, and with kind usage if several IDs begin with the text.
func FindResult(ctx context.Context, s Store, text string) (*measure.Result, error) {
	if before, ok := BeforeLast(text); ok {
		newest, err := s.List(ctx, Query{Limit: before + 1})
		switch {
		case err != nil:
			return nil, err
		case len(newest.Items) == 0:
			return nil, measure.Fail(measure.KindNotFound, "store.no_results", measure.Figures{"store": s.Name()})
		case len(newest.Items) > before:
			text = newest.Items[before].ID
		}
		return s.Get(ctx, text)
	}
	r, err := s.Get(ctx, text)
	if measure.KindOf(err) != measure.KindNotFound || len(text) < MinPrefix {
		return r, err
	}
	page, lerr := s.List(ctx, Query{IDPrefix: text, Limit: mostNamed})
	if lerr != nil {
		return nil, lerr
	}
	id, lerr := MatchID(text, identities(page.Items, func(e Entry) string { return e.ID }))
	if lerr != nil || id == "" {
		return nil, firstError(lerr, err)
	}
	return s.Get(ctx, id)
}

// FindCampaign returns the campaign that a person means by text: the one that
// [FindNamedCampaign] finds, otherwise for [Last] the newest of all, or one before it, otherwise the
// only one whose ID begins with the text, if it has at least [MinPrefix] bytes. It
// fails as [FindResult] does.
func FindCampaign(ctx context.Context, s Store, text string) (Campaign, error) {
	c, err := FindNamedCampaign(ctx, s, text)
	if measure.KindOf(err) != measure.KindNotFound {
		return c, err
	}
	if before, ok := BeforeLast(text); ok {
		newest, lerr := s.Campaigns(ctx, CampaignQuery{Limit: before + 1})
		switch {
		case lerr != nil:
			return Campaign{}, lerr
		case len(newest.Items) == 0:
			return Campaign{}, measure.Fail(measure.KindNotFound, "store.no_campaigns", measure.Figures{"store": s.Name()})
		case len(newest.Items) > before:
			return newest.Items[before], nil
		}
		return Campaign{}, err
	}
	if len(text) < MinPrefix {
		return Campaign{}, err
	}
	page, lerr := s.Campaigns(ctx, CampaignQuery{IDPrefix: text, Limit: mostNamed})
	if lerr != nil {
		return Campaign{}, lerr
	}
	id, lerr := MatchID(text, identities(page.Items, func(c Campaign) string { return c.ID }))
	if lerr != nil || id == "" {
		return Campaign{}, firstError(lerr, err)
	}
	return s.Campaign(ctx, id)
}

// FindNamedCampaign returns the campaign with that ID, otherwise the newest with
// that name. A name has priority over an abbreviated ID. It fails if the store
// fails.
func FindNamedCampaign(ctx context.Context, s Store, text string) (Campaign, error) {
	c, err := s.Campaign(ctx, text)
	if measure.KindOf(err) != measure.KindNotFound || text == "" {
		return c, err
	}
	named, lerr := s.Campaigns(ctx, CampaignQuery{Name: text, Limit: 1})
	if lerr != nil {
		return Campaign{}, lerr
	}
	if len(named.Items) == 0 {
		return Campaign{}, err
	}
	return named.Items[0], nil
}

// MatchID returns which of some identities a person means by text: the one that is
// the same, for [Last] the last of them, or one before it, otherwise the only one that begins with the
// text, if it has at least [MinPrefix] bytes, or an empty string if there is none. If
// several begin with the text, the error has kind usage and names some of them.
func MatchID(text string, ids []string) (string, error) {
	if slices.Contains(ids, text) {
		return text, nil
	}
	if before, ok := BeforeLast(text); ok && before < len(ids) {
		return ids[len(ids)-1-before], nil
	}
	var found []string
	for _, id := range ids {
		if len(text) >= MinPrefix && strings.HasPrefix(id, text) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	}
	return "", measure.Fail(measure.KindUsage, "store.ambiguous", measure.Figures{"text": text, "found": found[:min(len(found), mostNamed)]})
}

// identities are those of the elements of a list.
func identities[T any](list []T, identity func(T) string) []string {
	var ids []string
	for _, e := range list {
		ids = append(ids, identity(e))
	}
	return ids
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

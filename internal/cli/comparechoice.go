package cli

import (
	"context"
	"strings"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
	"soku/internal/publish"
	"soku/internal/report"
	"soku/internal/store"
)

// findChoice is what a person means by an argument of soku compare.
func findChoice(ctx context.Context, sys *System, s store.Store, text string) (*report.Choice, error) {
	name, levels, selected := cutSelection(text)
	only, err := parseLevels(levels)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "cli.compare.selection", measure.Figures{"choice": text, "cause": err})
	}
	byHand, err := lastByHand(ctx, s, name)
	if err != nil {
		return nil, err
	}
	if selected || !byHand {
		c, err := findCampaign(ctx, sys, s, name)
		switch {
		case err == nil:
			known, err := knownLimits(sys, "")()
			if err != nil {
				return nil, err
			}
			return publish.Choice(ctx, known, s, c, text, only)
		case measure.KindOf(err) != measure.KindNotFound:
			return nil, err
		case selected && !isFile(sys, text):
			return nil, unknownChoice(ctx, s, name, true)
		}
	}
	r, err := store.FindResult(ctx, s, name)
	switch {
	case err == nil:
		choice := report.NewChoice(text, nil)
		choice.Add(r)
		return choice, nil
	case measure.KindOf(err) != measure.KindNotFound || name == store.Last:
		return nil, err
	case isFile(sys, text):
		return fileChoice(sys, text)
	}
	return nil, unknownChoice(ctx, s, name, false)
}

// cutSelection separates a campaign from the levels of its patterns.
func cutSelection(text string) (name, levels string, selected bool) {
	name, levels, selected = strings.Cut(text, ":")
	if !selected || !strings.Contains(levels, "=") {
		return text, "", false
	}
	return name, levels, true
}

// parseLevels reads FACTOR=LEVEL,FACTOR=LEVEL. A part without an equals sign is one more
// level of the factor before it.
func parseLevels(text string) (plan.Selection, error) {
	if text == "" {
		return nil, nil
	}
	var texts []string
	for part := range strings.SplitSeq(text, ",") {
		if n := len(texts); n > 0 && !strings.Contains(part, "=") {
			texts[n-1] += "," + part
			continue
		}
		texts = append(texts, part)
	}
	return plan.ParseSelection(texts)
}

// lastByHand reports whether a text stands for the last result and that belongs to no
// campaign.
func lastByHand(ctx context.Context, s store.Store, text string) (bool, error) {
	if text != store.Last {
		return false, nil
	}
	page, err := s.List(ctx, store.Query{Limit: 1})
	return err == nil && (len(page.Items) == 0 || page.Items[0].Campaign == ""), err
}

// unknownChoice is the failure of a name that no campaign has, and no result unless only
// campaigns can be meant.
func unknownChoice(ctx context.Context, s store.Store, name string, campaigns bool) error {
	var known []string
	if page, err := s.Campaigns(ctx, store.CampaignQuery{}); err == nil {
		for _, c := range page.Items {
			known = append(known, c.Name, c.ID)
		}
	}
	if campaigns {
		return publish.WithSimilar(measure.Fail(measure.KindNotFound, "cli.compare.no_campaign", measure.Figures{"name": name, "store": s.Name()}), name, known)
	}
	if page, err := s.List(ctx, store.Query{Limit: mostCompleted}); err == nil {
		for _, e := range page.Items {
			known = append(known, e.ID)
		}
	}
	return publish.WithSimilar(measure.Fail(measure.KindNotFound, "cli.compare.unknown", measure.Figures{"name": name, "store": s.Name()}), name, known)
}

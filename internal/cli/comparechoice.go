package cli

import (
	"context"
	"slices"
	"strings"

	"soku/internal/campaign"
	"soku/internal/measure"
	"soku/internal/report"
	"soku/internal/store"
	"soku/internal/yamlfile"
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
			return campaignChoice(ctx, sys, s, c, text, only)
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
func parseLevels(text string) (campaign.Selection, error) {
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
	return campaign.ParseSelection(texts)
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

// campaignChoice has the results of a campaign whose patterns have some levels. A factor
// that sets nothing in a test does not select there.
func campaignChoice(ctx context.Context, sys *System, s store.Store, c store.Campaign, name string, only campaign.Selection) (*report.Choice, error) {
	known, err := knownLimits(sys, "")()
	if err != nil {
		return nil, err
	}
	choice := report.NewChoice(name, nil)
	if plan, err := campaign.ParseRecorded("", []byte(c.Plan)); err == nil {
		d := designOf(plan, known)
		choice.Unvaried, choice.Practical, choice.Limits, choice.Until = plan.Unvaried(), d.Practical, d.Limits, d.Until
	}
	unvaried := choice.Unvaried
	seen := levelSet{}
	for r, err := range s.Results(ctx, store.Query{Campaign: c.ID, OldestFirst: true}, store.WithoutRows) {
		if err != nil {
			return nil, err
		}
		if r.Trial == nil {
			continue
		}
		seen.add(r.Trial.Levels)
		here := slices.DeleteFunc(slices.Clone(only), func(e yamlfile.Entry[[]string]) bool { return slices.Contains(unvaried[r.Trial.Label], e.Name) })
		if here.Matches(r.Trial.Levels) {
			choice.Add(r)
		}
	}
	if err := seen.check(c, only); err != nil {
		return nil, err
	}
	if len(choice.Results) == 0 && len(only) > 0 {
		return nil, measure.Fail(measure.KindUsage, "cli.compare.no_pattern", measure.Figures{"choice": name, "campaign": c.Name})
	}
	return choice, nil
}

// levelSet is the levels that results have, by factor.
type levelSet yamlfile.Ordered[[]string]

func (l *levelSet) add(levels []measure.Level) {
	for _, v := range levels {
		i := slices.IndexFunc(*l, func(e yamlfile.Entry[[]string]) bool { return e.Name == v.Factor })
		if i < 0 {
			i = len(*l)
			*l = append(*l, yamlfile.Entry[[]string]{Name: v.Factor})
		}
		if e := &(*l)[i]; !slices.Contains(e.Value, v.Value) {
			e.Value = append(e.Value, v.Value)
		}
	}
}

// check is why results of a campaign cannot be selected so: a factor or a level that none
// has.
func (l *levelSet) check(c store.Campaign, only campaign.Selection) error {
	names := yamlfile.Ordered[[]string](*l)
	for _, e := range only {
		levels, known := names.Get(e.Name)
		if !known {
			err := measure.Fail(measure.KindUsage, "cli.compare.no_factor", measure.Figures{"campaign": c.Name, "factor": e.Name, "factors": names.Names()})
			return nearest(err, e.Name, names.Names())
		}
		for _, level := range e.Value {
			if !slices.Contains(levels, level) {
				err := measure.Fail(measure.KindUsage, "cli.compare.no_level", measure.Figures{"campaign": c.Name, "factor": e.Name, "level": level, "levels": levels})
				return nearest(err, level, levels)
			}
		}
	}
	return nil
}

// nearest has the hint which of the known names was meant, if one is near.
func nearest(err *measure.Error, name string, known []string) error {
	if near := yamlfile.Nearest(name, known); near != "" {
		return err.WithHintCode("similar_choice", measure.Figures{"near": near})
	}
	return err
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
		return nearest(measure.Fail(measure.KindNotFound, "cli.compare.no_campaign", measure.Figures{"name": name, "store": s.Name()}), name, known)
	}
	if page, err := s.List(ctx, store.Query{Limit: mostCompleted}); err == nil {
		for _, e := range page.Items {
			known = append(known, e.ID)
		}
	}
	return nearest(measure.Fail(measure.KindNotFound, "cli.compare.unknown", measure.Figures{"name": name, "store": s.Name()}), name, known)
}

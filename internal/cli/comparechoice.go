package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/campaign/plan"
	"soku/internal/ingest"
	"soku/internal/measure"
	"soku/internal/printable"
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
		choice.Single = true
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

// lastByHand reports whether a text stands for the last result, or one before it, and that belongs
// to no campaign.
func lastByHand(ctx context.Context, s store.Store, text string) (bool, error) {
	before, ok := store.BeforeLast(text)
	if !ok {
		return false, nil
	}
	page, err := s.List(ctx, store.Query{Limit: before + 1})
	return err == nil && (len(page.Items) <= before || page.Items[before].Campaign == ""), err
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

// isFile reports whether a text is the path of a file that exists.
func isFile(sys *System, text string) bool {
	info, err := sys.Stat(text)
	return err == nil && !info.IsDir()
}

// fileChoice has the results in a file: documents of soku, or the output of another program.
// What belongs to no campaign ran one after another, so each is a round of a session of the
// file's own.
func fileChoice(sys *System, path string) (*report.Choice, error) {
	data, modified, err := readBounded(sys, path)
	if err != nil {
		return nil, err
	}
	source, err := ingest.NewSource(path, data, modified)
	if err != nil {
		return nil, err
	}
	results, err := ingest.Read(source)
	if err != nil {
		return nil, err
	}
	choice := report.NewChoice(path, nil)
	choice.Single = len(results) == 1
	for i, r := range results {
		if r.Trial == nil {
			r.Trial = &measure.Trial{Campaign: path, Label: string(r.Test), Round: i + 1, Repeat: 1, Levels: []measure.Level{}}
		}
		if r.ID == "" {
			r.ID = fmt.Sprintf("%s %d", path, i+1)
		}
		choice.Add(r)
	}
	return choice, nil
}

// completeChoices offers what soku compare takes: campaigns by name and identity, the levels
// of their patterns after a colon, and results.
func completeChoices(sys *System, file *string) completer {
	return func(cmd *cobra.Command, _ []string, word string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		if name, levels, selected := strings.Cut(word, ":"); selected {
			return completeLevels(cmd, sys, *file, name, levels), directive | cobra.ShellCompDirectiveNoSpace
		}
		withStore(cmd, sys, *file, func(ctx context.Context, st store.Store) {
			out = slices.Concat(campaignNames(ctx, st, word), campaignIDs(ctx, st, word), resultIDs(ctx, st, word))
		})
		if len(out) == 0 && !strings.HasPrefix(store.Last, word) {
			return nil, cobra.ShellCompDirectiveDefault // a file
		}
		return append(out, store.Last), directive
	}
}

// campaignNames are the names of campaigns that begin with a word, each once, that of the
// newest first.
func campaignNames(ctx context.Context, st store.Store, word string) (out []cobra.Completion) {
	page, _ := st.Campaigns(ctx, store.CampaignQuery{Limit: mostCompleted}) // without items if it fails
	var names []string
	for _, c := range page.Items {
		if strings.HasPrefix(c.Name, word) && !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
			out = append(out, cobra.CompletionWithDesc(c.Name, printable.Line(c.Title)))
		}
	}
	return out
}

// completeLevels offers the levels of a campaign's patterns, of the factors that are not
// chosen before the last comma.
func completeLevels(cmd *cobra.Command, sys *System, file, name, levels string) (out []cobra.Completion) {
	withStore(cmd, sys, file, func(ctx context.Context, st store.Store) {
		c, err := findCampaign(ctx, sys, st, name)
		if err != nil {
			return
		}
		plan, err := plan.ParseRecorded("", []byte(c.Plan))
		if err != nil {
			return
		}
		chosen := levels[:strings.LastIndex(levels, ",")+1]
		var seen publish.Levels
		for _, p := range plan.AllPatterns() {
			seen.Add(p.Levels)
		}
		for _, factor := range seen {
			if strings.HasPrefix(chosen, factor.Name+"=") || strings.Contains(chosen, ","+factor.Name+"=") {
				continue
			}
			for _, level := range factor.Value {
				if text := chosen + factor.Name + "=" + level; strings.HasPrefix(text, levels) {
					out = append(out, name+":"+text)
				}
			}
		}
	})
	return out
}

package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"soku/internal/campaign/plan"
	"soku/internal/printable"
	"soku/internal/publish"
	"soku/internal/store"
)

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

package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/printable"
	"soku/internal/store"
)

// completer is what cobra calls for the words that may stand where a person types.
type completer = func(cmd *cobra.Command, args []string, word string) ([]cobra.Completion, cobra.ShellCompDirective)

// completionTime bounds how long a shell waits for what is in the store.
const completionTime = time.Second

// mostCompleted is how many results or campaigns a shell is offered: the newest.
const mostCompleted = 50

// complete sets the completion of a flag that was added before.
func complete(cmd *cobra.Command, flag string, with completer) {
	_ = cmd.RegisterFlagCompletionFunc(flag, with) // fails for a flag that is not there or has one
}

// completeResults offers identities of results, the newest first.
func completeResults(sys *System, file *string) completer {
	return func(cmd *cobra.Command, args []string, word string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		withStore(cmd, sys, *file, func(ctx context.Context, st store.Store) { out = resultIDs(ctx, st, word) })
		return append(out, store.Last), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// resultIDs are the identities of results that begin with a word, the newest first.
func resultIDs(ctx context.Context, st store.Store, word string) (out []cobra.Completion) {
	page, _ := st.List(ctx, store.Query{IDPrefix: word, Limit: mostCompleted}) // without items if it fails
	for _, e := range page.Items {
		about := moment(e.StartedAt) + " " + string(e.Test) + " " + e.Server + " " + e.Pattern
		out = append(out, cobra.CompletionWithDesc(e.ID, printable.Line(about)))
	}
	return out
}

// completeCampaigns offers identities of campaigns, the newest first.
func completeCampaigns(sys *System) completer {
	return func(cmd *cobra.Command, _ []string, word string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		file, _ := cmd.Flags().GetString("store")
		withStore(cmd, sys, file, func(ctx context.Context, st store.Store) { out = campaignIDs(ctx, st, word) })
		return append(out, store.Last), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// campaignIDs are the identities of campaigns that begin with a word, the newest first.
func campaignIDs(ctx context.Context, st store.Store, word string) (out []cobra.Completion) {
	page, _ := st.Campaigns(ctx, store.CampaignQuery{IDPrefix: word, Limit: mostCompleted}) // without items if it fails
	for _, c := range page.Items {
		out = append(out, cobra.CompletionWithDesc(c.ID, printable.Line(moment(c.StartedAt)+" "+c.Name+" "+c.Title)))
	}
	return out
}

// withStore calls use with the store, if its file exists and can be read.
func withStore(cmd *cobra.Command, sys *System, file string, use func(context.Context, store.Store)) {
	ctx := cmd.Context()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	st, err := openExistingStore(ctx, sys, file)
	if err != nil || st == nil {
		return
	}
	defer func() { _ = st.Close() }() // nothing was written
	use(ctx, st)
}

// completeValues offers the values of an option that go with the test and with the options
// that stand before; all where those are wrong already.
func completeValues(test measure.Test, f option.Field, o *measure.Options) completer {
	return func(cmd *cobra.Command, _ []string, _ string) (fit []cobra.Completion, _ cobra.ShellCompDirective) {
		for _, value := range f.Enum {
			if cmd.Flags().Set(f.Flag, value) != nil {
				continue
			}
			if _, err := option.Effective(*o, test); err == nil {
				fit = append(fit, value)
			}
		}
		if len(fit) == 0 {
			fit = f.Enum
		}
		return fit, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeTests offers the names of tests.
func completeTests(*cobra.Command, []string, string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
	for _, t := range measure.Tests() {
		out = append(out, string(t))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// completeFiles offers files of these extensions, as the first argument.
func completeFiles(extensions ...string) completer {
	return func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// completeLabs offers the labs that are up, and as the second argument the nodes of one.
func completeLabs(sys *System) completer {
	return func(cmd *cobra.Command, args []string, _ string) (out []cobra.Completion, _ cobra.ShellCompDirective) {
		o, err := labOptions(sys)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		switch {
		case len(args) == 0:
			out, _ = lab.List(o)
			return out, cobra.ShellCompDirectiveDefault // or the file of its topology
		case len(args) == 1 && cmd.Name() == "exec":
			if l, err := openLab(sys, args[0]); err == nil {
				for _, n := range l.Topology.Nodes {
					out = append(out, n.Name)
				}
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

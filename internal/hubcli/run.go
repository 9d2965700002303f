package hubcli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/cli"
	"soku/internal/hub/campaigns"
	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/web"
)

func newRunCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	var only []string
	var detach, resume, retryFailed bool
	cmd := &cobra.Command{
		Use:   "run PLAN",
		Short: "Have the hub run a plan on its agents, and watch",
		Long: `Sends a plan to the hub, which runs it on its agents, and shows what happens.
Interrupting this command does not stop the campaign; stop does. A hub runs no
trials itself and no commands: clients are agents, and a plan with before,
after, shell, command, ssh or lab is refused.`,
		Example: `  soku-hub run plan.yaml
  soku-hub run plan.yaml --only sku=basic --detach
  soku-hub run plan.yaml --resume`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.client(sys)
			if err != nil {
				return err
			}
			plan, err := sys.ReadFile(args[0])
			if err != nil {
				return measure.Fail(measure.KindFile, "hubcli.plan", measure.Figures{"cause": err})
			}
			q := url.Values{
				"file": {filepath.Base(args[0])}, "only": only, "resume": {strconv.FormatBool(resume || retryFailed)}, "retry_failed": {strconv.FormatBool(retryFailed)},
			}
			var s campaigns.State
			if err := c.ask(cmd.Context(), http.MethodPost, "/api/v1/campaigns?"+q.Encode(), plan, &s); err != nil {
				return err
			}
			shown := newView(sys, f.json)
			shown.agents(s)
			if !detach {
				if s, err = c.follow(cmd.Context(), sys, s, shown); err != nil {
					return err
				}
			}
			switch {
			case f.json:
				if err := printJSON(sys, s); err != nil || s.Error == nil {
					return err
				}
				return s.Error
			case detach:
				return say(sys, sys.Catalogue.Sentence("hub.run.begun", text.Args{"Campaign": s.Campaign, "Trials": s.Total}))
			case s.Error != nil:
				return s.Error
			}
			return say(sys, sys.Catalogue.Sentence("hub.run.ended", text.Args{"Campaign": s.Campaign, "Done": s.Done, "Trials": s.Total}))
		},
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&only, "only", nil, "run these patterns alone, FACTOR=LEVEL[,LEVEL]")
	cmd.Flags().BoolVar(&resume, "resume", false, "go on with the newest campaign of the plan that has trials left")
	cmd.Flags().BoolVar(&retryFailed, "retry-failed", false, "go on with it, and repeat failed trials")
	cmd.Flags().BoolVar(&detach, "detach", false, "return when the campaign has begun")
	return cmd
}

// again is how long a hub that does not answer is asked again after. One that is there for as long as notFound and does not run
// the campaign has not gone on with it.
const (
	again    = time.Second
	notFound = time.Minute
)

// follow shows a campaign until it ends. A hub that does not answer is asked again: it may have been started anew.
func (c *client) follow(ctx context.Context, sys *cli.System, s campaigns.State, shown *view) (campaigns.State, error) {
	known, silent := uint64(0), false
	answered := time.Now() // or the hub was not there
	for s.EndedAt == nil {
		var changed web.Changed
		own, stop := context.WithTimeout(ctx, askedWait)
		err := c.ask(own, http.MethodGet, fmt.Sprintf("/api/v1/campaigns/%s?known=%d", url.PathEscape(s.Campaign), known), nil, &changed)
		stop()
		var failure *measure.Error
		switch {
		case err == nil:
			s, known, silent, answered = changed.State, changed.Version, false, time.Now()
			shown.draw(s)
			continue
		case ctx.Err() != nil:
			shown.end()
			return s, errors.Join(context.Cause(ctx), say(sys, sys.Catalogue.Sentence("hub.run.goes_on", text.Args{"Campaign": s.Campaign})))
		case !errors.As(err, &failure):
			return s, err
		case failure.Kind == measure.KindUnreachable:
			answered = time.Now()
		case failure.Kind != measure.KindNotFound || time.Since(answered) > notFound:
			shown.end()
			return s, err
		}
		if !silent {
			shown.line(sys.Catalogue.Sentence("hub.run.silent", text.Args{"Cause": err}))
		}
		silent = true
		select {
		case <-time.After(again):
		case <-ctx.Done():
		}
	}
	shown.end()
	return s, nil
}

func newStopCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	cmd := &cobra.Command{
		Use:     "stop CAMPAIGN",
		Short:   "Stop a campaign that the hub runs",
		Example: "  soku-hub stop 20260102-030405-west-1a2b3c",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.client(sys)
			if err != nil {
				return err
			}
			var s campaigns.State
			if err := c.ask(cmd.Context(), http.MethodPost, "/api/v1/campaigns/"+url.PathEscape(args[0])+"/stop", nil, &s); err != nil {
				return err
			}
			if f.json {
				return printJSON(sys, s)
			}
			return say(sys, sys.Catalogue.Sentence("hub.stopped", text.Args{"Campaign": s.Campaign, "Done": s.Done, "Trials": s.Total}))
		},
	}
	f.add(cmd)
	return cmd
}

func newConfirmCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	cmd := &cobra.Command{
		Use:   "confirm CAMPAIGN",
		Short: "Confirm that a change by hand was made",
		Long: `Confirms the change that a campaign waits for: its plan has a factor with
by: hand, and a person has set what the campaign asks for.`,
		Example: "  soku-hub confirm 20260102-030405-west-1a2b3c",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.client(sys)
			if err != nil {
				return err
			}
			path := "/api/v1/campaigns/" + url.PathEscape(args[0])
			var now web.Changed
			if err := c.ask(cmd.Context(), http.MethodGet, path, nil, &now); err != nil {
				return err
			}
			if now.State.Asks == nil {
				return measure.Fail(measure.KindUsage, "hubcli.not_asked", measure.Figures{"campaign": args[0]})
			}
			var s campaigns.State
			if err := c.ask(cmd.Context(), http.MethodPost, path+"/confirm", web.Answer{Question: now.State.Asks.ID}, &s); err != nil {
				return err
			}
			if f.json {
				return printJSON(sys, s)
			}
			return say(sys, sys.Catalogue.Sentence("hub.confirmed", text.Args{"Campaign": s.Campaign, "Levels": levelsOf(sys, *now.State.Asks)}))
		},
	}
	f.add(cmd)
	return cmd
}

// levelsOf are the levels that a person is asked to set.
func levelsOf(sys *cli.System, q campaigns.Question) (out []string) {
	for _, l := range q.Levels {
		out = append(out, sys.Catalogue.Sentence("run.by_hand.level", text.Args{"Factor": l.Factor, "Level": l.Value}))
	}
	return out
}

func newCampaignsCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	var limit int
	var after string
	cmd := &cobra.Command{
		Use:   "campaigns",
		Short: "List campaigns, the newest first",
		Long: `Lists the campaigns that the hub runs, and those of its store that ended, the
newest first.`,
		Example: `  soku-hub campaigns
  soku-hub campaigns --limit 200 --json
  soku-hub campaigns --after 20260102-030405-west-1a2b3c`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.client(sys)
			if err != nil {
				return err
			}
			var all []campaigns.State
			q := url.Values{"limit": {strconv.Itoa(limit)}, "after": {after}}
			if err := c.ask(cmd.Context(), http.MethodGet, "/api/v1/campaigns?"+q.Encode(), nil, &all); err != nil {
				return err
			}
			if f.json {
				return printJSON(sys, all)
			}
			if len(all) == 0 {
				return say(sys, sys.Catalogue.Sentence("hub.campaigns.none", nil))
			}
			rows := [][]string{{sys.Catalogue.Sentence("hub.campaigns.campaign", nil), sys.Catalogue.Sentence("hub.campaigns.how", nil), sys.Catalogue.Sentence("hub.campaigns.progress", nil)}}
			ended := 0
			for _, s := range all {
				if !s.Live {
					ended++
				}
				state := text.Args{"Live": s.Live, "Whole": s.Error == nil && s.Done >= s.Total}
				rows = append(rows, []string{s.Campaign, sys.Catalogue.Sentence("hub.campaigns.state", state), progressOf(sys, s)})
			}
			cli.PrintTable(sys.Stdout, rows)
			if ended < limit {
				return nil
			}
			return say(sys, sys.Catalogue.Sentence("hub.campaigns.older", text.Args{"After": all[len(all)-1].Campaign}))
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&limit, "limit", 50, "campaigns that ended, at most (1 to 1000)")
	cmd.Flags().StringVar(&after, "after", "", "those before this campaign, the last of the list before")
	return cmd
}

package cli

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/store"
)

// filterFlags select results of the store.
type filterFlags struct {
	campaign, test, endpoint, since, until string
	levels                                 []string
	byHand                                 bool
}

// filtersOfResults are the flags that select results and no campaigns.
var filtersOfResults = []string{"campaign", "test", "endpoint", "level", "by-hand"}

func (f *filterFlags) add(sys *System, cmd *cobra.Command) {
	f.addSelection(sys, cmd)
	cmd.Flags().StringVar(&f.since, "since", "", "only results that started then or later: an age such as 90d or 12h, today, yesterday, or a date such as 2026-11-25")
	cmd.Flags().StringVar(&f.until, "until", "", "only results that started before then")
}

// addSelection adds those that do not select by time.
func (f *filterFlags) addSelection(sys *System, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.campaign, "campaign", "", "only results of this campaign: its identity, name, or last")
	flags.StringVar(&f.test, "test", "", "only results of this test, such as tcp")
	flags.StringVar(&f.endpoint, "endpoint", "", "only results with this client or server: a name, NAME.LABEL, or an address")
	flags.StringArrayVar(&f.levels, "level", nil, "only results whose pattern has this level, FACTOR=LEVEL; may be repeated")
	flags.BoolVar(&f.byHand, "by-hand", false, "only results of no campaign")
	cmd.MarkFlagsMutuallyExclusive("campaign", "by-hand")
	complete(cmd, "campaign", completeCampaigns(sys))
	complete(cmd, "test", completeTests)
}

func (f *filterFlags) query(ctx context.Context, sys *System, st store.Store) (q store.Query, err error) {
	q.Endpoint, q.ByHand = f.endpoint, f.byHand
	if f.test != "" {
		if q.Test, err = measure.ParseTest(f.test); err != nil {
			return q, err
		}
	}
	for _, text := range f.levels {
		factor, level, found := strings.Cut(text, "=")
		if factor = strings.TrimSpace(factor); !found || factor == "" {
			return q, measure.Fail(measure.KindUsage, "cli.level", measure.Figures{"level": text})
		}
		q.Levels = append(q.Levels, measure.Level{Factor: factor, Value: strings.TrimSpace(level)})
	}
	for _, moment := range []struct {
		flag, text string
		to         *time.Time
	}{{"since", f.since, &q.Since}, {"until", f.until, &q.Until}} {
		if moment.text == "" {
			continue
		}
		if *moment.to, err = when(sys.Now(), moment.flag, moment.text); err != nil {
			return q, err
		}
	}
	if f.campaign != "" {
		c, err := findCampaign(ctx, sys, st, f.campaign)
		if err != nil {
			return q, err
		}
		q.Campaign = c.ID
	}
	return q, nil
}

// when is a moment that a person writes as an age, in days, hours, minutes or seconds, as today
// or yesterday, or as a date or a time of this host's zone. A day is its beginning.
func when(now time.Time, flag, text string) (time.Time, error) {
	if ago, known := map[string]int{"today": 0, "yesterday": 1}[text]; known {
		year, month, day := now.Date()
		return time.Date(year, month, day-ago, 0, 0, 0, 0, now.Location()), nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02 15:04", "2006-01-02T15:04", time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	if age, ok := ageOf(text); ok {
		return now.Add(-age), nil
	}
	return now, measure.Fail(measure.KindUsage, "cli.when", measure.Figures{"flag": flag, "text": text})
}

// ageOf reads 90d, 2w, or a duration of Go.
func ageOf(text string) (time.Duration, bool) {
	for unit, days := range map[string]float64{"d": 1, "w": 7} {
		if number, found := strings.CutSuffix(text, unit); found {
			n, err := strconv.ParseFloat(number, 64)
			return time.Duration(n * days * 24 * float64(time.Hour)), err == nil && n >= 0 && n < 100_000/days
		}
	}
	d, err := time.ParseDuration(text)
	return d, err == nil && d >= 0
}

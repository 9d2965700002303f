package hubcli

import (
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"soku/internal/cli"
	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/web"
)

func newPlanCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	var only []string
	cmd := &cobra.Command{
		Use:   "plan PLAN",
		Short: "Show what the hub would run of a plan, and what keeps it from running",
		Long: `Has the hub check a plan as before a start, and shows its patterns, the order,
the time, the bytes, the agents that labels mean, and agents that are away or
whose owners do not allow a test. Agents are sent nothing. For a plan without
agents: soku plan.`,
		Example: `  soku-hub plan plan.yaml
  soku-hub plan plan.yaml --only sku=basic --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.client(sys)
			if err != nil {
				return err
			}
			content, err := sys.ReadFile(args[0])
			if err != nil {
				return measure.Fail(measure.KindFile, "hubcli.plan", measure.Figures{"cause": err})
			}
			var checked web.Plan
			file := filepath.Base(args[0])
			if err := c.ask(cmd.Context(), http.MethodPost, "/api/v1/plans?"+url.Values{"file": {file}}.Encode(), content, &checked); err != nil {
				return err
			}
			outline, err := cli.OutlinePlan(cmd.Context(), sys, file, checked.Text, only)
			if err != nil {
				return err
			}
			if f.json {
				return printJSON(sys, struct {
					*cli.PlanOutline
					Agents   map[string][]string `json:"agents,omitempty"`
					Findings []*measure.Error    `json:"findings,omitempty"`
				}{outline, checked.Agents, checked.Findings})
			}
			outline.Print(sys)
			for _, labels := range slices.Sorted(maps.Keys(checked.Agents)) {
				if err := say(sys, sys.Catalogue.Sentence("hub.run.agents", text.Args{"Labels": labels, "Agents": checked.Agents[labels]})); err != nil {
					return err
				}
			}
			for _, e := range checked.Findings {
				sentence, _ := sys.Catalogue.Error(e)
				if err := say(sys, sys.Catalogue.Sentence("hub.plan.finding", text.Args{"Finding": sentence})); err != nil {
					return err
				}
			}
			return nil
		},
	}
	f.add(cmd)
	cmd.Flags().StringArrayVar(&only, "only", nil, "only these patterns, FACTOR=LEVEL[,LEVEL]")
	return cmd
}

package hubcli

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/cli"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
	"soku/internal/web"
)

func newAgentsCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	cmd := &cobra.Command{
		Use:   "agents [SELECTION]",
		Short: "List the agents of the hub",
		Long: `Lists the agents that have joined the hub, or those of a selection:
a name, the beginning of an identity, or labels.`,
		Example: `  soku-hub agents
  soku-hub agents zone=west,os=linux
  soku-hub agents --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.client(sys)
			if err != nil {
				return err
			}
			path := "/api/v1/agents"
			if len(args) > 0 {
				path += "?select=" + url.QueryEscape(args[0])
			}
			var all []web.Agent
			if err := c.ask(cmd.Context(), http.MethodGet, path, nil, &all); err != nil {
				return err
			}
			if f.json {
				return printJSON(sys, all)
			}
			return printAgents(sys, all)
		},
	}
	f.add(cmd)
	return cmd
}

// printAgents prints a table for a terminal.
func printAgents(sys *cli.System, all []web.Agent) error {
	c := sys.Catalogue
	if len(all) == 0 {
		return say(sys, c.Sentence("hub.agents.none", nil))
	}
	rows := [][]string{{c.Sentence("hub.agents.name", nil), c.Sentence("hub.agents.state", nil), c.Sentence("hub.agents.labels", nil),
		c.Sentence("hub.agents.address", nil), c.Sentence("hub.agents.version", nil), c.Sentence("hub.agents.running", nil), c.Sentence("hub.agents.heard", nil)}}
	for _, a := range all {
		address, heard := "", ""
		if len(a.Addresses) > 0 {
			address = a.Addresses[0].Address
		}
		if a.HeardAt != nil {
			heard = c.Sentence("hub.agents.ago", text.Args{"Ago": sys.Now().Sub(*a.HeardAt).Round(time.Second)})
		}
		rows = append(rows, []string{a.Name, string(a.State), labels(a.Labels), address, a.Program, strconv.Itoa(len(a.Running)), heard})
	}
	cli.PrintTable(sys.Stdout, rows)
	return nil
}

func labels(l map[string]string) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(l)) {
		out = append(out, k+"="+l[k])
	}
	return strings.Join(out, ",")
}

func newRevokeCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	cmd := &cobra.Command{
		Use:   "revoke AGENT",
		Short: "Cut an agent off, for good",
		Long: `Cuts an agent off within seconds and keeps it from joining again with its
key. Results that it has not delivered yet are not taken.`,
		Example: "  soku-hub revoke vm1",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := f.client(sys)
			if err != nil {
				return err
			}
			var done struct {
				Agent string `json:"agent"`
			}
			if err := c.ask(cmd.Context(), http.MethodPost, "/api/v1/agents/"+url.PathEscape(args[0])+"/revoke", nil, &done); err != nil {
				return err
			}
			if f.json {
				return printJSON(sys, done)
			}
			return say(sys, sys.Catalogue.Sentence("hub.revoked", text.Args{"Agent": args[0]}))
		},
	}
	f.add(cmd)
	return cmd
}

func newJoinCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	var given []string
	lasts, uses := measure.Duration(time.Hour), 1
	cmd := &cobra.Command{
		Use:   "join",
		Short: "Make a token by which agents join, and print their command",
		Long: `Makes a join token. It is shown once and kept only as a hash. The labels that
are given with it are those of the agents that join by it.`,
		Example: `  soku-hub join
  soku-hub join --uses 20 --label zone=west --label sku=basic
  soku-hub join --lasts 24h --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			order := web.TokenOrder{LastsNs: int64(lasts), Uses: uses, Labels: map[string]string{}}
			for _, l := range given {
				k, v, ok := strings.Cut(l, "=")
				if !ok {
					return measure.Fail(measure.KindUsage, "hubcli.label", measure.Figures{"label": l})
				}
				order.Labels[k] = v
			}
			c, err := f.client(sys)
			if err != nil {
				return err
			}
			var t web.Token
			if err := c.ask(cmd.Context(), http.MethodPost, "/api/v1/tokens", order, &t); err != nil {
				return err
			}
			if f.json {
				return printJSON(sys, t)
			}
			if err := say(sys, sys.Catalogue.Sentence("hub.join", text.Args{"N": t.Uses, "Until": t.ExpiresAt.Local().Format("2006-01-02 15:04")})); err != nil {
				return err
			}
			_, err = sys.Stdout.Write([]byte("  " + t.Command + "\n"))
			return err
		},
	}
	f.add(cmd)
	cmd.Flags().IntVar(&uses, "uses", uses, "how many agents may join by it, at most 50")
	cmd.Flags().Var(&lasts, "lasts", "how long it can be used")
	cmd.Flags().StringArrayVar(&given, "label", nil, "label of the agents, KEY=VALUE")
	return cmd
}

func newConfigCommand(sys *cli.System) *cobra.Command {
	f := &asking{}
	cmd := &cobra.Command{
		Use:   "nats-config",
		Short: "Print what NATS servers of your own need to work for the hub",
		Long: `Prints the part of the configuration of nats-server (2.9.10 or later) by which
it trusts the hub. Start the hub with --brokers then.`,
		Example: "  soku-hub nats-config > soku.conf",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.client(sys)
			if err != nil {
				return err
			}
			var raw json.RawMessage // a text here would become one line
			if err := c.ask(cmd.Context(), http.MethodGet, "/api/v1/nats-config", nil, &raw); err != nil {
				return err
			}
			var config string
			if err := json.Unmarshal(raw, &config); err != nil {
				return measure.Fail(measure.KindBroken, "hubcli.answer", measure.Figures{"url": c.base, "status": err.Error()})
			}
			if f.json {
				return printJSON(sys, struct {
					Config string `json:"config"`
				}{config})
			}
			_, err = sys.Stdout.Write([]byte(printable.Text(config)))
			return err
		},
	}
	f.add(cmd)
	return cmd
}

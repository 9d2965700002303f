package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/text"
	"soku/internal/text/messages"
)

func newLabCommand(sys *System) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Build an emulated network to measure in",
		Long: `Builds an emulated network of hosts, routers and links from a topology file on
this machine, with known rates, delays and loss. Linux, as root.`,
		Example: `  soku lab up examples/topologies/demo.yaml
  soku lab exec demo client -- soku tcp 10.77.0.10
  soku lab status demo
  soku lab down demo`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newLabUp(sys), newLabDown(sys), newLabStatus(sys), newLabExec(sys), newLabEnter(), newLabDelayLine(sys))
	return cmd
}

func labOptions(sys *System) (lab.Options, error) {
	self, err := sys.self().Path()
	if err != nil {
		return lab.Options{}, err
	}
	return lab.Options{
		RunDir: lab.RunDir(sys.Getenv), Executable: self,
		Progress: func(step string, figures measure.Figures) {
			fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("lab.step."+step, text.Args(figures)))
		},
	}, nil
}

// labName is the name of the lab an argument means: a topology file, or the name itself.
func labName(sys *System, arg string) (string, error) {
	if !strings.ContainsAny(arg, "/.") {
		return arg, nil
	}
	t, err := lab.Load(arg, sys.ReadFile)
	if err != nil {
		return "", err
	}
	return t.Name, nil
}

func openLab(sys *System, arg string) (*lab.Lab, error) {
	name, err := labName(sys, arg)
	if err != nil {
		return nil, err
	}
	o, err := labOptions(sys)
	if err != nil {
		return nil, err
	}
	return lab.Open(name, o)
}

func newLabUp(sys *System) *cobra.Command {
	var wait bool
	cmd := &cobra.Command{
		Use:   "up TOPOLOGY.yaml",
		Short: "Build the network and start its servers",
		Example: `  soku lab up examples/topologies/demo.yaml
  soku lab up --wait examples/topologies/demo.yaml    until Ctrl-C`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeFiles("yaml", "yml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := lab.Load(args[0], sys.ReadFile)
			if err != nil {
				return err
			}
			o, err := labOptions(sys)
			if err != nil {
				return err
			}
			l, err := lab.Up(cmd.Context(), t, o)
			if err != nil {
				return err
			}
			showUse(sys, l)
			if !wait {
				return nil
			}
			fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("lab.waits", nil))
			<-cmd.Context().Done()
			return l.Down(context.WithoutCancel(cmd.Context()))
		},
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "keep running, and remove the network on Ctrl-C")
	return cmd
}

// showUse says how to measure in the lab: one line for each address of a
// server, from the first host that reaches it.
func showUse(sys *System, l *lab.Lab) {
	t := l.Topology
	fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("lab.up", text.Args{"Lab": t.Name}))
	var rows [][]string
	for _, n := range t.Nodes {
		if !n.Server {
			continue
		}
		for _, a := range t.Addresses(n.Name) {
			if from := t.Clients(n.Name, a.Label); len(from) > 0 {
				rows = append(rows, []string{fmt.Sprintf("  soku lab exec %s %s -- soku tcp %s", t.Name, from[0], a.Addr), "# " + n.Name + ", " + a.Label})
			}
		}
	}
	if len(rows) > 0 {
		PrintTable(sys.Stdout, append([][]string{{sys.Catalogue.Sentence("lab.example", nil), ""}}, rows...))
	}
}

func newLabDown(sys *System) *cobra.Command {
	return &cobra.Command{
		Use:   "down TOPOLOGY.yaml|NAME",
		Short: "Stop the servers and remove the network",
		Long: `Stops the servers and removes the network, also one that is incomplete after a
crash. A network that does not exist is no error.`,
		Example: `  soku lab down demo
  soku lab down examples/topologies/demo.yaml`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: completeLabs(sys),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := labName(sys, args[0])
			if err != nil {
				return err
			}
			o, err := labOptions(sys)
			if err != nil {
				return err
			}
			if err := lab.Down(cmd.Context(), name, o); err != nil {
				return err
			}
			fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("lab.down", text.Args{"Lab": name}))
			return nil
		},
	}
}

func newLabExec(sys *System) *cobra.Command {
	return &cobra.Command{
		Use:                   "exec TOPOLOGY.yaml|NAME HOST -- COMMAND [ARGUMENT]...",
		Short:                 "Run a command on a host of the network",
		DisableFlagsInUseLine: true,
		Example: `  soku lab exec demo client -- soku tcp 10.77.0.10 --reverse
  soku lab exec demo client -- ping -c 3 10.77.0.10
  soku lab exec demo server -- ss -tin
  soku lab exec demo client -- sh`,
		Args: cobra.MinimumNArgs(3), ValidArgsFunction: completeLabs(sys),
		RunE: func(cmd *cobra.Command, args []string) error {
			l, err := openLab(sys, args[0])
			if err != nil {
				return err
			}
			if sys.ownStreams() {
				return l.Become(args[1], args[2:])
			}
			return l.Exec(cmd.Context(), args[1], args[2:], sys.Stdin, printable.Unfiltered(sys.Stdout), printable.Unfiltered(sys.Stderr))
		},
	}
}

// newLabEnter is what lab starts to run a program in a namespace.
func newLabEnter() *cobra.Command {
	return &cobra.Command{
		Use: "enter NAMESPACE -- COMMAND [ARGUMENT]...", Hidden: true, Args: cobra.MinimumNArgs(2),
		RunE: func(_ *cobra.Command, args []string) error { return lab.Enter(args[0], args[1:]) },
	}
}

// newLabDelayLine is the helper process that delays the packets of a lab.
func newLabDelayLine(sys *System) *cobra.Command {
	return &cobra.Command{
		Use: "delay-line STATEFILE", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return lab.DelayLine(cmd.Context(), args[0], func() { fmt.Fprintln(sys.Stdout, "ready") })
		},
	}
}

func newLabStatus(sys *System) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [TOPOLOGY.yaml|NAME]",
		Short: "Show the network, its links and the actual delays",
		Long:  "Shows a network: rate, delay and loss of each link as given in the file, and\nthe actual delays; without an argument, which networks are up.",
		Example: `  soku lab status
  soku lab status demo
  soku lab status demo --json | jq .links`,
		Args: cobra.MaximumNArgs(1), ValidArgsFunction: completeLabs(sys),
		RunE: func(_ *cobra.Command, args []string) error {
			all, err := labStatus(sys, args)
			if err != nil {
				return err
			}
			if asJSON {
				if len(args) == 1 {
					return printJSON(sys.Stdout, all[0])
				}
				return printJSON(sys.Stdout, all)
			}
			if len(args) == 1 {
				printLab(sys, all[0])
				return nil
			}
			printLabs(sys, all)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: the lab, or without an argument a list of all")
	return cmd
}

// labStatus is the state of the lab that is named, or of all.
func labStatus(sys *System, args []string) ([]*lab.Status, error) {
	names := make([]string, 0, 1)
	o, err := labOptions(sys)
	if err != nil {
		return nil, err
	}
	if len(args) == 1 {
		name, err := labName(sys, args[0])
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	} else if names, err = lab.List(o); err != nil {
		return nil, err
	}
	out := make([]*lab.Status, 0, len(names))
	for _, name := range names {
		l, err := lab.Open(name, o)
		switch {
		case err == nil:
		case len(args) == 1:
			return nil, err
		case measure.KindOf(err) == measure.KindNotFound: // it came or went this moment
			continue
		default: // one that cannot be read must not hide the others
			out = append(out, &lab.Status{Name: name, Nodes: []lab.NodeStatus{}, Links: []lab.LinkStatus{}, Problems: lab.Problems{measure.AsError(err, measure.KindInternal)}})
			continue
		}
		s, err := l.Status()
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

func printLabs(sys *System, all []*lab.Status) {
	if len(all) == 0 {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("lab.none", nil))
		return
	}
	rows := [][]string{sys.Catalogue.Headings("head.lab", "head.started", "head.nodes", "head.file", "head.state")}
	for _, s := range all {
		if s.StartedAt.IsZero() { // nothing could be read of it
			rows = append(rows, []string{s.Name, "", "", "", labState(sys.Catalogue, s, errorText(sys.Catalogue, s.Problems[0]))})
			continue
		}
		problem := ""
		if s.Complete && len(s.Problems) > 0 {
			problem = errorText(sys.Catalogue, s.Problems[0])
		}
		rows = append(rows, []string{s.Name, moment(s.StartedAt), fmt.Sprint(len(s.Nodes)), s.File, labState(sys.Catalogue, s, problem)})
	}
	PrintTable(sys.Stdout, rows)
}

func labState(c *text.Catalogue, s *lab.Status, problem string) string {
	return c.Sentence("lab.state", text.Args{"Lab": s.Name, "Complete": s.Complete, "Problem": problem})
}

func printLab(sys *System, s *lab.Status) {
	fmt.Fprintf(sys.Stdout, "%s\n\n", sys.Catalogue.Sentence("lab.title", text.Args{"Lab": s.Name, "Complete": s.Complete, "Since": moment(s.StartedAt), "File": s.File}))
	nodes := [][]string{sys.Catalogue.Headings("head.node", "head.kind", "head.server", "head.disk", "head.addresses")}
	for _, n := range s.Nodes {
		var addresses []string
		for _, a := range n.Addresses {
			addresses = append(addresses, a.Label+" "+a.Address)
		}
		disk := ""
		if d := n.Disk; d != nil {
			disk = sys.Catalogue.Sentence("lab.disk", text.Args{"Folder": d.Folder, "Read": d.ReadBps, "Write": d.WriteBps})
		}
		nodes = append(nodes, []string{n.Name, n.Kind, n.Server, disk, sys.Catalogue.List(addresses)})
	}
	PrintTable(sys.Stdout, nodes)
	fmt.Fprintln(sys.Stdout)
	links := [][]string{sys.Catalogue.Headings(
		"head.link", "head.from", "head.to", "head.rate", "head.police", "head.delay", "head.jitter", "head.loss", "head.mtu", "head.packets",
		"head.given_p50", "head.p99", "head.max", "head.lost", "head.trouble",
	)}
	for _, l := range s.Links {
		row := []string{
			l.Name, l.From, l.To, capCell(l.RateBps), capCell(l.PoliceBps), delayCell(l.DelayNs), delayCell(l.JitterNs), lossCell(sys.Catalogue, l.LossRatio),
			fmt.Sprint(l.MTU), "", "", "", "", "", "",
		}
		if g := l.Given; g != nil {
			row[9] = fmt.Sprint(g.Packets)
			if g.Packets > 0 {
				row[10], row[11], row[12] = delayCell(g.P50Ns), delayCell(g.P99Ns), delayCell(g.MaxNs)
			}
			if l.LossRatio > 0 {
				row[13] = fmt.Sprint(g.Lost)
			}
			if g.Overflow+g.Failed > 0 {
				row[14] = sys.Catalogue.Sentence("lab.trouble", text.Args{"Overflow": g.Overflow, "Failed": g.Failed})
			}
		}
		links = append(links, row)
	}
	PrintTable(sys.Stdout, links)
	for _, p := range s.Problems {
		fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("lab.problem", text.Args{"Problem": errorText(sys.Catalogue, p)}))
	}
}

func capCell(r measure.Rate) string {
	if r == 0 {
		return ""
	}
	return r.String()
}

func delayCell(ns int64) string {
	if ns == 0 {
		return ""
	}
	return messages.FormatLatency(float64(ns))
}

func lossCell(c *text.Catalogue, ratio float64) string {
	if ratio == 0 {
		return ""
	}
	return c.Sentence("lab.loss", text.Args{"Percent": ratio * 100})
}

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/text/messages"
)

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
	printTable(sys.Stdout, rows)
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
	printTable(sys.Stdout, nodes)
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
	printTable(sys.Stdout, links)
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

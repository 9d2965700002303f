package cli

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/fleet"
	"soku/internal/fleet/daemon"
	"soku/internal/measure"
	"soku/internal/version"
)

type agentFlags struct {
	hub, pin, token, tokenFile string
	name, state, policy        string
	addresses                  []string
	commands                   bool
}

func newAgentCommand(sys *System) *cobra.Command {
	f := &agentFlags{}
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Measure for a hub: join it, run its trials, send it the results",
		Long: `Joins a hub once, then stays connected to it, runs the trials that it orders and
sends it their results; while the hub is away they are kept. The agent connects
outwards and opens no port but those of servers for other agents' trials. It
remembers hub and pin: after the first time soku agent alone is enough.
--policy says what the hub may order.`,
		Example: `  soku agent --hub https://hub:7660 --pin 3f9a... --join TOKEN
  soku agent                               joined before
  soku agent --hub hub --join-file token --name berlin-1
  soku agent --address public=198.51.100.7 its address behind NAT
  soku agent --policy agent.yaml           limits: rate, duration, networks`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := f.config(sys)
			if err != nil {
				return err
			}
			return daemon.Run(cmd.Context(), c)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.hub, "hub", "", "address of the hub, such as https://hub:7660, or of several with commas of which one serves; without it the one that was joined")
	flags.StringVar(&f.pin, "pin", "", "SHA-256 of the hub's certificate, from its join command; without it the one that was given before, or public authorities")
	flags.StringVar(&f.token, "join", "", "token that admits this host, needed once; other users of this host see it in the list of processes, not with --join-file")
	flags.StringVar(&f.tokenFile, "join-file", "", "file with that token")
	flags.StringVar(&f.name, "name", "", "name of this agent for people; without it the one that was given before, or the name of the host")
	flags.StringArrayVar(&f.addresses, "address", nil, "another address by which agents reach this host, NAME=ADDRESS, such as public=198.51.100.7; may be repeated")
	flags.StringVar(&f.policy, "policy", "", "YAML file with what the hub may order (docs/reference/agent.md); without it any measurement, but no copies and no commands")
	flags.StringVar(&f.state, "state", "", "folder for the key, the permission and results that wait; without it agent in the data folder")
	flags.BoolVar(&f.commands, "allow-commands", false, "let plans that the hub runs run their commands on this host, as the user of this agent")
	cmd.MarkFlagsMutuallyExclusive("join", "join-file")
	return cmd
}

// config reads the flags and the files that they name.
func (f *agentFlags) config(sys *System) (daemon.Config, error) {
	c := daemon.Config{
		Folder: f.state, Token: f.token, Name: f.name, Host: sys.Hostname(), Version: version.String(), Catalogue: sys.Catalogue,
		Command: sys.self().Command,
		Say:     func(sentence string) { fmt.Fprintln(sys.Stderr, "soku: "+sentence) },
	}
	var err error
	if f.state == "" {
		if err := sys.needDataDir(); err != nil {
			return c, err
		}
		c.Folder = filepath.Join(sys.DataDir, "agent")
	}
	if f.hub != "" {
		if c.Hub, err = daemon.ParseHub(f.hub); err != nil {
			return c, err
		}
	}
	if f.pin != "" {
		if c.Pin, err = fleet.ParsePin(f.pin); err != nil {
			return c, err
		}
	}
	if f.tokenFile != "" {
		if c.Token, err = readToken(sys, f.tokenFile); err != nil {
			return c, err
		}
	}
	if f.policy != "" {
		text, err := sys.ReadFile(f.policy)
		if err != nil {
			return c, measure.Fail(measure.KindUsage, "cli.agent.policy", measure.Figures{"cause": err})
		}
		if c.Policy, err = daemon.ParsePolicy(f.policy, text); err != nil {
			return c, err
		}
	}
	c.Policy.Commands = c.Policy.Commands || f.commands
	c.Addresses, err = announced(f.addresses)
	return c, err
}

// announced reads the addresses of --address: an IP address or the name of a host each.
func announced(texts []string) (all []fleet.Address, err error) {
	for _, text := range texts {
		name, address, ok := strings.Cut(text, "=")
		_, ipErr := netip.ParseAddr(address)
		if !ok || name == "" || address == "" || ipErr != nil && strings.ContainsAny(address, ":/ =[]") {
			return nil, measure.Fail(measure.KindUsage, "cli.agent.address", measure.Figures{"text": text})
		}
		all = append(all, fleet.Address{Name: name, Address: address, Asked: true})
	}
	return all, nil
}

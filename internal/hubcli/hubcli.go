// Package hubcli is the command line of the hub: the commands of soku (package cli) and those that run a
// hub or ask one. It reads flags and prints; package hub/service is the hub, and package web its API.
package hubcli

import (
	"context"
	"encoding/json"
	"path/filepath"

	"github.com/spf13/cobra"

	"soku/internal/cli"
	"soku/internal/store"
	"soku/internal/store/postgres"
)

// Program is the command line.
var Program = cli.Program{
	Name: "soku-hub", Short: "Run a hub: agents connect to it, and it runs campaigns on them",
	Examples: `  soku-hub demo             hub, page and two agents on this host
  soku-hub serve            on one host: prints how agents join
  soku-hub agents           who has joined
  soku-hub run plan.yaml    a campaign on agents`,
	Group: &cobra.Group{ID: "hub", Title: "Hub:"},
	More: []func(*cli.System) *cobra.Command{
		newDemoCommand, newServeCommand, newJoinCommand, newAgentsCommand, newRevokeCommand, newPlanCommand, newRunCommand, newCampaignsCommand, newStopCommand, newConfirmCommand, newUsersCommand, newBackupCommand, newRestoreCommand, newConfigCommand,
	},
}

// On is a system whose stores may also be PostgreSQL databases.
func On(sys *cli.System) *cli.System {
	all := *sys
	file := sys.OpenStore
	all.OpenStore = func(ctx context.Context, address string) (store.Store, error) {
		if postgres.Is(address) {
			return postgres.Open(ctx, address)
		}
		return file(ctx, address)
	}
	return &all
}

// folder is where the hub keeps its state.
func folder(sys *cli.System, flag string) string {
	if flag != "" {
		return flag
	}
	return filepath.Join(sys.DataDir, "hub")
}

func printJSON(sys *cli.System, v any) error {
	e := json.NewEncoder(sys.Stdout)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

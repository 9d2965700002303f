// Command soku-hub has the commands of soku, and runs a hub to which agents connect.
package main

import (
	"os"

	"soku/internal/cli"
	"soku/internal/hubcli"
)

func main() {
	os.Exit(hubcli.Program.Run(hubcli.On(cli.Real())))
}

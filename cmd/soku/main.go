// Command soku measures network paths, compares choices and publishes the answer.
package main

import (
	"os"

	"soku/internal/cli"
	"soku/internal/sock"
)

func main() {
	sock.ReserveThreads()
	os.Exit(cli.Run(cli.Real()))
}

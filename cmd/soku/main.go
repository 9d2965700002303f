// Command soku measures network paths, compares choices and publishes the answer.
package main

import (
	"os"

	"soku/internal/cli"
)

func main() {
	os.Exit(cli.Run(cli.Real()))
}

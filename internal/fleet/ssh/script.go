package ssh

import (
	_ "embed"
	"strings"
)

//go:embed host.sh
var hostScript string

// shellCommand runs the script that is the first line of its input, whose line ends are the
// character 1. It has no line end and only single quotes around, so that every login shell
// reads it alike; no other process of the host sees the script or what it is given.
const shellCommand = `sh -c 'IFS= read -r script; eval "$(printf %s "$script" | tr "\001" "\012")"'`

// scriptLine is that first line, without its end.
func scriptLine() string {
	return strings.ReplaceAll(strings.TrimSpace(hostScript), "\n", "\x01")
}

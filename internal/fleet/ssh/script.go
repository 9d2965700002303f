package ssh

import (
	_ "embed"
	"strings"
)

// hostScript runs in the login shell of the host, which reads it as the first line of its
// input. The script and this end exchange lines of words:
//
//	from the host   soku-platform OS ARCHITECTURE      as uname -s and uname -m
//	to the host     CHECKSUM KEEP                      SHA-256 in hex; yes or no
//	from the host   soku-folder PATH COPIED NUMBER     COPIED: yes if the program is there
//	to the host     start                              when PATH/part-NUMBER is the program
//	from the host   soku-failed REASON DETAIL          instead of any of its lines
//
// Lines before the first of these come from the login shell and are ignored. Then the script
// runs "PATH/soku endpoint" with the same input and output, which exchanges what
// [endpoint.Schema] specifies. When that ends, the script deletes PATH/alive-NUMBER, which ends
// the processes that [Session.Command] made, and the folder.
//
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

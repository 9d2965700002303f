package ssh

import (
	"cmp"
	"strings"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/process"
)

// causes are phrases of ssh, as OpenSSH writes them, and what they mean, the more specific
// first: with a jump host several are written.
var causes = []struct {
	phrase string
	kind   measure.Kind
	code   string
}{
	{"REMOTE HOST IDENTIFICATION HAS CHANGED", measure.KindRefused, "ssh.host_key_changed"},
	{"Host key verification failed", measure.KindRefused, "ssh.host_key"},
	{"Permission denied (", measure.KindRefused, "ssh.denied"},
	{"Too many authentication failures", measure.KindRefused, "ssh.denied"},
	{"Could not resolve hostname", measure.KindUnreachable, "ssh.name"},
	{"Connection refused", measure.KindUnreachable, "ssh.unreachable"},
	{"timed out", measure.KindUnreachable, "ssh.unreachable"},
	{"No route to host", measure.KindUnreachable, "ssh.unreachable"},
	{"Network is unreachable", measure.KindUnreachable, "ssh.unreachable"},
	{"Bad configuration option", measure.KindUsage, "ssh.config"},
	{"terminating, ", measure.KindUsage, "ssh.config"},
}

// explain is the failure that ssh wrote about, or that of err where it wrote nothing.
func explain(destination, complaints string, err error) error {
	for _, c := range causes {
		for line := range strings.Lines(complaints) {
			if strings.Contains(line, c.phrase) {
				return measure.Fail(c.kind, c.code, measure.Figures{"destination": destination, "line": shown(line)})
			}
		}
	}
	line := process.LastLine(complaints)
	if line == "" && err != nil {
		line = err.Error()
	}
	return measure.Fail(measure.KindUnreachable, "ssh.failed", measure.Figures{"destination": destination, "line": cmp.Or(shown(line), "-")})
}

// shown is a line that another program wrote, as a failure repeats it: without its full stop.
func shown(line string) string {
	line = strings.TrimSpace(printable.Line(strings.ToValidUTF8(line, "\uFFFD")))
	return printable.Cut(strings.TrimSuffix(line, "."), maxShown)
}

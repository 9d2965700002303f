package iperf3

import (
	"fmt"
	"strings"
)

// Usage is printed after an error of the command line.
const Usage = "Usage: iperf3 [-s|-c host] [options]\nTry `iperf3 --help' for more information.\n"

// Widths of the help, columns.
const (
	helpLeft  = 30
	helpWhole = 80
)

// Help is the answer to --help.
func Help() string {
	var b strings.Builder
	b.WriteString(`Usage: iperf3 [-s|-c host] [options]
       iperf3 [-h|--help] [-v|--version]

This is soku, which takes iperf3's options, speaks its protocol and prints what
iperf3 prints. It does the same when it is called through a link named iperf3.

Examples:
  soku iperf3 -s
  soku iperf3 -c vm2 -P 4 -t 30
  soku iperf3 -c vm2 -u -b 500M -R --json
`)
	for _, part := range []struct {
		title   string
		options []flagOption
	}{{"Server or Client", commonOptions()}, {"Server specific", serverOptions()}, {"Client specific", clientOptions()}} {
		fmt.Fprintf(&b, "\n%s:\n", part.title)
		for _, o := range part.options {
			b.WriteString(helpEntry(o))
		}
	}
	b.WriteString("\nBYTES and RATE take a suffix K, M, G or T: powers of 1024 of bytes, of 1000 of\nrates. Options that are not supported are refused; none is left out.\n")
	return b.String()
}

// helpEntry is the line or lines of an option.
func helpEntry(o flagOption) string {
	left := "      --" + o.long
	if o.short != "" {
		left = "  -" + o.short + ", --" + o.long
	}
	switch {
	case strings.HasPrefix(o.arg, "["):
		left += "[=" + o.arg[1:]
	case o.arg != "":
		left += " " + o.arg
	}
	right := o.help
	if o.set == nil {
		right += " (not supported)"
	}
	lines := wrapped(right, helpWhole-helpLeft)
	if len(left) > helpLeft-2 {
		lines = append([]string{""}, lines...)
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(strings.TrimRight(fmt.Sprintf("%-*s%s", helpLeft, left, line), " ") + "\n")
		left = ""
	}
	return b.String()
}

// wrapped breaks text into lines of at most columns columns.
func wrapped(text string, columns int) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > columns {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(lines, line)
}

package iperf3

import (
	"fmt"
	"strings"
)

// Usage is what follows an error of the command line.
const Usage = "Usage: iperf3 [-s|-c host] [options]\nTry `iperf3 --help' for more information.\n"

// Help is the answer to --help.
func Help() string {
	var b strings.Builder
	b.WriteString("Usage: iperf3 [-s|-c host] [options]\n       iperf3 [-h|--help] [-v|--version]\n\n" +
		"This is soku, which takes iperf3's options, speaks its protocol and prints what it prints.\n")
	for _, part := range []struct {
		title   string
		options []option
	}{{"Server or Client", commonOptions()}, {"Server specific", serverOptions()}, {"Client specific", clientOptions()}} {
		fmt.Fprintf(&b, "\n%s:\n", part.title)
		for _, o := range part.options {
			b.WriteString(helpLine(o))
		}
	}
	b.WriteString("\nBYTES and RATE take a suffix K, M, G or T: powers of 1024 of bytes and of 1000 of rates.\n")
	return b.String()
}

func helpLine(o option) string {
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
	if len(left) > 30 {
		return fmt.Sprintf("%s\n%-32s%s\n", left, "", right)
	}
	return fmt.Sprintf("%-32s%s\n", left, right)
}

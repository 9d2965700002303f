package iperf3

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of options into the reference")

const (
	referencePage = "../../../docs/reference/soku-iperf3.md"
	tableBegins   = "<!-- options: made by go test ./internal/dropin/iperf3 -update -->\n"
	tableEnds     = "<!-- end of options -->\n"
)

// optionTable is the table of the reference.
func optionTable() string {
	var b strings.Builder
	for _, part := range []struct {
		title   string
		options []flagOption
	}{
		{"For a server or a client", commonOptions()}, {"For a server", serverOptions()},
		{"For a client", clientOptions()}, {"Older names", olderNames()},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n| option | supported | difference |\n|---|---|---|\n", part.title)
		for _, o := range part.options {
			supported := "yes"
			if o.set == nil {
				supported = "no"
			}
			what := o.what
			if o.old && what == "" {
				what = o.help
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.name(), supported, what)
		}
	}
	return b.String() + "\n"
}

func TestTheReferenceHasEveryOption(t *testing.T) {
	page, err := os.ReadFile(referencePage)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), tableBegins)
	_, after, ok2 := strings.Cut(rest, tableEnds)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", referencePage)
	}
	want := before + tableBegins + optionTable() + tableEnds + after
	if *update {
		if err := os.WriteFile(referencePage, []byte(want), 0o644); err != nil { //nolint:gosec // a page for all
			t.Fatal(err)
		}
		return
	}
	if want != string(page) {
		t.Error("the table of options is out of date: go test ./internal/dropin/iperf3 -update")
	}
}

package cli

import (
	"strings"
	"testing"

	"soku/internal/text"
	"soku/test/tier"
)

func TestALongRowWrapsBelowItsText(t *testing.T) {
	const text = "one two three four five six seven eight nine ten eleven twelve"
	for _, c := range []struct {
		name    string
		columns int
		text    string
		want    string
	}{
		{"no terminal", 0, text, "name  " + text + "\n"},
		{"wide enough", 6 + len(text), text, "name  " + text + "\n"},
		{"too narrow", 36, text, "name  one two three four five six\n      seven eight nine ten eleven\n      twelve\n"},
		{"hopelessly narrow", 20, text, "name  " + text + "\n"},
		{"an indented text", 36, "  before: " + text, "name    before: one two three four\n      five six seven eight nine ten\n      eleven twelve\n"},
		{"a long word", 36, strings.Repeat("x", 40) + " " + text[:7], "name  " + strings.Repeat("x", 40) + "\n      one two\n"},
		{"a number and its unit", 36, "goodput of 15 streams in all: 15 Gbit/s", "name  goodput of 15 streams in all:\n      15 Gbit/s\n"},
		{"wide characters", 36, "経路 経路経路経路経路経路 経路経路", "name  経路 経路経路経路経路経路 経路\n      経路\n"},
		{"Japanese", 36, "受信側のカウントは 1.500 GB（損失率は 3 ラウンドで 2 %）。原因は不明", "name  受信側のカウントは 1.500 GB\n      （損失率は 3 ラウンドで\n      2 %）。原因は不明\n"},
		{"no full stop first", 36, "経路経路経路経路経路経路経路経。経路", "name  経路経路経路経路経路経路経路\n      経。経路\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			labelled(&b, 5, c.columns)("name", "%s", c.text)
			if b.String() != c.want {
				t.Errorf("in %d columns:\n%swant\n%s", c.columns, b.String(), c.want)
			}
		})
	}
}

func TestASummaryFitsTheTerminal(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	addr := startServer(t, nil)
	for _, args := range [][]string{
		{"tcp", addr, "-t", "200ms", "-P", "2"},
		{"udp", addr, "-t", "200ms", "-b", "0"},
		{"latency", addr, "-t", "200ms"},
		{"connect", addr, "-t", "200ms"},
	} {
		sys, out, errs := fakeSystem(t, append(args, "--no-save")...)
		sys.StdoutWidth = func() int { return 80 }
		if code := Run(sys); code != 0 {
			t.Fatalf("%s: status %d: %s", args[0], code, errs)
		}
		for line := range strings.Lines(out.String()) {
			if strings.HasPrefix(line, "result ") {
				continue // the last line stays one, for programs that read it
			}
			if n := text.Terminal.StringWidth(strings.TrimRight(line, "\n")); n > 80 {
				t.Errorf("%s: %d columns: %s", args[0], n, line)
			}
		}
	}
}

// A label of another script takes two columns a character.
func TestCellsAreAsWideAsTheTerminalShowsThem(t *testing.T) {
	for want, got := range map[string]string{
		"経路   a → b":      cells([]int{-6, 0}, "経路", "a → b"),
		"path   a → b":    cells([]int{-6, 0}, "path", "a → b"),
		"  経路 48.21 µs":   cells([]int{6, 0}, "経路", "48.21 µs"),
		"longer 1    2 x": cells([]int{-2, -4, 0, 0}, "longer", "1", "2", "x"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

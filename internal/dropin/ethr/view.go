package ethr

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"soku/internal/printable"
)

const (
	// leastColumns and leastLines are the size of the smallest terminal for the view.
	leastColumns, leastLines = 64, 16
	// viewMessages and viewErrors are the numbers of lines of each.
	viewMessages, viewErrors = 5, 3
	// rowsFresh is how long the rows of a second are shown.
	rowsFresh = 1500 * time.Millisecond
)

// view draws a server's activity on the whole terminal, each second. Its methods may be
// called from any goroutine.
type view struct {
	w     io.Writer
	size  func() (columns, lines int)
	now   func() time.Time
	title string

	mu       sync.Mutex
	head     string
	rows     []string
	since    time.Time // of the rows
	messages []string
	errors   []string
	traffic  []string
}

// add keeps a message until newer ones displace it.
func (v *view) add(kind, text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	list, most := &v.messages, viewMessages
	if kind != "INFO" {
		list, most = &v.errors, viewErrors
	}
	*list = append(*list, text)
	*list = (*list)[max(0, len(*list)-most):]
}

// table sets the rows of a second.
func (v *view) table(head string, rows []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.head, v.rows, v.since = head, rows, v.now()
}

// statistics sets the lines about this host.
func (v *view) statistics(lines []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.traffic = lines
}

// run draws each second until stop is closed, and then restores the terminal.
func (v *view) run(stop <-chan struct{}, decimals int) {
	const other, back = printable.Sequence("\x1b[?1049h\x1b[?25l"), printable.Sequence("\x1b[?25h\x1b[?1049l") // the alternate screen, without the cursor
	printable.Draw(v.w, other)
	defer printable.Draw(v.w, back)
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	counters := traffic{decimals: decimals}
	for {
		v.statistics(counters.look(v.now()))
		v.draw()
		select {
		case <-ticker.C:
		case <-stop:
			return
		}
	}
}

func (v *view) draw() {
	columns, lines := v.size()
	const home, reverse, normal, below = printable.Sequence("\x1b[H"), printable.Sequence("\x1b[7m"), printable.Sequence("\x1b[0m"), printable.Sequence("\x1b[J")
	const newLine, endLine = printable.Sequence("\r\n"), printable.Sequence("\x1b[K")
	parts := []any{home}
	for i, line := range v.frame(columns, lines) {
		if i == 0 {
			parts = append(parts, reverse, line, normal, endLine)
		} else {
			parts = append(parts, newLine, line, endLine)
		}
	}
	printable.Draw(v.w, append(parts, below)...)
}

// frame is the content for a terminal of this size. If it is too small, rows of the table
// are omitted first.
func (v *view) frame(columns, lines int) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var below []string
	for _, part := range []struct {
		name  string
		lines []string
	}{{"Statistics", v.traffic}, {"Messages", v.messages}, {"Errors", v.errors}} {
		if len(part.lines) > 0 {
			below = append(append(below, ruled(part.name, columns)), part.lines...)
		}
	}
	const above = 3 // title, rule and head of the table
	below = below[:max(0, min(len(below), lines-above-1))]
	out := []string{centred(v.title, columns), ruled("Test Results", columns), v.head}
	rows := v.rows
	if v.now().Sub(v.since) > rowsFresh {
		rows = nil
	}
	if room := max(lines-above-len(below), 1); len(rows) > room {
		rows = append(rows[:room-1:room-1], fmt.Sprintf("and %d more", len(rows)-room+1))
	}
	out = append(out, rows...)
	for len(out)+len(below) < lines {
		out = append(out, "")
	}
	out = append(out, below...)
	for i, line := range out {
		out[i] = shown(line, columns)
	}
	return out[:min(len(out), max(lines, 1))]
}

// ruled is a line with a name in its middle.
func ruled(name string, columns int) string {
	left := max(0, (columns-len(name))/2)
	return strings.Repeat("─", left) + name + strings.Repeat("─", max(0, columns-left-len(name)))
}

func centred(text string, columns int) string {
	return fmt.Sprintf("%-*s", columns, strings.Repeat(" ", max(0, (columns-len(text))/2))+text)
}

// shown is the part of a line that fits, without control characters.
func shown(line string, columns int) string {
	runes := []rune(printable.Line(line))
	return string(runes[:min(len(runes), max(columns, 0))])
}

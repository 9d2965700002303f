package cli

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"soku/internal/measure/option"
	"soku/internal/store"
	"soku/internal/text"
)

// listed is a row of the list of results.
type listed struct {
	entry   store.Entry
	options string // those that differ from the defaults of the test
}

// listing is the list of results, for a person.
type listing struct {
	catalogue *text.Catalogue
	rows      []listed
	// several reports whether several results of the store begin with a text.
	several func(text string) bool
}

// resultTable reads what the query selects: entries, and of the documents the options.
func resultTable(ctx context.Context, c *text.Catalogue, st store.Store, q store.Query) (*listing, error) {
	t := &listing{catalogue: c, several: func(text string) bool {
		page, err := st.List(ctx, store.Query{IDPrefix: text, Limit: 2})
		return err != nil || len(page.Items) > 1
	}}
	for e, err := range store.Entries(ctx, st, q) {
		if err != nil {
			return nil, err
		}
		t.rows = append(t.rows, listed{entry: e})
	}
	next, stop := iter.Pull2(st.Results(ctx, q, store.Outline))
	defer stop()
	r, err, more := next()
	for i := range t.rows {
		// Results that were put or deleted meanwhile are in one of both only.
		for more && err == nil && r.ID != t.rows[i].entry.ID && r.StartedAt.After(t.rows[i].entry.StartedAt) {
			r, err, more = next()
		}
		if err != nil {
			return nil, err
		}
		if more && r.ID == t.rows[i].entry.ID {
			t.rows[i].options = option.Changed(r)
			r, err, more = next()
		}
	}
	return t, nil
}

// The columns of the list.
const (
	columnID = iota
	columnStarted
	columnTest
	columnPath
	columnPattern
	columnFigure
	columnOptions
)

// shortID is how many characters of an identity begin with its time, and are shown at least:
// soku show takes the beginning of one.
const shortID = 13

// fit makes the rows as wide as the terminal allows, or whole for a width of 0. What says
// least goes first: the end of identities, years, a client that all have, and then the ends
// of the longest cells.
func (t *listing) fit(width int) [][]string {
	rows := t.cells(func(e store.Entry) string { return e.ID }, moment, clientOf)
	if width <= 0 || tableWidth(rows) <= width {
		return rows
	}
	short := t.shortest()
	id := func(e store.Entry) string { return e.ID[:min(short, len(e.ID))] }
	client := clientOf
	if t.oneClient() {
		client = func(store.Entry) string { return "" }
	}
	rows = t.cells(id, func(m time.Time) string { return m.Local().Format("01-02 15:04") }, client)
	if tableWidth(rows) > width {
		for _, row := range rows {
			row[columnFigure], _, _ = strings.Cut(row[columnFigure], " (")
		}
	}
	shrink(rows, width, columnPath, columnPattern, columnOptions)
	if tableWidth(rows) > width { // identities are in order of time
		leaveOut(rows, columnStarted)
		shrink(rows, width, columnPath, columnPattern, columnOptions)
	}
	for _, column := range []int{columnPath, columnOptions, columnPattern} {
		if tableWidth(rows) > width {
			leaveOut(rows, column)
		}
	}
	shrink(rows, width, columnFigure) // last: without its unit a figure says nothing
	return rows
}

const (
	mostShortened = 500     // identities that are shortened: each is a query
	wholeID       = 1 << 16 // more characters than an identity has
)

// shortest is how many characters each identity needs to be the only one in the store that begins
// so, also among results that are not listed.
func (t *listing) shortest() int {
	var ids []string
	for _, r := range t.rows {
		ids = append(ids, r.entry.ID)
	}
	if len(ids) > mostShortened {
		return wholeID
	}
	n := tellsApart(ids, shortID)
	for _, id := range ids {
		for n < len(id) && t.several(id[:n]) {
			n++
		}
	}
	return n
}

// leaveOut empties a column, which is then not printed.
func leaveOut(rows [][]string, column int) {
	for _, row := range rows {
		row[column] = ""
	}
}

// The columns of the list of campaigns.
const (
	campaignID = iota
	campaignStarted
	_ // trials
	campaignState
	campaignTitle
)

// wideTitle is how many columns a title has before the start of its campaign is left out.
const wideTitle = 20

// fitCampaigns makes the rows of the list of campaigns as wide as the terminal allows, or leaves
// them whole for a width of 0. Cells are printable. What identities have goes first: they begin
// with the start, and have the name. Of their own end goes what does not tell them apart.
func fitCampaigns(rows [][]string, width int) {
	if width <= 0 {
		return
	}
	if title := text.ColumnWidths(rows)[campaignTitle]; tableWidth(rows)-max(0, title-wideTitle) > width {
		leaveOut(rows, campaignStarted)
	}
	shrink(rows, width, campaignTitle)
	if tableWidth(rows) > width {
		leaveOut(rows, campaignTitle)
	}
	var ids []string
	for _, row := range rows[1:] {
		ids = append(ids, row[campaignID])
	}
	whole := text.ColumnWidths(rows)[campaignID]
	to := max(tellsApart(ids, len("20261125-213132")), whole-max(0, tableWidth(rows)-width))
	for _, row := range rows {
		row[campaignID] = terminal.Truncate(row[campaignID], to, "") // its beginning is accepted
	}
	shrink(rows, width, campaignState)
}

func clientOf(e store.Entry) string { return e.Client + " " }

func (t *listing) cells(id func(store.Entry) string, started func(time.Time) string, client func(store.Entry) string) [][]string {
	rows := [][]string{t.catalogue.Headings("head.result", "head.started", "head.test", "head.path", "head.pattern", "head.figure", "head.options")}
	for _, r := range t.rows {
		e := r.entry
		rows = append(rows, []string{
			id(e), started(e.StartedAt), string(e.Test), client(e) + "→ " + e.Server, e.Pattern, headline(t.catalogue, e), r.options,
		})
	}
	makePrintable(rows)
	return rows
}

// tellsApart is how many characters distinguish all identities, least or more.
func tellsApart(ids []string, least int) int {
	longest := 0
	for _, id := range ids {
		longest = max(longest, len(id))
	}
	for ; least < longest; least++ {
		seen := map[string]bool{}
		for _, id := range ids {
			seen[id[:min(least, len(id))]] = true
		}
		if len(seen) == len(ids) {
			break
		}
	}
	return least
}

func (t *listing) oneClient() bool {
	return !slices.ContainsFunc(t.rows, func(r listed) bool { return r.entry.Client != t.rows[0].entry.Client })
}

func tableWidth(rows [][]string) (sum int) {
	for _, w := range text.ColumnWidths(rows) {
		if w > 0 {
			sum += w + 2
		}
	}
	return max(0, sum-2)
}

// leastCell is down to how many columns cells are cut.
const leastCell = 6

// shrink cuts the cells of some columns, the widest first, until the table fits. Cells are
// printable.
func shrink(rows [][]string, width int, columns ...int) {
	widths := text.ColumnWidths(rows)
	whole := slices.Clone(widths)
	for range tableWidth(rows) - width {
		widest := columns[0]
		for _, c := range columns {
			if widths[c] > widths[widest] {
				widest = c
			}
		}
		if widths[widest] <= leastCell {
			break
		}
		widths[widest]--
	}
	for _, c := range columns {
		if widths[c] == whole[c] {
			continue
		}
		for _, row := range rows {
			row[c] = terminal.Truncate(row[c], widths[c], "…")
		}
	}
}

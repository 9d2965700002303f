package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strings"

	"soku/internal/store"
)

// Rows are rows of one table, a list a column. Each has at least one row.
type Rows struct {
	Table   string
	Columns []Column
}

// Column is a column of [Rows], whose list is the one that is not nil.
type Column struct {
	Name    string
	Texts   []string
	Numbers []int64
	Bytes   [][]byte
	JSON    bool // the texts are JSON
}

// Len is how many rows there are.
func (r Rows) Len() int {
	c := r.Columns[0]
	return max(len(c.Texts), len(c.Numbers), len(c.Bytes))
}

// insert writes rows and returns the identity of one that cannot be written. A row that is there with the same
// content is no error.
func (s *Store) insert(ctx context.Context, tx *sql.Tx, rows []store.Row) (failed string, err error) {
	if len(rows) == 0 {
		return "", nil
	}
	first := map[string]store.Row{} // two rows may have one identity
	unique := make([]store.Row, 0, len(rows))
	for _, r := range rows {
		there, known := first[r.ID]
		if !known {
			first[r.ID] = r
			unique = append(unique, r)
		} else if err := store.Conflict(s.Place, r.ID, r.Document, there.Document); err != nil {
			return r.ID, err
		}
	}
	// Two transactions that write the same results wait for each other in one order.
	slices.SortFunc(unique, func(a, b store.Row) int { return strings.Compare(a.ID, b.ID) })
	written, err := s.Dialect.InsertRows(ctx, tx, unique)
	if err != nil || len(written) == len(unique) {
		return rows[0].ID, err
	}
	return s.compare(ctx, tx, unique, written)
}

// InsertRows writes rows of different identities, and returns the identities of those that were not there yet.
func (d Dialect) InsertRows(ctx context.Context, tx *sql.Tx, rows []store.Row) (written map[string]bool, err error) {
	results, err := d.results(rows)
	if err != nil {
		return nil, err
	}
	ids, err := d.Insert(ctx, tx, results)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	written = make(map[string]bool, len(ids))
	for _, id := range ids {
		d.plain(&id)
		written[id] = true
	}
	for _, part := range d.parts(rows, written) {
		if part.Len() == 0 {
			continue
		}
		if _, err := d.Insert(ctx, tx, part); err != nil {
			return nil, err
		}
	}
	return written, nil
}

// results are the rows of the table result.
func (d Dialect) results(rows []store.Row) (Rows, error) {
	out := Rows{"result", make([]Column, len(resultColumns))}
	for i, c := range resultColumns {
		out.Columns[i] = Column{Name: c.name, JSON: c.name == "figures"}
	}
	for _, r := range rows {
		figures, err := json.Marshal(r.Figures)
		if err != nil {
			return out, err
		}
		for i, c := range resultColumns {
			to := &out.Columns[i]
			switch {
			case to.JSON:
				to.Texts = append(to.Texts, string(figures))
			case c.text != nil:
				to.Texts = append(to.Texts, d.text(c.text(r)))
			default:
				to.Numbers = append(to.Numbers, c.number(r))
			}
		}
	}
	return out, nil
}

// resultColumns are the columns of the table result, in its order, without those made of others.
var resultColumns = []struct {
	name   string
	text   func(store.Row) string
	number func(store.Row) int64
}{
	{name: "id", text: func(r store.Row) string { return r.ID }},
	{name: "started_at", number: func(r store.Row) int64 { return store.Nanos(r.StartedAt) }},
	{name: "test", text: func(r store.Row) string { return string(r.Test) }},
	{name: "client", text: func(r store.Row) string { return r.Client }},
	{name: "server", text: func(r store.Row) string { return r.Server }},
	{name: "direction", text: func(r store.Row) string { return string(r.Direction) }},
	{name: "via", text: func(r store.Row) string { return r.Via }},
	{name: "streams", number: func(r store.Row) int64 { return int64(r.Streams) }},
	{name: "campaign", text: func(r store.Row) string { return r.Campaign }},
	{name: "pattern", text: func(r store.Row) string { return r.Pattern }},
	{name: "label", text: func(r store.Row) string { return r.Label }},
	{name: "round", number: func(r store.Row) int64 { return int64(r.Round) }},
	{name: "position", number: func(r store.Row) int64 { return int64(r.Order) }},
	{name: "repetition", number: func(r store.Row) int64 { return int64(r.Repeat) }},
	{name: "error_kind", text: func(r store.Row) string { return string(r.ErrorKind) }},
	{name: "error", text: func(r store.Row) string { return r.Error }},
	{name: "figures"},
}

// parts are the rows of the other tables, of results that were written.
func (d Dialect) parts(rows []store.Row, written map[string]bool) []Rows {
	var ids []string
	var documents []store.Document
	var factor, level, levelOf, endpoint, endpointOf []string
	var levelAt, endpointAt []int64
	for _, r := range rows {
		if !written[r.ID] {
			continue
		}
		id, at := d.text(r.ID), store.Nanos(r.StartedAt)
		ids, documents = append(ids, id), append(documents, r.Document)
		for _, l := range r.Levels {
			factor, level, levelAt, levelOf = append(factor, d.text(l.Factor)), append(level, d.text(l.Value)), append(levelAt, at), append(levelOf, id)
		}
		for _, e := range r.Endpoints {
			endpoint, endpointAt, endpointOf = append(endpoint, d.text(e)), append(endpointAt, at), append(endpointOf, id)
		}
	}
	return append(d.Documents(ids, documents),
		Rows{"result_level", []Column{{Name: "factor", Texts: factor}, {Name: "level", Texts: level}, {Name: "started_at", Numbers: levelAt}, {Name: "result", Texts: levelOf}}},
		Rows{"result_endpoint", []Column{{Name: "endpoint", Texts: endpoint}, {Name: "started_at", Numbers: endpointAt}, {Name: "result", Texts: endpointOf}}})
}

// compare reports a row that differs from the one that is there.
func (s *Store) compare(ctx context.Context, tx *sql.Tx, rows []store.Row, written map[string]bool) (failed string, err error) {
	for _, r := range rows {
		if written[r.ID] {
			continue
		}
		var column []byte
		err := tx.QueryRowContext(ctx, s.Dialect.SQL(`SELECT `+s.Dialect.Document+` FROM document AS d WHERE d.id = ?`), s.Dialect.text(r.ID)).Scan(&column)
		if err == nil {
			err = store.Conflict(s.Place, r.ID, r.Document, column)
		}
		if err != nil {
			return r.ID, err
		}
	}
	return "", nil
}

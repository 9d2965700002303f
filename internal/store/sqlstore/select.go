package sqlstore

import (
	"fmt"
	"strings"

	"soku/internal/store"
)

// selection is the parts of a SELECT.
type selection struct {
	joins string // FROM and what is joined
	where []string
	args  []any
	order string
}

// Statement is SQL with the values of its parameters.
type Statement struct {
	Text string
	Args []any
}

// statement selects columns of at most limit rows. A limit of 0 selects all rows.
func (s selection) statement(columns string, limit int) Statement {
	text := "SELECT " + columns + s.joins
	if len(s.where) > 0 {
		text += " WHERE " + strings.Join(s.where, " AND ")
	}
	text += s.order
	if limit > 0 {
		text += fmt.Sprintf(" LIMIT %d", limit)
	}
	return Statement{text, s.args}
}

func (s *selection) add(condition string, args ...any) {
	s.where = append(s.where, condition)
	s.args = append(s.args, args...)
}

// List is the statement of [store.Store].List, whose limit is one more to find out whether a page follows.
func (d Dialect) List(q store.Query) (Statement, error) {
	sel, err := d.selectResults(q)
	return sel.statement(entryColumns, more(q.Limit)), err
}

// Campaigns is the statement of [store.Store].Campaigns, with such a limit.
func (d Dialect) Campaigns(q store.CampaignQuery) (Statement, error) {
	sel, err := d.selectCampaigns(q)
	return sel.statement(campaignColumns, more(q.Limit)), err
}

// selectResults turns a query into SQL that an index answers in the query's
// order. Where it asks for an endpoint or a level, the table of those comes
// first: it is sorted by time as well. The result's table is r.
func (d Dialect) selectResults(q store.Query) (selection, error) {
	if err := store.CheckLimit(q.Limit); err != nil {
		return selection{}, err
	}
	s := selection{joins: " FROM result AS r"}
	start, id := "r.started_at", "r.id"
	levels := q.Levels
	switch {
	case q.Endpoint != "":
		s.joins = " FROM result_endpoint AS t " + d.Leading + " result AS r ON r.id = t.result"
		start, id = "t.started_at", "t.result"
		s.add("t.endpoint = ?", d.text(q.Endpoint))
	case len(levels) > 0:
		s.joins = " FROM result_level AS t " + d.Leading + " result AS r ON r.id = t.result"
		start, id = "t.started_at", "t.result"
		s.add("t.factor = ? AND t.level = ?", d.text(levels[0].Factor), d.text(levels[0].Value))
		levels = levels[1:]
	case q.Campaign == "" && !q.ByHand && q.Test == "" && (q.Client == "" || q.Server == ""):
		start = d.Start
	}
	for _, l := range levels {
		s.add("EXISTS (SELECT 1 FROM result_level AS l WHERE l.factor = ? AND l.level = ? AND l.started_at = r.started_at AND l.result = r.id)", d.text(l.Factor), d.text(l.Value))
	}
	if q.Client != "" {
		s.add("r.client = ?", d.text(q.Client))
	}
	if q.Server != "" {
		s.add("r.server = ?", d.text(q.Server))
	}
	if q.Campaign != "" {
		s.add("r.campaign = ?", d.text(q.Campaign))
	}
	if q.ByHand {
		s.add("r.campaign = ''")
	}
	switch {
	case q.Test == "":
	case q.Campaign != "":
		s.add("(r.test = ?) IS TRUE", string(q.Test)) // no index: the index of the campaign selects fewer than that of the test
	default:
		s.add("r.test = ?", string(q.Test))
	}
	if !q.Since.IsZero() {
		s.add(start+" >= ?", store.Nanos(q.Since))
	}
	if !q.Until.IsZero() {
		s.add(start+" < ?", store.Nanos(q.Until))
	}
	s.prefix(id, d.text(q.IDPrefix))
	err := s.sort(start, id, q.OldestFirst, q.After)
	return s, err
}

func (d Dialect) selectCampaigns(q store.CampaignQuery) (selection, error) {
	if err := store.CheckLimit(q.Limit); err != nil {
		return selection{}, err
	}
	s := selection{joins: " FROM campaign"}
	if q.Name != "" {
		s.add("name = ?", d.text(q.Name))
	}
	s.prefix("id", d.text(q.IDPrefix))
	err := s.sort("started_at", "id", false, q.After)
	return s, err
}

// prefix selects identities that begin with a text. It is a range and not LIKE:
// it uses the index and knows no wildcards. U+10FFFF sorts after everything an
// identity can go on with.
func (s *selection) prefix(id, text string) {
	if text != "" {
		s.add(id+" >= ? AND "+id+" < ?", text, text+"\U0010FFFF")
	}
}

// sort orders by start and identity and goes on behind a cursor.
func (s *selection) sort(start, id string, oldestFirst bool, after store.Cursor) error {
	direction, behind := " DESC", "<"
	if oldestFirst {
		direction, behind = "", ">"
	}
	if after != "" {
		at, from, err := after.Position()
		if err != nil {
			return err
		}
		s.add("("+start+", "+id+") "+behind+" (?, ?)", at, from)
	}
	s.order = " ORDER BY " + start + direction + ", " + id + direction
	return nil
}

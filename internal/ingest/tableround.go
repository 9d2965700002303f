package ingest

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"soku/internal/measure"
)

// Limits of the numbers in a table, as in a plan.
const (
	maxRound  = 10_000
	maxRepeat = 1000
)

// checkRounds checks what the mapping says about rounds, repeats and sessions.
func (m *Mapping) checkRounds() error {
	for _, c := range []struct {
		name string
		cell Cell
		most int
	}{{"round", m.Round, maxRound}, {"repeat", m.Repeat, maxRepeat}, {"session", m.Session, 0}} {
		if c.cell == (Cell{}) {
			continue
		}
		if len(m.Results) == 0 {
			return m.fail(c.name, "ingest.mapping.no_table", measure.Figures{"name": c.name})
		}
		c.cell.Name = c.name
		if err := m.checkCells("", Cells{c.cell}); err != nil {
			return err
		}
		if c.cell.Value == "" {
			continue
		}
		if problem := wrongCell(c.name, c.cell.Value, c.most); problem != nil {
			return m.fail(c.name, problem.Code, problem.Figures)
		}
	}
	if m.Repeat == (Cell{}) {
		return nil
	}
	if m.Round == (Cell{}) {
		return m.fail("repeat", "ingest.mapping.repeat", nil)
	}
	for _, r := range m.Results {
		for _, f := range r.Figures {
			if f.isRange() {
				return m.fail("repeat", "ingest.mapping.repeat_range", measure.Figures{"figure": f.Name})
			}
		}
	}
	return nil
}

// wrongCell checks the number of a round or repeat, which is at most most, or, if most is 0, the
// name of a session. It returns nil if the cell is valid.
func wrongCell(name, text string, most int) *measure.Error {
	switch {
	case most > 0:
		if n := wholeNumber(text); n < 1 || n > most {
			return measure.Fail(measure.KindFile, "ingest.table.round", measure.Figures{"name": name, "text": short(text), "limit": most})
		}
	case text == "":
		return measure.Fail(measure.KindFile, "ingest.table.no_session", nil)
	case utf8.RuneCountInString(text) > maxText:
		// Two names that are cut to the same would look like one session.
		return measure.Fail(measure.KindFile, "ingest.table.long_session", measure.Figures{"text": short(text), "limit": maxText})
	}
	return nil
}

// wholeNumber reads a text of digits and returns 0 for any other text.
func wholeNumber(text string) int {
	if strings.Trim(text, "0123456789") != "" {
		return 0
	}
	n, _ := strconv.Atoi(text) // too many digits give the largest int
	return n
}

// setRound gives the result of a row what the table says about its round, repeat and session.
// The session has its number only in a campaign.
func (m *Mapping) setRound(s *Source, line int, r *measure.Result, row map[string]string) error {
	read := func(c Cell, name string, most int) (string, error) {
		text := c.text(row)
		if c == (Cell{}) {
			return "", nil
		}
		if problem := wrongCell(name, text, most); problem != nil {
			return "", located(s.Name, line, problem)
		}
		return text, nil
	}
	round, err := read(m.Round, "round", maxRound)
	if err != nil {
		return err
	}
	repeat, err := read(m.Repeat, "repeat", maxRepeat)
	if err != nil {
		return err
	}
	session, err := read(m.Session, "session", 0)
	if err != nil {
		return err
	}
	r.Trial.Round, r.Trial.Repeat = wholeNumber(round), wholeNumber(repeat)
	r.Origin.Round = r.Trial.Round
	if session != "" {
		r.Trial.Session = &measure.Session{ID: short(session)}
	}
	return nil
}

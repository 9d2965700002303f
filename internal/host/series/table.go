package series

import (
	"strings"
	"time"

	"soku/internal/measure"
)

// block is how many readings are made room for at a time.
const block = 64

// table holds readings: one row a reading, one place a column.
type table struct {
	columns []Column
	most    int
	at      []time.Time
	rows    [][]int64
	room    []int64 // for the next rows
}

// widen adds columns; readings until now do not know them.
func (t *table) widen(columns []Column) {
	if len(columns) == 0 {
		return
	}
	t.columns = append(t.columns, columns...)
	for i, row := range t.rows {
		wider := make([]int64, len(t.columns))
		for j := copy(wider, row); j < len(wider); j++ {
			wider[j] = Unknown
		}
		t.rows[i] = wider
	}
	t.room = nil
}

// add takes a reading. It reports whether every second one had to go before.
func (t *table) add(at time.Time, values []int64) (halved bool) {
	if len(t.rows) >= t.most {
		t.halve()
		halved = true
	}
	n := len(t.columns)
	if len(t.room) < n {
		t.room = make([]int64, n*block)
	}
	row := t.room[:n:n]
	t.room = t.room[n:]
	copy(row, values)
	t.at, t.rows = append(t.at, at), append(t.rows, row)
	return halved
}

// halve keeps the first, the third and so on. As counters go on, what happened in between
// stays in their differences.
func (t *table) halve() {
	n := 0
	for i := 0; i < len(t.rows); i += 2 {
		t.at[n], t.rows[n] = t.at[i], t.rows[i]
		n++
	}
	clear(t.rows[n:])
	t.at, t.rows = t.at[:n], t.rows[:n]
}

// spread fills the counters of a source, which begin at column first, in readings that left
// it out before the last one: what happened is taken to have happened evenly.
func (t *table) spread(first, columns int) {
	last := len(t.rows) - 1
	for c := first; c < first+columns; c++ {
		from := last - 1
		for from >= 0 && from > last-longestStride && t.rows[from][c] == Unknown {
			from--
		}
		if t.columns[c].Gauge || from < 0 || t.rows[from][c] == Unknown || t.rows[last][c] == Unknown {
			continue
		}
		a, all := t.rows[from][c], t.at[last].Sub(t.at[from])
		moved := float64(t.rows[last][c] - a)
		for i := from + 1; i < last; i++ {
			t.rows[i][c] = a + int64(moved*float64(t.at[i].Sub(t.at[from]))/float64(all))
		}
	}
}

// values are the readings as a document has them; false with less than two.
func (t *table) values() (v measure.SeriesValues, ok bool) {
	n := len(t.rows)
	if n < 2 {
		return v, false
	}
	v.AtNs = make([]int64, n)
	for i, at := range t.at {
		v.AtNs[i] = int64(at.Sub(t.at[0]))
	}
	v.Columns = map[string][]int64{}
	idle := t.idleProcessors()
	column := make([]int64, n-1)
	for c, col := range t.columns {
		if len(v.Columns) >= measure.SeriesColumns || !measure.SeriesKey(col.Key) || idle[processor(col.Key)] || !t.column(c, column) {
			continue
		}
		v.Columns[col.Key] = append([]int64(nil), column...)
	}
	return v, true
}

// column writes a column into out and reports whether it says anything.
func (t *table) column(c int, out []int64) (says bool) {
	for i := range out {
		from, to := t.rows[i][c], t.rows[i+1][c]
		switch {
		case t.columns[c].Gauge && to >= 0:
			out[i] = to
			says = says || to > 0 || !t.columns[c].Quiet
		case !t.columns[c].Gauge && from != Unknown && to >= from:
			out[i] = to - from
			says = says || out[i] > 0
		default: // not read, or reset
			out[i] = -1
		}
	}
	return says
}

// mostProcessors is how many processors a series has columns of.
const mostProcessors = 32

// processor returns the processor of a column, such as cpu7, or an empty string if the column does
// not belong to one processor.
func processor(key string) string {
	name, _, _ := strings.Cut(key, ".")
	if strings.HasPrefix(name, "cpu") {
		return name
	}
	return ""
}

// idleProcessors are those that worked least where there are more than [mostProcessors].
func (t *table) idleProcessors() map[string]bool {
	worked := map[string]int64{}
	first, last := t.rows[0], t.rows[len(t.rows)-1]
	for c, col := range t.columns {
		if p := processor(col.Key); p != "" && strings.HasSuffix(col.Key, "_ns") && first[c] != Unknown && last[c] != Unknown {
			worked[p] += last[c] - first[c]
		}
	}
	return leastOf(worked, mostProcessors)
}

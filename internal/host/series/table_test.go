package series

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"soku/internal/measure"
)

func TestAFullTableKeepsItsStartAtHalfTheResolution(t *testing.T) {
	tab := table{most: 8}
	tab.widen(counters("a"))
	start := time.Now()
	halved := 0
	for i := range 100 {
		if tab.add(start.Add(time.Duration(i)), []int64{int64(i)}) {
			halved++
		}
		if len(tab.rows) > 8 || tab.rows[0][0] != 0 || tab.rows[len(tab.rows)-1][0] != int64(i) {
			t.Fatalf("after %d readings: %v", i+1, tab.rows)
		}
	}
	v, _ := tab.values()
	var all int64
	for _, n := range v.Columns["a"] {
		all += n
	}
	if all != 99 || halved < 5 {
		t.Errorf("the differences add up to %d; halved %d times", all, halved)
	}
}

// A reading that goes may be the one that read a source that is read seldom.
func TestAFullTableLosesNothingOfASeldomSource(t *testing.T) {
	for most := range 20 {
		tab := table{most: 2 + most}
		tab.widen(counters("often", "seldom"))
		start, last := time.Now(), 0
		for i := range 200 {
			row := []int64{int64(i), Unknown}
			if known := i%3 == 0 || i == 199; known {
				row[1] = int64(10 * i)
			}
			tab.add(start.Add(time.Duration(i)*time.Second), row)
			if row[1] != Unknown {
				if i > last+1 {
					tab.spread(1, 1)
				}
				last = i
			}
		}
		v, ok := tab.values()
		if !ok || slices.Contains(v.Columns["seldom"], -1) || v.Total("seldom") != 1990 || v.Total("often") != 199 {
			t.Errorf("at most %d: %v", tab.most, v.Columns)
		}
	}
}

func TestWhatIsUnknownIsMarked(t *testing.T) {
	tab := table{most: 100}
	tab.widen([]Column{{Key: "counter"}, {Key: "gauge", Gauge: true}, {Key: "never"}, {Key: "quiet", Gauge: true, Quiet: true}})
	start := time.Now()
	for i, row := range [][]int64{{5, 1, Unknown, 0}, {9, Unknown, Unknown, 0}, {Unknown, 3, 4, 0}, {20, 0, Unknown, 0}, {8, 2, Unknown, 0}, {9, 2, Unknown, 0}} {
		tab.add(start.Add(time.Duration(i)), row)
	}
	v, ok := tab.values()
	if !ok || len(v.Columns) != 2 || !slices.Equal(v.Columns["counter"], []int64{4, -1, -1, -1, 1}) || !slices.Equal(v.Columns["gauge"], []int64{-1, 3, 0, 2, 2}) {
		t.Errorf("%v", v.Columns)
	}
}

func TestColumnsThatComeLaterAreUnknownBefore(t *testing.T) {
	tab := table{most: 100}
	tab.widen(counters("a"))
	start := time.Now()
	tab.add(start, []int64{1})
	tab.add(start.Add(1), []int64{2})
	tab.widen(counters("b"))
	tab.add(start.Add(2), []int64{3, 10})
	tab.add(start.Add(3), []int64{4, 12})
	if v, _ := tab.values(); !slices.Equal(v.Columns["a"], []int64{1, 1, 1}) || !slices.Equal(v.Columns["b"], []int64{-1, -1, 2}) {
		t.Errorf("%v", v.Columns)
	}
}

func TestOfManyProcessorsTheBusiestHaveColumns(t *testing.T) {
	tab := table{most: 100}
	var first, last []int64
	for i := range 300 {
		cpu := fmt.Sprintf("cpu%d.", i)
		tab.widen(counters(cpu+"user_ns", cpu+"interrupts"))
		first, last = append(first, 0, 0), append(last, int64(i+1), 1)
	}
	tab.widen(counters("tcp.timeouts"))
	tab.add(time.Now(), append(first, 0))
	tab.add(time.Now(), append(last, 1))
	v, _ := tab.values()
	if len(v.Columns) != 2*mostProcessors+1 || v.Columns["cpu299.user_ns"] == nil || v.Columns["cpu268.interrupts"] == nil || v.Columns["cpu267.user_ns"] != nil {
		t.Errorf("%d columns", len(v.Columns))
	}
}

func TestASeriesKeepsToTheBoundsOfADocument(t *testing.T) {
	tab := table{most: measure.SeriesReadings}
	for i := range measure.SeriesColumns + 10 {
		tab.widen(counters(fmt.Sprintf("a%d", i)))
	}
	row := make([]int64, len(tab.columns))
	for i := range 2 * measure.SeriesReadings {
		for c := range row {
			row[c]++
		}
		tab.add(time.Unix(0, int64(i)), row)
	}
	v, _ := tab.values()
	text, err := measure.NewSeries(v).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var read measure.Series
	if err := read.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	if got, err := read.Values(); err != nil || len(got.Columns) != measure.SeriesColumns {
		t.Errorf("%d columns, %v", len(got.Columns), err)
	}
}

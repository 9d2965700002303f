package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/report/outline"
	"soku/internal/text"
)

// Charts have their content in words and in figures, and the whole of each name.
func TestChartsAreDescribedAndHaveATable(t *testing.T) {
	long := fourPatterns()
	long.patterns[1].sku = strings.Repeat("Ultra Performance ", 20)
	limited := streamsOverGateways()
	for name, in := range map[string]Input{
		"every test": everyTest(), "load": loaded(campaignWithFailure(), 64, 0.5), "long names": loaded(long.input(), 4, 0.5), "copies": copies(true, true),
		"limits": limited, "curves": streamSweep("1", "2").input(), "a curve": streamSweep("1").input(), "one trial": {Results: fourPatterns().input().Results[:1]},
	} {
		for _, s := range build(t, in).outline(text.English(), true).Sections {
			for _, b := range s.Blocks {
				if b.Charts == nil {
					continue
				}
				if len(b.Tables) == 0 || len(b.Tables[0].Rows) == 0 || len(b.Tables[0].Rows) > mostPictured*outline.Hues {
					t.Errorf("%s: %s-%s has no table, or a long one", name, s.ID, b.Key)
				}
				for _, f := range b.Charts.Figures {
					for _, c := range f.Charts {
						checkChart(t, name+": "+c.ID, c)
					}
				}
			}
		}
	}
}

func checkChart(t *testing.T, name string, c outline.Chart) {
	t.Helper()
	if c.Title == "" || !strings.HasSuffix(c.Desc, ".") || !strings.ContainsAny(c.Desc, "0123456789") || strings.Contains(c.Desc, "NaN") {
		t.Errorf("%s is called %q and described by %q", name, c.Title, c.Desc)
	}
	for _, x := range c.Texts {
		if strings.Contains(x.Text, "…") && (x.Title == "" || strings.Contains(x.Title, "…")) {
			t.Errorf("%s: %q is cut, and its whole text is %q", name, x.Text, x.Title)
		}
	}
	for _, all := range [][]outline.Shape{c.Bands, c.Lines, c.Marks} {
		for _, x := range all {
			if x.Series < 0 || x.Series >= outline.Hues || x.Dash < 0 || x.Dash >= outline.Hues {
				t.Errorf("%s has the colour %d and the dashes %d", name, x.Series, x.Dash)
			}
		}
	}
}

func TestTheDescriptionOfAChartNamesItsEnds(t *testing.T) {
	test := english(build(t, tunnels(6).input()).test(t, "tcp"))
	for name, desc := range map[string]string{
		"answer": test.answerFigure("x").Charts[0].Desc, "trials": test.stripFigure("x").Charts[0].Desc,
	} {
		if !strings.Contains(desc, "lowest ") || !strings.Contains(desc, " (ultra / 16).") {
			t.Errorf("%s: %s", name, desc)
		}
	}
}

// The table of charts over time has means of parts of the time, in which an overshoot does not hide.
func TestChartsOverTimeHaveATableOfMeans(t *testing.T) {
	test := english(build(t, fourPatterns().input()).test(t, "tcp"))
	table := test.timeTable(false, timeOf)
	if len(table.Rows) != 4 || len(table.Columns) != 11 || table.Columns[1].Name != "0 to 1 s" || table.Caption != "Mbit/s" {
		t.Fatalf("%d rows, columns %+v", len(table.Rows), table.Columns)
	}
	for _, row := range table.Rows {
		if first, last := *row.Cells[1].Value, *row.Cells[10].Value; first > 0.6*last { // streams start slowly
			t.Errorf("%s: %v in the first second, %v in the last", row.Name, first, last)
		}
	}
}

// manyTrials is a campaign of TCP trials with a sample a second.
func manyTrials(patterns, rounds int) Input {
	r := rand.New(rand.NewPCG(3, 3))
	in := Input{Campaign: Meta{ID: "c", Name: "c"}}
	for round := 1; round <= rounds; round++ {
		for p := range patterns {
			x := tcpTrial(fmt.Sprintf("pattern %d", p), round, 1e9*(1+r.Float64()))
			x.ID, x.StartedAt = fmt.Sprintf("%07d", len(in.Results)), syntheticStart.Add(time.Duration(len(in.Results))*time.Second)
			x.Trial.Levels = []measure.Level{{Factor: "pattern", Value: fmt.Sprint("p", p)}}
			f := measure.Flow{Direction: measure.Forward}
			for i := range int64(10) {
				f.Samples = append(f.Samples, measure.Sample{StartNs: i * 1e9, EndNs: (i + 1) * 1e9, ReceivedBytes: int64(1e8 * (1 + r.Float64()))})
			}
			x.Flows = []measure.Flow{f}
			in.Results = append(in.Results, x)
		}
	}
	return in
}

func TestAPageOfTenThousandTrialsIsSmall(t *testing.T) {
	for _, c := range [][2]int{{400, 25}, {4, 2500}} {
		page := written(t, inEnglish(build(t, manyTrials(c[0], c[1])).HTML))
		if len(page) > 2_000_000 {
			t.Errorf("%d patterns in %d rounds make a page of %d bytes", c[0], c[1], len(page))
		}
	}
}

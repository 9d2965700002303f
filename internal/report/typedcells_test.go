package report

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"soku/internal/report/outline"
	"soku/internal/text"
)

// A spreadsheet gets the figures themselves, not their texts.
func TestEveryFigureOfATableIsThereAsANumber(t *testing.T) {
	udp := fourPatterns()
	udp.udp = true
	figures := 0
	for name, in := range map[string]Input{
		"all tests": everyTest(), "four": udp.input(), "failure": campaignWithFailure(), "mesh": mesh{hosts: hostsNamed(5), rounds: 5, noise: 0.005}.input(), "couples": couples().input(),
		"copies": copies(true, true), "curves": streamSweep("1", "2").input(), "curve": streamSweep("1").input(), "limits": streamsOverGateways(), "paths": gatewaysBehindPaths(),
		"searched": searchedGateways(), "control": withControl(2e9), "graded": graded(12, 6, 0.01), "load": loaded(fourPatterns().input(), 16, 0.4),
	} {
		for _, s := range build(t, in).outline(text.English(), false).Sections {
			for _, b := range s.Blocks {
				for _, table := range b.Tables {
					for i, c := range table.Columns {
						if !c.Number || levelColumn(c) {
							continue
						}
						for _, r := range table.Rows {
							figures++
							if cell := r.Cells[i]; !isItsText(cell) {
								t.Errorf("%s: %s, %s: %q has %v to %v", name, s.ID+" "+b.Key, c.Name, cell.Text, value(cell.Value), value(cell.High))
							}
						}
					}
				}
			}
		}
	}
	if figures < 500 {
		t.Errorf("%d figures", figures)
	}
}

// levelColumn reports whether the cells are levels of a factor, which are numbers here.
func levelColumn(c outline.Column) bool {
	return strings.HasPrefix(c.Name, "from ") || slices.Contains([]string{"streams", "limit"}, c.Name)
}

func value(v *float64) any {
	if v == nil {
		return "none"
	}
	return *v
}

var numbers = regexp.MustCompile(`[−-]?[0-9]+(?:\.[0-9]+)?`)

// isItsText reports whether the figures of a cell are those of its text, as far as that has digits.
func isItsText(c outline.Cell) bool {
	said := numbers.FindAllString(c.Text, -1)
	var has []*float64
	for _, v := range []*float64{c.Value, c.High} {
		if v != nil {
			has = append(has, v)
		}
	}
	if len(said) == 0 || strings.Contains(c.Text, " of ") { // such as 1 of 3 trials
		return len(said) > 0 || len(has) == 0
	}
	if len(said) != len(has) {
		return false
	}
	for i, s := range said {
		v, err := strconv.ParseFloat(strings.ReplaceAll(s, "−", "-"), 64)
		_, decimals, _ := strings.Cut(s, ".")
		if err != nil || math.Abs(v-*has[i]) > 0.51*math.Pow10(-len(decimals)) {
			return false
		}
	}
	return true
}

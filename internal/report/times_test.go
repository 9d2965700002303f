package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"soku/internal/text"
)

func TestAReportCountsTheTimesAtWhichNoRoundBegan(t *testing.T) {
	begin := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		begins     []time.Duration // of rounds
		unfinished bool
		times      int // of the plan
		want       string
	}{
		"all":                               {begins: []time.Duration{0, time.Hour, 2 * time.Hour}, times: 3},
		"nothing ran":                       {begins: []time.Duration{0, 4 * time.Hour, 5 * time.Hour}, times: 6, want: "in 3 rounds (3 of 6 times missed),"},
		"the last":                          {begins: []time.Duration{0, time.Hour}, times: 3, want: "(1 of 3 times missed)"},
		"more are to come":                  {begins: []time.Duration{0, time.Hour}, times: 3, unfinished: true},
		"a number of rounds":                {begins: []time.Duration{0, 2 * time.Hour}, want: "(1 of 3 times missed)"},
		"a clock that is behind by seconds": {begins: []time.Duration{-time.Second, time.Hour - time.Second, 2*time.Hour - time.Second}, times: 3},
		"a command of 80 minutes before each round": {begins: []time.Duration{80 * time.Minute, 3*time.Hour + 80*time.Minute}, times: 4, want: "(2 of 4 times missed)"},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input{Campaign: Meta{Name: "timed", StartedAt: begin, FinishedAt: begin.Add(24 * time.Hour)}, Design: Design{Every: time.Hour, Times: c.times}}
			if c.unfinished {
				in.Campaign.FinishedAt = time.Time{}
			}
			for i, after := range c.begins {
				for repeat := range 2 {
					r := tcpTrial("p", i+1, 1e9)
					r.ID, r.StartedAt = fmt.Sprintf("%s-%d", r.ID, repeat), begin.Add(after+time.Duration(repeat)*80*time.Minute)
					in.Results = append(in.Results, r)
				}
			}
			subtitle := reportView{build(t, in), text.English()}.subtitle()
			if missed := strings.Contains(subtitle, "missed"); missed != (c.want != "") || !strings.Contains(subtitle, c.want) {
				t.Errorf("%s\nwant %q", subtitle, c.want)
			}
		})
	}
}

package tests

import (
	"strconv"

	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/text/messages"
)

// rateColumn is the rate of an interval.
func rateColumn(head string) Column {
	return Column{head, 14, func(_ *text.Catalogue, p measure.Progress) string { return messages.FormatRate(p.Bps) }}
}

// bytesColumn is the payload of an interval.
func bytesColumn(head string) Column {
	return Column{head, 12, func(_ *text.Catalogue, p measure.Progress) string { return messages.FormatBytes(float64(p.Bytes)) }}
}

// roundTripColumns are the distribution of an interval; an interval without a reply
// says so in the first.
func roundTripColumns(count string) []Column {
	columns := []Column{{count, 8, func(c *text.Catalogue, p measure.Progress) string {
		if p.RTT == nil {
			return c.Sentence("live.no_reply", nil)
		}
		return strconv.FormatInt(p.RTT.Count, 10)
	}}}
	for _, c := range []struct {
		head string
		pick func(*measure.Percentiles) float64
	}{
		{"live.min", func(p *measure.Percentiles) float64 { return p.Min }}, {"live.median", func(p *measure.Percentiles) float64 { return p.P50 }},
		{"live.p99", func(p *measure.Percentiles) float64 { return p.P99 }}, {"live.max", func(p *measure.Percentiles) float64 { return p.Max }},
	} {
		columns = append(columns, Column{c.head, 11, func(_ *text.Catalogue, p measure.Progress) string {
			if p.RTT == nil || c.pick(p.RTT) == 0 {
				return ""
			}
			return messages.FormatLatency(c.pick(p.RTT))
		}})
	}
	return columns
}

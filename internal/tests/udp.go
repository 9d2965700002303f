package tests

import (
	"strconv"

	_ "soku/internal/engine/udp"
	"soku/internal/measure"
)

var _ = register(Descriptor{Test: measure.TestUDP, Live: udpColumns, Summary: flowSummary})

func udpColumns(v View) []Column {
	packets := Column{"live.packets", 10, func(p measure.Progress) string { return strconv.FormatInt(p.Packets, 10) }}
	if v.Sender {
		return []Column{rateColumn("live.rate"), packets}
	}
	return []Column{
		rateColumn("live.goodput"), packets,
		{"live.lost", 8, func(p measure.Progress) string { return strconv.FormatInt(p.Lost, 10) }},
		{"live.jitter", 11, func(p measure.Progress) string { return measure.FormatLatency(p.JitterNs) }},
	}
}

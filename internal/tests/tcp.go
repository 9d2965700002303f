package tests

import (
	_ "soku/internal/engine/tcp"
	"soku/internal/measure"
)

var _ = register(Descriptor{Test: measure.TestTCP, Live: tcpColumns, Summary: flowSummary})

func tcpColumns(v View) []Column {
	if v.Sender {
		return []Column{rateColumn("live.rate"), bytesColumn("live.moved")}
	}
	return []Column{rateColumn("live.goodput"), bytesColumn("live.received")}
}

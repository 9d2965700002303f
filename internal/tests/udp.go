package tests

import (
	"context"
	"strconv"

	"soku/internal/engine/flows"
	_ "soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/text"
	"soku/internal/text/messages"
	"soku/internal/wire"
)

func init() {
	register(Descriptor{
		Test: measure.TestUDP, Open: openUDP, Compare: comparePacketRate, Serve: serveFlows, Limit: limitStreams,
		Live: udpColumns, Summary: flowSummary,
	})
}

func openUDP(ctx context.Context, s wire.Session, _ measure.Options) (ClientEnd, error) {
	conns, err := s.UDP(ctx)
	end := ClientEnd{Conns: flows.Conns{UDP: conns}}
	end.Run = end.flows
	return end, err
}

func udpColumns(v View) []Column {
	packets := Column{"live.packets", 10, func(_ *text.Catalogue, p measure.Progress) string { return strconv.FormatInt(p.Packets, 10) }}
	if v.Sender {
		return []Column{rateColumn("live.rate"), packets}
	}
	return []Column{
		rateColumn("live.goodput"), packets,
		{"live.lost", 8, func(_ *text.Catalogue, p measure.Progress) string { return strconv.FormatInt(p.Lost, 10) }},
		{"live.jitter", 11, func(_ *text.Catalogue, p measure.Progress) string { return messages.FormatLatency(p.JitterNs) }},
	}
}

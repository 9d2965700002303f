package cli

import (
	"fmt"

	"soku/internal/measure"
)

// printMTUSummary writes the path MTU, what limits it and how that is known.
func printMTUSummary(row rowPrinter, m *measure.PathMTU) {
	row("path MTU", "%d bytes get through in one IP packet", m.Bytes)
	row("limited by", "%s", limitText(m))
	for _, r := range m.Reports {
		text := "probes do not agree"
		if r.Confirmed {
			text = fmt.Sprintf("probes agree: %d bytes do not get through", m.FailedBytes)
		}
		said := fmt.Sprintf("%d bytes", r.Bytes)
		if r.Bytes == 0 {
			said = "too big, and not what would do"
		}
		row("report", "%s says %s; %s", r.Address, said, text)
	}
	passed, failed := 0, 0
	for _, s := range m.Sizes {
		if s.Answered {
			passed++
		} else {
			failed++
		}
	}
	row("sizes", "%d tried: %d got through, %d did not", len(m.Sizes), passed, failed)
	row("method", "%s", m.Method)
}

// limitText says what limits the path MTU.
func limitText(m *measure.PathMTU) string {
	switch m.Limit {
	case measure.LimitInterface:
		if m.FailedBytes == 0 {
			return fmt.Sprintf("this host's interface, with an MTU of %d; the path carries all that it sends", m.InterfaceBytes)
		}
		return fmt.Sprintf("a route of this host; its interface has an MTU of %d", m.InterfaceBytes)
	case measure.LimitReported:
		return fmt.Sprintf("hop %s, which reports it", hopText(m.After))
	case measure.LimitBlackHole:
		text := "a black hole after hop " + hopText(m.After)
		if m.After.Hop == 0 {
			text = "a black hole on the first link from " + m.After.Address
		}
		text += fmt.Sprintf(": larger packets vanish without a report before hop %s", hopText(m.Before))
		if m.Probe == "icmp" && len(m.Hops) > 0 && m.Before.Hop == m.Hops[len(m.Hops)-1].Hop {
			text += ", or its large reply does on the way back: --probe udp tells"
		}
		return text
	}
	if m.FailedBytes == 0 {
		return "not known: the search was not finished"
	}
	return fmt.Sprintf("not known where: %d bytes do not get through, and no hop answered to tell", m.FailedBytes)
}

func hopText(h *measure.MTUHop) string {
	if h.Name != "" {
		return terminalText(fmt.Sprintf("%d, %s (%s)", h.Hop, h.Name, h.Address))
	}
	return fmt.Sprintf("%d (%s)", h.Hop, h.Address)
}

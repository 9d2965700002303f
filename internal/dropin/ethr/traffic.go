package ethr

import (
	"fmt"
	"net"
	"time"

	"soku/internal/host"
)

// traffic is the traffic of this host's interfaces and TCP's retransmits, per second. One
// goroutine uses it.
type traffic struct {
	at       time.Time
	before   map[string]host.Traffic
	resent   int64
	decimals int
}

// look reads the counters; from the second call on it returns lines about them, if the
// system reports them.
func (t *traffic) look(now time.Time) []string {
	seconds := now.Sub(t.at).Seconds()
	first := t.at.IsZero()
	per := func(n int64) string { return unit(float64(max(n, 0))/seconds, t.decimals) }
	interfaces, err := net.Interfaces()
	if err != nil {
		return nil
	}
	var lines []string
	after := host.Interfaces()
	for _, i := range interfaces {
		c, ok := after[i.Name]
		if !ok || i.Flags&net.FlagUp == 0 {
			continue
		}
		if b, known := t.before[i.Name]; known && !first {
			lines = append(lines, fmt.Sprintf("%-16s  Tx %7sbps %7spps   Rx %7sbps %7spps", i.Name,
				per(8*(c.SentBytes-b.SentBytes)), per(c.SentPackets-b.SentPackets),
				per(8*(c.ReceivedBytes-b.ReceivedBytes)), per(c.ReceivedPackets-b.ReceivedPackets)))
		}
	}
	resent, ok := host.ReadRetransmits()
	if ok && !first && len(lines) > 0 {
		lines = append(lines, "Tcp Retrans: "+per(resent.Segments-t.resent))
	}
	t.at, t.before, t.resent = now, after, resent.Segments
	return lines
}

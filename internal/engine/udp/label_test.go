package udp

import (
	"net"
	"testing"
	"time"

	"soku/internal/measure"
)

func TestAReceiverSetsNoOptionOfItsSender(t *testing.T) {
	a, b := pairs(t, 1) // of IPv4, which has no flow labels
	o := options(time.Second, 1, 1_000_000)
	o.FlowLabel = 7
	for role, conns := range map[measure.Role][]net.Conn{measure.Sender: a, measure.Receiver: b} {
		f, err := newFlow(conns, o, role, forward, usual)
		f.ending.Stop()
		if refused := err != nil; refused != (role == measure.Sender) {
			t.Errorf("the %s says %v", role, err)
		}
	}
}

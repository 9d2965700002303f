package iperf3

import (
	"strconv"
	"testing"

	"soku/internal/server"
	wire "soku/internal/wire/iperf3"
	"soku/test/tier"
)

func TestAnIperf3ClientDoesNotGetBuffersByTheRightsOfTheServer(t *testing.T) {
	most := tier.NeedsRootBuffers(t)
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(`{"tcp":true,"time":1,"parallel":1,"len":1000,"window":` + strconv.Itoa(min(4*most, wire.MaxWindow)) + `}`)
	x.hears(wire.CreateStreams)
	x.dial()
	x.refusedWith(wire.CodeWindow)
	s.Idle()
}

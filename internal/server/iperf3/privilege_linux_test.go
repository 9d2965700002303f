package iperf3

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"soku/internal/server"
	wire "soku/internal/wire/iperf3"
	"soku/test/tier"
)

func TestAnIperf3ClientDoesNotGetBuffersByTheRightsOfTheServer(t *testing.T) {
	tier.NeedsRoot(t, "buffers beyond the system's limits")
	b, err := os.ReadFile("/proc/sys/net/core/rmem_max")
	if err != nil {
		t.Skip(err)
	}
	most, _ := strconv.Atoi(strings.TrimSpace(string(b)))
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(`{"tcp":true,"time":1,"parallel":1,"len":1000,"window":` + strconv.Itoa(min(4*most, wire.MaxWindow)) + `}`)
	x.hears(wire.CreateStreams)
	x.dial()
	x.refusedWith(wire.CodeWindow)
	s.Idle()
}

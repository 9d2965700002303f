package server

import (
	"net/netip"
	"testing"

	"soku/internal/engine/flows"
	"soku/internal/measure"
)

func TestFewSessionsHaveASeriesAtOnce(t *testing.T) {
	s, err := newServer(Config{Listen: "127.0.0.1:0"}, fakes())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.closePorts)
	s.descriptors = newDescriptors(1 << 16)
	session := func() *session {
		return &session{
			test: measure.TestTCP, options: measure.Options{Series: measure.SeriesOn},
			client: netip.MustParseAddrPort("192.0.2.1:7"), local: netip.MustParseAddr("192.0.2.2"),
		}
	}
	var stops []func() *measure.Series
	for range seriesAtOnce {
		stops = append(stops, s.sample(session(), flows.Conns{}))
	}
	if beside := session(); s.sample(beside, flows.Conns{})() != nil || beside.sampled.Load() {
		t.Errorf("a session beside %d others has a series", seriesAtOnce)
	}
	for _, stop := range stops {
		if stop() == nil {
			t.Error("no series")
		}
	}
	if s.descriptors.reserved != 0 {
		t.Errorf("%d descriptors are still reserved", s.descriptors.reserved)
	}
	if s.sample(session(), flows.Conns{})() == nil {
		t.Error("no series after the others ended")
	}
	s.descriptors = newDescriptors(1024)
	if s.sample(session(), flows.Conns{})() != nil {
		t.Error("a server of few descriptors spends them on a series")
	}
}

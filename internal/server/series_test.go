package server

import (
	"net/netip"
	"testing"

	"soku/internal/engine/flows"
	"soku/internal/host/series"
	"soku/internal/measure"
)

func TestASessionWithoutASeriesHoldsNothingForIt(t *testing.T) {
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
	begin := s.engines.sample
	s.engines.sample = func(series.Config) func() *measure.Series { return nil } // there are as many as may be
	if beside := session(); s.sample(beside, flows.Conns{})() != nil || beside.sampled.Load() {
		t.Error("a session beside too many others has a series")
	}
	if s.descriptors.reserved != 0 {
		t.Errorf("%d descriptors are reserved for no series", s.descriptors.reserved)
	}
	s.engines.sample = begin
	one := session()
	stop := s.sample(one, flows.Conns{})
	if s.descriptors.reserved != series.Descriptors || !one.sampled.Load() {
		t.Errorf("%d descriptors are reserved for a series", s.descriptors.reserved)
	}
	if stop() == nil {
		t.Error("no series")
	}
	if s.descriptors.reserved != 0 {
		t.Errorf("%d descriptors are still reserved", s.descriptors.reserved)
	}
	s.descriptors = newDescriptors(1024)
	if s.sample(session(), flows.Conns{})() != nil {
		t.Error("a server of few descriptors spends them on a series")
	}
}

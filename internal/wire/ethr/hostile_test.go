package ethr

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/wire"
	"soku/test/exchange"
	"soku/test/tier"
)

func open(t *testing.T, addr string, change func(*measure.Options)) (wire.Session, error) {
	t.Helper()
	o := option.Defaults(measure.TestTCP)
	o.Via, o.ConnectTimeout = option.ViaEthr, measure.Duration(300*time.Millisecond)
	change(&o)
	o, err := option.Effective(o, measure.TestTCP)
	if err != nil {
		t.Fatal(err)
	}
	return Open(t.Context(), addr, wire.Request{Test: measure.TestTCP, Options: o}, wire.Hooks{})
}

func TestAPortWithoutEthrIsReported(t *testing.T) {
	tier.SpendsSeconds(t)
	endless := func(c net.Conn) {
		for b := make([]byte, 4096); ; {
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	}
	for name, c := range map[string]struct {
		serve func(net.Conn)
		kind  measure.Kind
		says  string
	}{
		"silent":          {func(c net.Conn) { _, _ = c.Read(make([]byte, 1<<16)); time.Sleep(5 * time.Second) }, measure.KindUnreachable, "no answer in 300ms"},
		"closes":          {func(net.Conn) {}, measure.KindRefused, "for a test"},
		"another":         {func(c net.Conn) { _, _ = c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")) }, measure.KindRefused, "no server of Ethr"},
		"endless":         {endless, measure.KindRefused, "no server of Ethr"},
		"a long message":  {func(c net.Conn) { _, _ = c.Write([]byte{0, 0, 0x40, 1}); endless(c) }, measure.KindRefused, "no server of Ethr"},
		"byte by byte":    {func(c net.Conn) { _, _ = c.Write([]byte{0, 0, 0x40, 0}); trickle(c) }, measure.KindUnreachable, "no answer"},
		"another message": {func(c net.Conn) { _, _ = c.Write(Append(nil, Message{Kind: SyncGo})) }, measure.KindRefused, "no server of Ethr"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			_, err := open(t, exchange.Service(t, c.serve), func(*measure.Options) {})
			if err == nil || measure.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v (%s)", err, measure.KindOf(err))
			}
			if time.Since(began) > 3*time.Second {
				t.Errorf("it took %v", time.Since(began))
			}
		})
	}
}

func trickle(c net.Conn) {
	for range 1000 {
		if _, err := c.Write([]byte{1}); err != nil {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func TestAStartDelayBeyondTheLimitIsRefused(t *testing.T) {
	addr := exchange.Service(t, func(c net.Conn) {
		if _, err := Read(c); err != nil {
			return
		}
		_, _ = c.Write(Append(nil, Message{Kind: Ack}))
		if _, err := Read(c); err != nil {
			return
		}
		_, _ = c.Write(Append(nil, Message{Kind: SyncReady, Delay: 365 * 24 * time.Hour}))
		_, _ = Read(c)
	})
	if _, err := open(t, addr, func(*measure.Options) {}); measure.KindOf(err) != measure.KindRefused || !strings.Contains(err.Error(), "wants to begin") {
		t.Errorf("got %v", err)
	}
}

func TestOpeningEndsWithItsContext(t *testing.T) {
	addr := exchange.Service(t, func(c net.Conn) { _, _ = Read(c); time.Sleep(5 * time.Second) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	o := option.Defaults(measure.TestTCP)
	began := time.Now()
	if _, err := Open(ctx, addr, wire.Request{Test: measure.TestTCP, Options: o}, wire.Hooks{}); measure.KindOf(err) != measure.KindInterrupted || time.Since(began) > 2*time.Second {
		t.Errorf("%v after %v", err, time.Since(began))
	}
}

func TestATokenIsRefusedWithEthr(t *testing.T) {
	if _, err := Open(t.Context(), "127.0.0.1:1", wire.Request{Test: measure.TestTCP, Token: "x"}, wire.Hooks{}); measure.KindOf(err) != measure.KindUsage {
		t.Errorf("got %v", err)
	}
}

func TestAServerThatIgnoresTheRateIsReported(t *testing.T) {
	s := &session{request: wire.Request{Test: measure.TestTCP, Options: measure.Options{Rate: 8000}}}
	own := &measure.End{Flows: []measure.FlowEnd{{Role: measure.Receiver, DurationNs: 1e9, Streams: []measure.Stream{{ReceivedBytes: 1200}}}}}
	if end, err := s.Finish(t.Context(), own); err != nil || len(end.Findings.With(finding.ServerExceedsRate)) != 1 {
		t.Errorf("%+v, %v", end, err)
	}
	own.Flows[0].Streams[0].ReceivedBytes = 1050
	if end, err := s.Finish(t.Context(), own); err != nil || len(end.Findings) != 0 {
		t.Errorf("%+v, %v", end, err)
	}
}

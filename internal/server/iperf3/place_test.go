package iperf3

import (
	"crypto/rand"
	"crypto/rsa"
	"net/netip"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/server"
	"soku/internal/sock"
	wire "soku/internal/wire/iperf3"
	"soku/test/servertest"
)

func TestALostClientLeavesNothing(t *testing.T) {
	s := serve(t, server.Config{Exclusive: true}, Config{})
	for name, until := range map[string]func(*raw){
		"before its streams": func(x *raw) { x.asks(askTCP); x.hears(wire.CreateStreams) },
		"in the test": func(x *raw) {
			x.asks(askTCP)
			x.hears(wire.CreateStreams)
			x.dial()
			x.hears(wire.TestStart, wire.TestRunning)
		},
		"by its own word": func(x *raw) {
			x.asks(askTCP)
			x.hears(wire.CreateStreams)
			x.dial()
			x.hears(wire.TestStart, wire.TestRunning)
			_ = wire.WriteState(x, wire.ClientTerminate)
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newRaw(s)
			until(x)
			if name == "by its own word" {
				s.Idle()
				return
			}
			waiting := newRaw(s)
			waiting.asks(askTCP)
			s.Waiting(1)
			_ = waiting.Close()
			_ = x.Close()
			s.Idle()
		})
	}
}

// A cookie alone gets no place.
func TestAClientThatHasNotSaidWhatItWantsTakesNoPlace(t *testing.T) {
	for name, cfg := range map[string]server.Config{"places": {MaxClients: 1}, "a turn": {Exclusive: true}} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, cfg, Config{})
			for range 4 {
				newRaw(s).hears(wire.ParamExchange)
			}
			if q := s.Queue(); len(q.Running)+len(q.Waiting) > 0 {
				t.Errorf("%+v", q)
			}
			x := newRaw(s)
			x.asks(askTCP)
			x.hears(wire.CreateStreams)
			_ = x.Close()
			s.Idle()
			servertest.Eventually(t, servertest.Prompt, "the log has no end of the test", func() bool {
				return strings.Contains(s.Logs(), "test ended")
			})
			if strings.Count(s.Logs(), "level=INFO") != 1 { // nothing of the others
				t.Errorf("the log is %s", s.Logs())
			}
		})
	}
}

func TestAClientThatMayNotMeasureTakesNoPlace(t *testing.T) {
	s := serve(t, server.Config{Exclusive: true, MaxDuration: measure.Duration(time.Second)}, Config{})
	leave := s.OccupyFor(measure.Duration(time.Second))
	defer leave()
	x := newRaw(s)
	x.asks(askTCP)
	x.refusedWith(wire.CodeMaxDuration) // without waiting for a turn
}

// Who saw a token on the way cannot measure with it while its time is within the skew.
func TestATokenOfAUserIsGoodForOneTestOfTheServer(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	token, err := wire.Token("mario", "rossi", &key.PublicKey, false, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, server.Config{}, Config{Users: &wire.Guard{Key: key, Users: wire.Users{"mario": wire.HashPassword("mario", "rossi")}, Skew: time.Minute}})
	ask := `{"tcp":true,"omit":0,"time":1,"parallel":1,"len":1000,"authtoken":"` + token + `"}`
	x := newRaw(s)
	x.asks(ask)
	x.hears(wire.CreateStreams)
	_ = x.Close()
	s.Idle()
	x = newRaw(s)
	x.asks(ask)
	x.refusedWith(wire.CodeAuthorization)
}

func TestAFullServerDeniesAClientThatSaidWhatItWants(t *testing.T) {
	s := serve(t, server.Config{MaxClients: 1}, Config{})
	leave := s.Occupy()
	defer leave()
	x := newRaw(s)
	x.asks(askTCP)
	x.hears(wire.AccessDenied)
}

func TestClientsThatSayNothingLoseTheirPlacesToOtherAddresses(t *testing.T) {
	s := serve(t, server.Config{}, Config{}, func(h *handler) { h.asked = server.NewFairLimit(3) })
	var silent []*raw
	for range 3 {
		x := newRaw(s)
		x.hears(wire.ParamExchange)
		silent = append(silent, x)
	}
	other := newRawFrom(s, "127.0.0.2")
	other.asks(askTCP)
	other.hears(wire.CreateStreams)
	_ = silent[0].SetReadDeadline(time.Now().Add(servertest.Prompt)) // they have longer otherwise
	if _, err := silent[0].Read(make([]byte, 1)); err == nil || sock.TimedOut(err) {
		t.Errorf("the oldest silent client is still there: %v", err)
	}
}

func TestIperf3ClientsFromElsewhereAreDenied(t *testing.T) {
	var h *handler
	s := serve(t, server.Config{Allow: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, Config{}, func(made *handler) { h = made })
	newRaw(s).hears(wire.AccessDenied)
	h.tests.mu.Lock()
	defer h.tests.mu.Unlock()
	if len(h.tests.tests) > 0 {
		t.Error("a test is left")
	}
}

func TestIperf3ClientsShowInTheQueue(t *testing.T) {
	s := serve(t, server.Config{}, Config{})
	x := newRaw(s)
	x.asks(askUDP)
	x.hears(wire.CreateStreams)
	q := s.Queue()
	if len(q.Running) != 1 || q.Running[0].Test != measure.TestUDP || q.Running[0].Client != x.LocalAddr().String() {
		t.Errorf("%+v", q)
	}
}

package ethr_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"soku/internal/engine/latency"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/trial"
	"soku/internal/wire/ethr"
	"soku/test/exchange"
	"soku/test/tier"
)

// against runs a trial against servers that replay recordings, one after another, and
// returns its result.
func against(t *testing.T, test measure.Test, change func(*measure.Options), names ...string) *measure.Result {
	t.Helper()
	ports, err := exchange.Listen(ethr.Recorded(t, names[0]), "127.0.0.1", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer ports.Close()
	played := make(chan error, 1)
	go func() {
		var err error
		for _, name := range names {
			p := exchange.Player{Exchange: ethr.Recorded(t, name), As: exchange.Server, Open: ports.Accept, Expect: ethr.SameMeaning}
			err = errors.Join(err, p.Play(context.WithoutCancel(t.Context())))
		}
		played <- err
	}()
	o := option.Defaults(test)
	o.Via, o.Port, o.Duration = option.ViaEthr, int(ports.At(ethr.Port).Port()), measure.Duration(400*time.Millisecond)
	change(&o)
	r := trial.Run(t.Context(), trial.Spec{Test: test, Options: o, Host: "127.0.0.1"}, trial.Hooks{})
	if r.Error != nil {
		t.Fatal(r.Error)
	}
	if err := <-played; err != nil {
		t.Error(err)
	}
	return r
}

func TestTCPIsMeasuredAgainstARecordedServer(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, name := range []string{"new-tcp", "new-tcp-once"} {
		t.Run(name, func(t *testing.T) {
			r := against(t, measure.TestTCP, func(o *measure.Options) { o.Length = 16000 }, name)
			if r.Summary.ReceivedBytes == 0 || !strings.Contains(r.Tool.Protocol, "synchronisation") {
				t.Errorf("%d bytes over %s", r.Summary.ReceivedBytes, r.Tool.Protocol)
			}
		})
	}
}

func TestTwoStreamsAtARateAgainstARecordedServer(t *testing.T) {
	tier.SpendsSeconds(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets nobody set the type of service, which is in what was recorded")
	}
	r := against(t, measure.TestTCP, func(o *measure.Options) {
		o.Length, o.Streams, o.Rate, o.TOS = 128000, 2, 160_000_000, 8
	}, "new-tcp-two")
	if r.Summary.ReceivedBytes == 0 || len(r.Flows[0].Streams) != 2 {
		t.Errorf("%+v", r.Summary)
	}
}

func TestARecordedServerSends(t *testing.T) {
	tier.SpendsSeconds(t)
	r := against(t, measure.TestTCP, func(o *measure.Options) { o.Length, o.Direction = 16000, measure.Reverse }, "new-tcp-reverse")
	if r.Summary.ReceivedBytes == 0 {
		t.Errorf("%+v", r.Summary)
	}
}

// A server of version 1.0.0 does not answer SyncStart. The client connects again without.
func TestAServerWithoutSynchronisationIsDetected(t *testing.T) {
	tier.SpendsSeconds(t)
	for name, direction := range map[string]measure.Direction{"v1-tcp": measure.Forward, "v1-tcp-reverse": measure.Reverse} {
		t.Run(name, func(t *testing.T) {
			r := against(t, measure.TestTCP, func(o *measure.Options) { o.Length, o.Direction = 16000, direction }, name, name)
			if r.Summary.ReceivedBytes == 0 || r.Tool.Protocol != "ethr/1.0.0" {
				t.Errorf("%d bytes over %s", r.Summary.ReceivedBytes, r.Tool.Protocol)
			}
		})
	}
}

func TestLatencyIsMeasuredAgainstARecordedServer(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, name := range []string{"new-latency", "v1-latency"} {
		t.Run(name, func(t *testing.T) {
			r := against(t, measure.TestLatency, func(o *measure.Options) {
				o.Size, o.Count = 3, 60
				measure.EditOwn(o, func(own *latency.Options) { own.Row = 20 })
			}, name)
			if r.Latency.Received != 60 || len(r.Latency.Rows) != 3 {
				t.Errorf("%d round trips in %d rows", r.Latency.Received, len(r.Latency.Rows))
			}
		})
	}
}

func TestDatagramsGoToARecordedServer(t *testing.T) {
	// The recorded server saw no TCP connection; this client checks for a listener first.
	r := against(t, measure.TestUDP, func(o *measure.Options) { o.Size, o.Rate = 100, 80_000 }, "new-udp")
	if r.Summary.PacketsSent == 0 && r.Summary.SentBytes == 0 {
		t.Errorf("%+v", r.Summary)
	}
}

func TestConnectionsAreMadeToARecordedServer(t *testing.T) {
	for _, name := range []string{"new-ping", "v1-ping"} {
		x := ethr.Recorded(t, name)
		n := int64(x.Steps[len(x.Steps)-1].Conn)
		r := against(t, measure.TestConnect, func(o *measure.Options) { o.Count = n }, name)
		if r.Connect.Opened != n || r.Connect.Close != "rst" {
			t.Errorf("%s: %+v", name, r.Connect)
		}
	}
}

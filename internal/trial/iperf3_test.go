package trial

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"soku/internal/engine/tcp"
	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/wire"
	"soku/internal/wire/iperf3"
	"soku/test/freeport"
	"soku/test/tier"
)

// iperf3Server is a real one, until the test ends.
func iperf3Server(t *testing.T, args ...string) (port int) {
	t.Helper()
	path, err := exec.LookPath("iperf3")
	if err != nil {
		t.Skip("iperf3 is not installed: test/peers installs it")
	}
	port = freeport.One(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, path, append([]string{"-s", "--forceflush", "-p", strconv.Itoa(port)}, args...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	listening, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if strings.Contains(lines.Text(), "listening on") {
				select {
				case <-listening:
				default:
					close(listening)
				}
			}
		}
	}()
	t.Cleanup(func() { cancel(); <-done; _ = cmd.Wait() })
	select {
	case <-listening:
	case <-time.After(20 * time.Second):
		t.Fatal("iperf3 -s does not listen")
	}
	return port
}

// viaIperf3 measures, and returns what iperf3 has words for, too.
func viaIperf3(t *testing.T, host string, port int, test measure.Test, x wire.IPerf3, change func(*measure.Options)) (*measure.Result, iperf3.Exchange) {
	t.Helper()
	o := option.Defaults(test)
	o.Via, o.Port, o.Duration = option.ViaIperf3, port, measure.Duration(time.Second)
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var session wire.Session
	r := Run(ctx, Spec{Test: test, Options: o, Host: host, IPerf3: x}, Hooks{Session: func(s wire.Session) { session = s }})
	if session == nil {
		return r, iperf3.Exchange{}
	}
	return r, session.(iperf3.Exchanger).Exchange()
}

func TestARealIperf3ServerIsMeasuredInEveryMode(t *testing.T) {
	t.Parallel()
	tier.SpendsSeconds(t)
	for _, c := range []struct {
		name   string
		test   measure.Test
		x      wire.IPerf3
		change func(*measure.Options)
		flows  int
	}{
		{"tcp", measure.TestTCP, wire.IPerf3{}, nil, 1},
		{"tcp reverse", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) { o.Direction = measure.Reverse }, 1},
		{"tcp both ways, parallel", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) { o.Direction, o.Streams = measure.Bidirectional, 3 }, 2},
		{"tcp, 128 streams", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) { o.Streams, o.Rate = 128, 100_000_000 }, 1},
		{"tcp, bytes", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) { o.Bytes = 10_000_000 }, 1},
		{"tcp, bytes reverse", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) { o.Bytes, o.Direction = 10_000_000, measure.Reverse }, 1},
		{"tcp, omitted start", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) { o.Omit = measure.Duration(time.Second) }, 1},
		{"tcp, options", measure.TestTCP, wire.IPerf3{Title: "title", ExtraData: "extra", FQRate: 1e9, PacingTimer: 1000},
			func(o *measure.Options) {
				o.Length, o.Window, o.DSCP, o.Congestion = 10_000, 64<<10, "af11", "cubic"
				o.Own = tcp.Options{MSS: 1000, NoDelay: true}
			}, 1},
		{"tcp, IPv6, flow label", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) { o.IPVersion, o.FlowLabel, o.Direction = 6, 0x12345, measure.Bidirectional }, 2},
		{"tcp, Multipath TCP", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) { o.Multipath = true }, 1},
		{"tcp, Multipath TCP, both ways", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) { o.Multipath, o.Direction, o.Streams = true, measure.Bidirectional, 2 }, 2},
		{"udp, not cut", measure.TestUDP, wire.IPerf3{}, func(o *measure.Options) { o.Own = udp.Options{NoFragment: true} }, 1},
		{"udp, IPv6, flow label", measure.TestUDP, wire.IPerf3{}, func(o *measure.Options) { o.IPVersion, o.FlowLabel = 6, 0x12345 }, 1},
		{"tcp, IPv6", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) { o.IPVersion = 6 }, 1},
		{"udp", measure.TestUDP, wire.IPerf3{}, nil, 1},
		{"tcp, in bursts", measure.TestTCP, wire.IPerf3{}, func(o *measure.Options) {
			o.Rate, o.Burst, o.Length, o.Direction = 10_000_000, 10, 1000, measure.Bidirectional
		}, 2},
		{"udp, in bursts", measure.TestUDP, wire.IPerf3{}, func(o *measure.Options) { o.Burst, o.Direction = 10, measure.Bidirectional }, 2},
		{"udp, 32 bits", measure.TestUDP, wire.IPerf3{Counters32: true}, nil, 1},
		{"udp, parallel", measure.TestUDP, wire.IPerf3{}, func(o *measure.Options) { o.Streams = 4 }, 1},
		{"udp reverse", measure.TestUDP, wire.IPerf3{}, func(o *measure.Options) { o.Direction = measure.Reverse }, 1},
		{"udp both ways", measure.TestUDP, wire.IPerf3{}, func(o *measure.Options) { o.Direction, o.Streams = measure.Bidirectional, 2 }, 2},
		{"udp, bytes", measure.TestUDP, wire.IPerf3{}, func(o *measure.Options) { o.Bytes = 1_000_000 }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // a second each, whatever the mode
			port := iperf3Server(t)
			host := "127.0.0.1"
			if strings.Contains(c.name, "IPv6") {
				host = "::1"
			}
			r, exchange := viaIperf3(t, host, port, c.test, c.x, c.change)
			if r.Error != nil {
				t.Fatal(r.Error)
			}
			if len(r.Flows) != c.flows || r.Summary.GoodputBps <= 0 || r.Tool.Protocol != "iperf3" {
				t.Errorf("%d flows, %.0f bit/s", len(r.Flows), r.Summary.GoodputBps)
			}
			for _, f := range r.Flows {
				for _, s := range f.Streams {
					if s.ReceivedBytes == 0 || s.SentBytes == 0 {
						t.Errorf("%s stream %d: sent %d, received %d", f.Direction, s.Index, s.SentBytes, s.ReceivedBytes)
					}
				}
				if c.test == measure.TestUDP && (f.Summary.LossRatio == nil && f.Direction == measure.Forward || f.Summary.PacketsReceived == 0) {
					t.Errorf("%s: %+v", f.Direction, f.Summary)
				}
			}
			if len(exchange.Streams) != exchange.Parameters.Streams() || exchange.Far == nil || len(exchange.Cookie) != 36 || exchange.ControlMSS == 0 {
				t.Errorf("exchange %+v", exchange)
			}
		})
	}
}

func TestAServersOutputComesWithTheExchange(t *testing.T) {
	port := iperf3Server(t)
	r, exchange := viaIperf3(t, "127.0.0.1", port, measure.TestTCP, wire.IPerf3{GetServerOutput: true}, func(o *measure.Options) { o.Bytes = 1 << 20 })
	if r.Error != nil || exchange.Far == nil || !strings.Contains(exchange.Far.ServerOutputText, "Accepted connection") {
		t.Errorf("%v: %+v", r.Error, exchange.Far)
	}
}

func TestABusyIperf3ServerSaysSo(t *testing.T) {
	port := iperf3Server(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	begun := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		o := option.Defaults(measure.TestTCP)
		o.Via, o.Port, o.Rate = option.ViaIperf3, port, 1_000_000
		Run(ctx, Spec{Test: measure.TestTCP, Options: o, Host: "127.0.0.1"}, Hooks{State: func(s wire.State) {
			if s.Name == wire.Running {
				close(begun)
			}
		}})
	}()
	<-begun
	r, _ := viaIperf3(t, "127.0.0.1", port, measure.TestTCP, wire.IPerf3{}, nil)
	if r.Error == nil || r.Error.Kind != measure.KindRefused || !strings.Contains(r.Error.Message, "busy") {
		t.Errorf("%v", r.Error)
	}
	cancel()
	<-done
}

func TestAnIperf3ServerKnowsItsUsers(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	private, users := filepath.Join(dir, "private.pem"), filepath.Join(dir, "users")
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	if err := os.WriteFile(private, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(users, []byte("mario,"+iperf3.HashPassword("mario", "rossi")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	port := iperf3Server(t, "--rsa-private-key-path", private, "--authorized-users-path", users)
	help, _ := exec.CommandContext(t.Context(), "iperf3", "-h").CombinedOutput()
	old := !strings.Contains(string(help), "pkcs1") // before 3.17
	amount := func(o *measure.Options) { o.Bytes = 1 << 20 }
	who := wire.IPerf3{User: "mario", Password: "rossi", Key: &key.PublicKey, PKCS1: old}
	if r, _ := viaIperf3(t, "127.0.0.1", port, measure.TestTCP, who, amount); r.Error != nil {
		t.Errorf("the right password: %v", r.Error)
	}
	who.Password = "bianchi"
	if r, _ := viaIperf3(t, "127.0.0.1", port, measure.TestTCP, who, amount); r.Error == nil || r.Error.Kind != measure.KindRefused || !strings.Contains(r.Error.Message, "authorized") {
		t.Errorf("a wrong password: %v", r.Error)
	}
}

func TestWhatIperf3DoesNotHaveIsToldBeforeAnythingIsSent(t *testing.T) {
	for want, change := range map[string]func(*measure.Options){
		"--verify":       func(o *measure.Options) { o.Own = tcp.Options{Verify: true} },
		"--with-latency": func(o *measure.Options) { o.Own = tcp.Options{WithLatency: true} },
		"128":            func(o *measure.Options) { o.Streams = 129 },
		"whole seconds":  func(o *measure.Options) { o.Omit = measure.Duration(1500 * time.Millisecond) },
		"segment":        func(o *measure.Options) { o.Own = tcp.Options{MSS: 40_000} },
		"not on 2":       func(o *measure.Options) { o.Pin = "auto/0,1" },
	} {
		if runtime.GOOS != "linux" && want == "not on 2" {
			continue // loops are kept on processors on Linux only
		}
		r, _ := viaIperf3(t, "127.0.0.1", 1, measure.TestTCP, wire.IPerf3{}, change)
		if r.Error == nil || r.Error.Kind != measure.KindUsage || !strings.Contains(r.Error.Message, want) {
			t.Errorf("%s: %v", want, r.Error)
		}
	}
}

func TestNobodyAtThePortOfIperf3IsUnreachable(t *testing.T) {
	r, _ := viaIperf3(t, "127.0.0.1", freeport.One(t), measure.TestTCP, wire.IPerf3{}, nil)
	if r.Error == nil || r.Error.Kind != measure.KindUnreachable || !strings.Contains(r.Error.Hint, "iperf3 -s") {
		t.Errorf("%v", r.Error)
	}
}

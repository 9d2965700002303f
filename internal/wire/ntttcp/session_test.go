package ntttcp

import (
	"context"
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/wire"
)

// receiver opens a registry with this number of data ports above it and returns the
// address of the first.
func receiver(t *testing.T, ports int, o RegistryOptions) (*Registry, string, []*net.TCPListener) {
	t.Helper()
	for range 100 {
		base := 16000 + rand.IntN(16000) // below the ports that systems hand out
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(base-1)))
		if err != nil {
			continue
		}
		var data []*net.TCPListener
		for i := range ports {
			d, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(base+i)))
			if err != nil {
				break
			}
			t.Cleanup(func() { d.Close() })
			data = append(data, d.(*net.TCPListener))
		}
		if len(data) < ports {
			l.Close()
			continue
		}
		d := NewRegistry(o)
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- d.Serve(ctx, l) }()
		t.Cleanup(func() { cancel(); <-done })
		return d, net.JoinHostPort("127.0.0.1", strconv.Itoa(base)), data
	}
	t.Fatal("no row of free ports")
	return nil, "", nil
}

func request(t *testing.T, change func(*measure.Options)) wire.Request {
	t.Helper()
	o := option.Defaults(measure.TestTCP)
	o.Via, o.Duration, o.Streams = option.ViaNtttcp, measure.Duration(2*time.Second), 4
	if change != nil {
		change(&o)
	}
	o, err := option.Effective(o, measure.TestTCP)
	must(t, err)
	return wire.Request{Test: measure.TestTCP, Options: o}
}

func TestASessionFollowsTheProtocol(t *testing.T) {
	d, address, data := receiver(t, 2, RegistryOptions{Seconds: 2})
	var states []string
	s, err := Open(within(t), address, request(t, nil), wire.Hooks{State: func(s wire.State) { states = append(states, s.Name) }})
	must(t, err)
	defer s.Close()
	conns, err := s.TCP(within(t))
	must(t, err)
	ports := map[int]int{}
	for _, c := range conns {
		ports[c.RemoteAddr().(*net.TCPAddr).Port]++
	}
	if len(conns) != 4 || len(ports) != len(data) {
		t.Errorf("%d connections to ports %v; streams go to the receiver's ports in turn", len(conns), ports)
	}
	must(t, s.Start(within(t)))
	if test := begun(t, d); test.Seconds != 2 {
		t.Errorf("the test is %+v", test)
	}
	d.Done()
	if _, err := s.Finish(within(t), nil); err != nil {
		t.Error(err)
	}
	if want := []string{wire.Ready, wire.Running, wire.Done}; len(states) != 3 || states[0] != want[0] || states[2] != want[2] {
		t.Errorf("states were %v, want %v", states, want)
	}
}

func TestAReceiverWithALongerTestIsSentTheEnd(t *testing.T) {
	for name, end := range map[string]func(wire.Session){
		"finished": func(s wire.Session) { _, _ = s.Finish(context.Background(), nil) },
		"broken":   func(s wire.Session) { _ = s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			d, address, _ := receiver(t, 1, RegistryOptions{Seconds: 60})
			s, err := Open(within(t), address, request(t, nil), wire.Hooks{})
			must(t, err)
			defer s.Close()
			must(t, s.Start(within(t)))
			test := begun(t, d)
			end(s)
			over(t, test)
		})
	}
}

func TestUnsupportedOptionsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*measure.Options){
		"reverse": func(o *measure.Options) { o.Direction = measure.Reverse },
		"both":    func(o *measure.Options) { o.Direction = measure.Bidirectional },
		"bytes":   func(o *measure.Options) { o.Bytes = 1e6 },
		"streams": func(o *measure.Options) { o.Streams = 513 },
	} {
		_, err := Open(within(t), "127.0.0.1:5001", request(t, change), wire.Hooks{})
		if measure.KindOf(err) != measure.KindUsage {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATimeThatEqualsACommandIsNotSent(t *testing.T) {
	for d, want := range map[time.Duration]int{
		time.Millisecond: 1, 10 * time.Second: 10, 10*time.Second + 1: 11,
		69 * time.Second: 70, 76 * time.Second: 77, 82 * time.Second: 83, 88 * time.Second: 89,
	} {
		if got := secondsOf(measure.Options{Duration: measure.Duration(d)}); got != want {
			t.Errorf("%v: %d s, want %d", d, got, want)
		}
	}
}

func TestAMissingReceiverIsUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	_, err = Open(within(t), net.JoinHostPort("127.0.0.1", strconv.Itoa(port+1)), request(t, nil), wire.Hooks{})
	if measure.KindOf(err) != measure.KindUnreachable {
		t.Errorf("%v", err)
	}
}

package connect

import (
	"context"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/test/tier"
)

func TestAConnectionAllocatesNothing(t *testing.T) {
	o := options(func(o *measure.Options) { o.Size = 1 })
	l := listen(t, o, listenRaw)
	r, err := newRun(l.target(false), o)
	if err != nil {
		t.Fatal(err)
	}
	r.clock.start = time.Now()
	m, _ := newRawMaker(r, 0)
	c := newConnector(r)
	c.maker = m
	// The acceptor runs in this process, too, so its allocations are counted with it.
	n := testing.AllocsPerRun(400, func() {
		from, to, how := m.connect()
		if c.finish(from, to, how) != opened {
			t.Fatal(names[how])
		}
	})
	if n >= 1 {
		t.Errorf("%v allocations a connection", n)
	}
}

// blackHole is an address that answers no SYN: a listener whose queue is full.
func blackHole(t *testing.T) netip.AddrPort {
	at := queue(t, 0)
	for {
		c, err := net.DialTimeout("tcp", at.String(), 100*time.Millisecond)
		if err != nil {
			return at
		}
		t.Cleanup(func() { _ = c.Close() })
	}
}

// queue is a listener that accepts nothing. Its queue has room for length connections and one more;
// later SYNs are dropped.
func queue(t *testing.T, length int) netip.AddrPort {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: loopback.As4()}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, length); err != nil {
		t.Fatal(err)
	}
	name, _ := unix.Getsockname(fd)
	return netip.AddrPortFrom(loopback, uint16(name.(*unix.SockaddrInet4).Port))
}

func TestATimedRunDoesNotWaitForWhatIsSetUpAtItsEnd(t *testing.T) {
	tier.WatchesTheClock(t)
	const room = 5 // of a queue of length 4: the next SYN is dropped, and sent again after a second
	for _, client := range []makers{newRawMaker, newNetMaker} {
		for _, c := range []struct {
			streams int
			most    int64 // opened: of two SYNs both may pass where the queue has room for one
			rate    float64
		}{{1, room, 0}, {2, room + 1, 0}, {1, room, 100}, {2, room + 1, 100}} {
			o := options(func(o *measure.Options) {
				o.Duration, o.Streams, o.RequestRate = measure.Duration(200*time.Millisecond), c.streams, c.rate
			})
			began := time.Now()
			end, err := runWith(within(t, 20*time.Second), Target{Addr: queue(t, room-1)}, o, nil, nil, client)
			took := time.Since(began)
			if err != nil {
				t.Fatal(err)
			}
			if took > o.Duration.Std()+100*time.Millisecond {
				t.Errorf("%+v: took %s of %s", c, took, o.Duration)
			}
			got := end.Connect
			if got.Opened < room || got.Opened > c.most || got.Failed != 0 || c.rate == 0 && got.Unfinished != int64(c.streams) || c.rate > 0 && got.Unfinished+end.Latency.LateSends < 10 {
				t.Errorf("%+v: counted %+v and %d late", c, got, end.Latency.LateSends)
			}
			if got.DurationNs != int64(o.Duration) {
				t.Errorf("%+v: the rate counts over %d ns of %s", c, got.DurationNs, o.Duration)
			}
		}
	}
}

func TestATimedRunDoesNotWaitForAnAnswerAtItsEnd(t *testing.T) {
	tier.WatchesTheClock(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if n%10 != 9 {
				_ = c.Close()
				continue
			}
			defer c.Close()
		}
	}()
	for _, client := range []makers{newRawMaker, newNetMaker} {
		o := options(func(o *measure.Options) { o.Duration = measure.Duration(200 * time.Millisecond) })
		began := time.Now()
		end, err := runWith(within(t, 20*time.Second), Target{Addr: l.Addr().(*net.TCPAddr).AddrPort(), Await: true}, o, nil, nil, client)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > o.Duration.Std()+100*time.Millisecond {
			t.Errorf("took %s of %s", took, o.Duration)
		}
		if c := end.Connect; c.Opened != 9 || c.Failed != 0 || c.Unfinished != 1 {
			t.Errorf("counted %+v", c)
		}
	}
}

func TestNoAnswerIsATimeout(t *testing.T) {
	tier.SpendsSeconds(t)
	for _, client := range []makers{newRawMaker, newNetMaker} {
		o := options(func(o *measure.Options) { o.Count, o.ConnectTimeout = 2, measure.Duration(150*time.Millisecond) })
		end, err := runWith(within(t, 20*time.Second), Target{Addr: blackHole(t)}, o, nil, nil, client)
		if measure.KindOf(err) != measure.KindUnreachable || !strings.Contains(err.Error(), "no answer in time") {
			t.Errorf("error %v", err)
		}
		if end.Connect.Failures["timeout"] != 2 {
			t.Errorf("%+v", end.Connect)
		}
	}
}

func TestTheEndOfTheContextEndsAHandshake(t *testing.T) {
	for _, client := range []makers{newRawMaker, newNetMaker} {
		o := options(func(o *measure.Options) { o.Count, o.ConnectTimeout = 1, measure.Duration(10*time.Minute) })
		nowhere := blackHole(t)
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		end, err := runWith(ctx, Target{Addr: nowhere}, o, nil, nil, client)
		if err == nil || end.Connect.Failed != 0 {
			t.Errorf("error %v, %+v", err, end.Connect)
		}
	}
}

// scarce runs a test of this binary in a child that has a network of its own.
func scarce(t *testing.T, name string) {
	tier.NeedsRoot(t, "network namespaces")
	child := exec.Command(os.Args[0], "-test.run=^"+name+"$", "-test.v", "-test.timeout=60s")
	child.Env = append(os.Environ(), "SOKU_CONNECT_CHILD=1")
	child.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	if out, err := child.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS: "+name) {
		t.Errorf("%v\n%s", err, out)
	}
}

func inChild() bool { return os.Getenv("SOKU_CONNECT_CHILD") != "" }

// fewPorts leaves the namespace twelve ports, none of which is used again while
// it waits.
func fewPorts(t *testing.T) {
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for file, text := range map[string]string{"ip_local_port_range": "40000 40011", "tcp_tw_reuse": "0"} {
		if err := os.WriteFile("/proc/sys/net/ipv4/"+file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheQueuesHaveRoomForManyConnectors(t *testing.T) {
	if !inChild() {
		scarce(t, t.Name())
		return
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile("/proc/sys/net/core/somaxconn", []byte("128"), 0o644); err != nil {
		t.Fatal(err)
	}
	sock.Processors = 16
	o := options(func(o *measure.Options) { o.Count, o.Streams = 64*20, 64 })
	l, err := Listen(loopback, []netip.Addr{loopback}, o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	// The acceptors get no processor: each connector sets up 20 connections before the first is accepted.
	end, err := Run(within(t, 20*time.Second), Target{Addr: netip.AddrPortFrom(loopback, uint16(l.Port())), Reset: true}, o, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if longest := time.Duration(end.Latency.Histogram.Max()); end.Connect.Opened != 64*20 || longest > 900*time.Millisecond {
		t.Errorf("%+v, the longest set-up took %s: a SYN was dropped", end.Connect, longest)
	}
}

func TestPortsThatRunOutEndTheTrialWithAdvice(t *testing.T) {
	if !inChild() {
		scarce(t, t.Name())
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:7")
	if err == nil {
		defer l.Close()
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() { _, _ = c.Read(make([]byte, 1)); _ = c.Close() }()
			}
		}()
	}
	fewPorts(t)
	if err != nil {
		if l, err = net.Listen("tcp", "127.0.0.1:7"); err != nil {
			t.Fatal(err)
		}
	}
	to := netip.MustParseAddrPort("127.0.0.1:7")
	var one int64 // what the ports of one address allow
	for _, c := range []struct {
		name    string
		reset   bool
		sources string
		fits    func(opened int64) bool
	}{
		{"rst", true, "", func(n int64) bool { return n == 500 }},
		{"fin", false, "127.0.0.2", func(n int64) bool { one = n; return n > 5 && n <= 12 }},
		{"fin from two addresses", false, "127.0.0.3,127.0.0.4", func(n int64) bool { return n == 2*one }},
	} {
		for i, client := range []makers{newRawMaker, newNetMaker} {
			if i == 1 && !c.reset {
				continue // its bind takes a port for each connection, and soon none is left
			}
			o := options(func(o *measure.Options) {
				o.Count = 500
				measure.EditOwn(o, func(own *Options) { own.Sources = c.sources })
			})
			end, err := runWith(within(t, 20*time.Second), Target{Addr: to, Reset: c.reset}, o, nil, nil, client)
			if !c.fits(end.Connect.Opened) {
				t.Errorf("%s: %d connections, %v", c.name, end.Connect.Opened, err)
			}
			if c.reset {
				if err != nil {
					t.Errorf("%s: %v", c.name, err)
				}
				continue
			}
			if measure.KindOf(err) != measure.KindBroken || !strings.Contains(err.Error(), "no free local port") || !strings.Contains(err.Error(), "--close rst") {
				t.Errorf("%s: error %v", c.name, err)
			}
		}
	}
}

func TestDescriptorsThatRunOutEndTheTrialWithAdvice(t *testing.T) {
	if !inChild() {
		scarce(t, t.Name())
		return
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o := options(func(o *measure.Options) {
		o.Duration, o.Streams, o.ConnectTimeout = measure.Duration(20*time.Second), 64, measure.Duration(10*time.Second)
	})
	at := blackHole(t) // every connector holds its socket
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 40, Max: 40}); err != nil {
		t.Fatal(err)
	}
	_, err := Run(within(t, 20*time.Second), Target{Addr: at}, o, nil, nil)
	if err == nil || !strings.Contains(err.Error(), "may open no more files") || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("error %v", err)
	}
}

func TestTheAcceptorOutlivesAShortageOfDescriptors(t *testing.T) {
	if !inChild() {
		scarce(t, t.Name())
		return
	}
	if out, err := exec.Command("ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, with := range []acceptors{listenRaw, listenNet} {
		l := listen(t, options(func(*measure.Options) {}), with)
		var old unix.Rlimit
		_ = unix.Getrlimit(unix.RLIMIT_NOFILE, &old)
		a, b := dial(t, l.Port()), dial(t, l.Port()) // opens what the runtime opens once
		_, _ = a.Read(make([]byte, 1))
		_, _ = b.Read(make([]byte, 1))
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: old.Max}); err != nil {
			t.Fatal(err)
		}
		if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: loopback.As4(), Port: l.Port()}); err != nil {
			t.Fatal(err)
		}
		for !l.OutOfFiles() {
			time.Sleep(time.Millisecond)
		}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
		if n, err := unix.Read(fd, make([]byte, 1)); n != 0 || err != nil {
			t.Errorf("read %d, %v", n, err)
		}
		_ = unix.Close(fd)
		if c := l.stop(); *c.Accepted != 3 {
			t.Errorf("%d accepted", *c.Accepted)
		}
	}
}

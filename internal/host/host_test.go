package host

import (
	"context"
	"io"
	"net"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

func TestFactsDescribeThisMachineAndTheInterfaceOfTheAddress(t *testing.T) {
	f := Facts(t.Context(), loopback)
	if f.OS != runtime.GOOS || f.Arch != runtime.GOARCH || f.Hostname == "" || f.CPUs < 1 || f.MemoryBytes < 1<<20 || f.Kernel == "" {
		t.Errorf("facts are incomplete: %+v", f)
	}
	want, err := loopbackInterface()
	if err != nil {
		t.Skip(err)
	}
	if f.Interface != want.Name || f.MTU != want.MTU {
		t.Errorf("127.0.0.1 is on %s with MTU %d, got %s with %d", want.Name, want.MTU, f.Interface, f.MTU)
	}
	if other := Facts(t.Context(), netip.AddrFrom4([4]byte{127, 9, 9, 9})); other.Interface != want.Name {
		t.Errorf("127.9.9.9 was found on %q", other.Interface)
	}
	if runtime.GOOS == "linux" && (f.Congestion == "" || f.Sysctl["net.ipv4.tcp_rmem"] == "" || f.Distribution == "") {
		t.Errorf("Linux facts are incomplete: %+v", f)
	}
}

func loopbackInterface() (net.Interface, error) {
	all, err := net.Interfaces()
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 {
			return i, nil
		}
	}
	return net.Interface{}, err
}

func TestFactsWithoutAnAddressOfThisHostHaveNoInterface(t *testing.T) {
	for _, a := range []netip.Addr{{}, netip.IPv4Unspecified(), netip.MustParseAddr("203.0.113.77"), netip.MustParseAddr("fe80::1%nosuch0")} {
		if f := Facts(t.Context(), a); f.Interface != "" || f.Driver != "" || f.Offloads != nil {
			t.Errorf("%v: got interface %q", a, f.Interface)
		}
	}
}

func TestFactsOfAnEndedContextAreStillFacts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f := Facts(ctx, loopback); f.OS == "" || f.CPUs < 1 {
		t.Errorf("got %+v", f)
	}
}

func TestWatchSeesTheWorkThatWasDone(t *testing.T) {
	i, err := loopbackInterface()
	if err != nil {
		t.Skip(err)
	}
	w := Watch(i.Name)
	const payload = 4 << 20
	moveOverLoopback(t, payload)
	moved := Moved{Bytes: payload, Packets: 1000}
	for c := w.Stop(moved); c.ProcessUserNs+c.ProcessSysNs == 0; c = w.Stop(moved) {
		spin() // until the process's clock has ticked
	}
	c := w.Stop(moved)
	if c.WallNs <= 0 || c.CPUSecPerGB <= 0 || c.Shared {
		t.Errorf("got %+v", c)
	}
	work := float64(c.ProcessUserNs + c.ProcessSysNs)
	if c.CoresUsed != work/float64(c.WallNs) || c.CPUNsPerPacket != work/1000 {
		t.Errorf("%v ns of work in %d ns: %v cores, %v ns a packet", work, c.WallNs, c.CoresUsed, c.CPUNsPerPacket)
	}
	if runtime.GOOS == "linux" && (c.RxBytes < payload || c.TxBytes < payload) {
		t.Errorf("%d bytes went over %s, the counters say %d in and %d out", payload, i.Name, c.RxBytes, c.TxBytes)
	}
	want := float64(c.ProcessUserNs+c.ProcessSysNs) / 1e9 / (payload / 1e9)
	if diff := c.CPUSecPerGB - want; diff > 1e-9 || diff < -1e-9 {
		t.Errorf("%v CPU seconds a GB, want %v", c.CPUSecPerGB, want)
	}
	if again := w.Stop(Moved{}); again.CPUSecPerGB != 0 || again.CPUNsPerPacket != 0 {
		t.Errorf("without payload: %v CPU seconds a GB, %v ns a packet", again.CPUSecPerGB, again.CPUNsPerPacket)
	}
}

func moveOverLoopback(t *testing.T, bytes int64) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	sent := make(chan error, 1)
	go func() {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err == nil {
			_, err = io.CopyN(c, zeros{}, bytes)
			_ = c.Close()
		}
		sent <- err
	}()
	c, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if n, err := io.Copy(io.Discard, c); err != nil || n != bytes {
		t.Fatalf("moved %d bytes: %v", n, err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

func spin() {
	for until := time.Now().Add(time.Millisecond); time.Now().Before(until); {
	}
}

func TestACounterThatWasResetCountsAsZero(t *testing.T) {
	from := Reading{Traffic: Traffic{ReceivedBytes: 100}, Total: CPUTimes{UserNs: 5}, TCPRetransSegs: 7}
	to := Reading{Traffic: Traffic{ReceivedBytes: 3}, Total: CPUTimes{UserNs: 9}, TCPRetransSegs: 7}
	if c := Difference(from, to); c.RxBytes != 0 || c.CPUBusyNs != 4 || c.TCPRetransSegs != 0 {
		t.Errorf("got %+v", c)
	}
}

func TestAnInterfaceThatIsGoneHasNoCounters(t *testing.T) {
	c := Watch("nosuch0").Stop(Moved{Bytes: 1})
	if c.RxBytes != 0 || c.TxBytes != 0 || c.WallNs <= 0 {
		t.Errorf("got %+v", c)
	}
}

func TestTheCostOfAFewBytesIsUnknown(t *testing.T) {
	w := Watch("")
	spin()
	if c := w.Stop(Moved{Bytes: leastBytes - 1, Packets: leastPackets - 1}); c.CPUSecPerGB != 0 || c.CPUNsPerPacket != 0 {
		t.Errorf("%+v", c)
	}
}

func TestOverlappingWorkIsShared(t *testing.T) {
	cost := func(w *Sampler) measure.Counters {
		moved := Moved{Bytes: leastBytes, Packets: leastPackets}
		c := w.Stop(moved)
		for ; c.ProcessUserNs+c.ProcessSysNs == 0; c = w.Stop(moved) {
			spin()
		}
		return c
	}
	first := Watch("")
	second := Watch("")
	for i, c := range []measure.Counters{cost(first), cost(second)} {
		if !c.Shared || c.CPUSecPerGB != 0 || c.CPUNsPerPacket != 0 || c.CoresUsed == 0 {
			t.Errorf("watcher %d overlaps another: %+v", i+1, c)
		}
	}
	if c := cost(Watch("")); c.Shared || c.CPUSecPerGB == 0 || c.CPUNsPerPacket == 0 {
		t.Errorf("both are over and this one is alone: %+v", c)
	}
}

func TestSoftirqIsAShareOfTheBusyTimeIfReported(t *testing.T) {
	from := Reading{Total: CPUTimes{UserNs: 8e8, SoftirqNs: 2e8}}
	to := Reading{Total: CPUTimes{UserNs: 2.3e9, SoftirqNs: 7e8}}
	if c := Difference(from, to); c.SoftirqRatio != nil {
		t.Errorf("unknown, got %v", *c.SoftirqRatio)
	}
	from.softirqReported, to.softirqReported = true, true
	if c := Difference(from, to); c.SoftirqRatio == nil || *c.SoftirqRatio != 0.25 {
		t.Errorf("0.5 s of 2 s: got %v", c.SoftirqRatio)
	}
	if c := Difference(from, from); c.SoftirqRatio != nil {
		t.Errorf("nothing was busy, got %v", *c.SoftirqRatio)
	}
}

func TestAnOmittedStartLeavesNothingToDivideBy(t *testing.T) {
	end := &measure.End{Flows: []measure.FlowEnd{
		{Role: measure.Sender, Streams: []measure.Stream{{SentBytes: 700, Packets: &measure.PacketCount{Sent: 7}}}},
		{Role: measure.Receiver, Streams: []measure.Stream{{ReceivedBytes: 300, Packets: &measure.PacketCount{Received: 3, Duplicated: 1}}}},
	}}
	if got := MovedBy(end, measure.Options{}); got != (Moved{Bytes: 1000, Packets: 11}) {
		t.Errorf("moved %+v", got)
	}
	if got := MovedBy(end, measure.Options{Omit: 1}); got != (Moved{}) {
		t.Errorf("with an omitted start: %+v", got)
	}
}

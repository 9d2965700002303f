package host

import (
	"errors"
	"maps"
	"testing"
	"unsafe"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"soku/internal/measure"
	"soku/test/cable"
)

// below calls f with a stack that is some bytes deeper per level.
func below(levels int, f func()) {
	var room [16]byte
	if levels > 0 {
		below(levels-1, f)
	} else {
		f()
	}
	_ = room[levels%len(room)]
}

// A stack moves when it grows. The kernel must get the addresses that hold afterwards.
func TestADriverAnswersAtAnyDepthOfTheStack(t *testing.T) {
	e, err := OpenEthtool("lo")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	first, err := e.Features()
	if err != nil || len(first) == 0 {
		t.Fatalf("features %v (%v)", first, err)
	}
	for levels := range 1000 { // over several sizes of a stack
		done := make(chan bool)
		go func() { // a new stack
			defer close(done)
			below(levels, func() {
				if now, err := e.Features(); err != nil || !maps.Equal(now, first) {
					t.Errorf("%d levels below there are %d features (%v), before %d", levels, len(now), err, len(first))
				}
			})
		}()
		<-done
	}
}

func TestWhatIsSetAtADriverIsRead(t *testing.T) {
	a, _ := cable.Pair(t)
	a.Link(t, func(netlink.Link) error {
		e, err := OpenEthtool(a.Device)
		if err != nil {
			return err
		}
		defer e.Close()
		if name, _, _ := e.name(); name != "veth" {
			t.Errorf("the driver is %q", name)
		}
		for _, on := range []bool{false, true} {
			err := e.SetFeatures(map[string]bool{"tx-tcp-segmentation": on, "tx-generic-segmentation": !on})
			has, read := e.Features()
			if err := errors.Join(err, read); err != nil {
				return err
			}
			if has["tx-tcp-segmentation"] != (Feature{on, true}) || has["tx-generic-segmentation"].On == on {
				t.Errorf("asked for %v: %+v, %+v", on, has["tx-tcp-segmentation"], has["tx-generic-segmentation"])
			}
			if has["vlan-challenged"].Changeable {
				t.Error("what the kernel never changes is changeable")
			}
		}
		return nil
	})
}

// The kernel writes as much as its own structure has. Virtual interfaces have no rings to set.
func TestRingsLieInMemoryAsTheKernelHasThem(t *testing.T) {
	var r Rings
	for name, c := range map[string]struct{ at, want uintptr }{
		"size": {unsafe.Sizeof(r), 36}, "largest receive ring": {unsafe.Offsetof(r.MaxRx), 4}, "largest send ring": {unsafe.Offsetof(r.MaxTx), 16},
		"receive ring": {unsafe.Offsetof(r.Rx), 20}, "send ring": {unsafe.Offsetof(r.Tx), 32},
	} {
		if c.at != c.want {
			t.Errorf("%s: %d bytes, the kernel has %d", name, c.at, c.want)
		}
	}
}

func TestADriverSaysItsNameSpeedQueuesAndCoalescing(t *testing.T) {
	a, _ := cable.Pair(t)
	a.Do(t, func() error {
		pair, err := OpenEthtool(a.Device)
		if err != nil {
			return err
		}
		defer pair.Close()
		if name, version, _ := pair.name(); name != "veth" || version != "1.0" || pair.linkSpeed() != 10_000 || pair.coalescing() != nil {
			t.Errorf("%s %s, %d Mbit/s, %+v", name, version, pair.linkSpeed(), pair.coalescing())
		}
		if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "soku-q", NumRxQueues: 3, NumTxQueues: 5}, PeerName: "soku-r"}); err != nil {
			return err
		}
		wide, err := OpenEthtool("soku-q")
		if err != nil {
			return err
		}
		defer wide.Close()
		if c, err := wide.Channels(); err != nil || c.MaxRx != 3 || c.MaxTx != 5 || c.MaxCombined != 0 {
			t.Errorf("queues %+v (%v)", c, err)
		}
		if err := netlink.LinkAdd(&netlink.Tuntap{LinkAttrs: netlink.LinkAttrs{Name: "soku-tap"}, Mode: netlink.TUNTAP_MODE_TAP}); err != nil {
			return err
		}
		tap, err := OpenEthtool("soku-tap")
		if err != nil {
			return err
		}
		defer tap.Close()
		command := [23]uint32{unix.ETHTOOL_SCOALESCE, 0, 17} // struct ethtool_coalesce: the second is in received frames
		if err := tap.Call(unsafe.Pointer(&command)); err != nil {
			return err
		}
		if c := tap.coalescing(); c == nil || *c != (measure.Coalescing{RxFrames: 17}) {
			t.Errorf("coalescing %+v", c)
		}
		return nil
	})
}

func TestAnInterfaceThatIsNotThereHasNoDriver(t *testing.T) {
	e, err := OpenEthtool("soku-none")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if has, err := e.Features(); !errors.Is(err, unix.ENODEV) {
		t.Errorf("features %v (%v)", has, err)
	}
	if _, err := e.Rings(); !errors.Is(err, unix.ENODEV) {
		t.Errorf("rings: %v", err)
	}
	if name, _, _ := e.name(); name != "" || e.linkSpeed() != 0 || e.coalescing() != nil || e.rss() != nil || e.Names(Statistics) != nil {
		t.Error("something is known of it")
	}
}

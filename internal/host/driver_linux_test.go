package host

import (
	"errors"
	"maps"
	"testing"
	"unsafe"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

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

// The kernel writes as much as its own structure has.
func TestStructuresOfADriverHaveTheSizesOfTheKernel(t *testing.T) {
	if size := unsafe.Sizeof(Rings{}); size != 9*4 {
		t.Errorf("rings have %d bytes", size)
	}
	if size := unsafe.Sizeof(Channels{}); size != 9*4 {
		t.Errorf("channels have %d bytes", size)
	}
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

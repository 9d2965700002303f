package sock

import (
	"errors"
	"net"
	"testing"
	"time"

	"soku/internal/measure"
)

func TestPutAndTakeDoNotAllocate(t *testing.T) {
	for _, tx := range []string{"write", "splice", "sendfile", "zerocopy"} {
		for _, rx := range []string{"read", "discard"} {
			t.Run(tx+" to "+rx, func(t *testing.T) { putAndTake(t, tx, rx) })
		}
	}
}

// putAndTake moves bytes as loops do: with calls that find no room or nothing there, and a
// wait for either.
func putAndTake(t *testing.T, tx, rx string) {
	t.Helper()
	from, to, err := dialled(t, measure.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := OpenWriter([]*net.TCPConn{from}, tx, RandomContent)
	if err != nil {
		t.Skipf("%s: %v", tx, err)
	}
	defer out.Close()
	in, err := OpenReader([]*net.TCPConn{to}, rx, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	calls, full, empty := 0, 0, 0
	round := func() {
		for {
			calls++
			if _, err := out.Put(0, 64<<10); err != nil {
				if !errors.Is(err, ErrWouldBlock) {
					t.Fatal(err)
				}
				full++
				break
			}
		}
		out.Wait(time.Microsecond)
		for {
			calls++
			if _, err := in.Take(0); err != nil {
				if !errors.Is(err, ErrWouldBlock) {
					t.Fatal(err)
				}
				empty++
				break
			}
		}
		in.Wait(time.Microsecond)
	}
	if n := testing.AllocsPerRun(20, round); n != 0 {
		t.Errorf("%v allocations in a round of calls", n)
	}
	if full == 0 || empty == 0 || calls < 100 {
		t.Errorf("%d calls, %d found no room and %d nothing", calls, full, empty)
	}
}

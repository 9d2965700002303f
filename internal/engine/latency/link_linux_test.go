package latency

import (
	"testing"
	"time"

	"soku/internal/engine/latency/direct"
)

func TestTheKernelReportsTheAgeOfAReply(t *testing.T) {
	for _, protocol := range []string{"tcp", "udp"} {
		t.Run(protocol, func(t *testing.T) {
			near, far, err := pair(t.Context(), protocol, false)
			if err != nil {
				t.Fatal(err)
			}
			defer near.Close()
			defer far.Close()
			l, ok := direct.OpenBlocking(near, maxTick)
			if !ok {
				t.Fatal("no blocking link")
			}
			defer l.Release()
			l.Stamp()
			late := func(wait time.Duration) time.Duration {
				begin := time.Now()
				if _, err := far.Write([]byte("reply")); err != nil {
					t.Fatal(err)
				}
				time.Sleep(wait) // the reader is busy elsewhere
				if n, err := l.Read(make([]byte, 9)); n != 5 || err != nil {
					t.Fatalf("read %d bytes, %v", n, err)
				}
				if most := time.Since(begin); l.Late() > most {
					t.Errorf("came %v before a read that ended %v after it was sent", l.Late(), most)
				}
				return l.Late()
			}
			// The kernel begins to stamp a moment after the first socket asks for it.
			for end := time.Now().Add(5 * time.Second); late(time.Millisecond) == 0; {
				if time.Now().After(end) {
					t.Fatal("nothing is stamped")
				}
			}
			if got := late(20 * time.Millisecond); got < 20*time.Millisecond-time.Millisecond {
				t.Errorf("read 20 ms after it came, said to have come %v before", got)
			}
		})
	}
}

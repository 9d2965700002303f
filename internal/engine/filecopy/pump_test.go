package filecopy

import (
	"context"
	"testing"
	"time"
)

func TestAStreamHasSoManyBlocksAsItNeeds(t *testing.T) {
	const most = 6
	for _, behind := range []bool{false, true} { // the loop that uses the blocks
		seen, ahead, used := map[*byte]bool{}, make(chan struct{}), make(chan struct{}, 100)
		ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
		defer end()
		err := pump(ctx, blockLeast, most, &work{}, nil, func(b *blocks) error {
			for i := range 3 * most {
				if behind && i == most {
					close(ahead) // there is no block that could be filled
				}
				x := b.get()
				if x == nil {
					return nil
				}
				seen[&x.buf[0]] = true
				b.put(x)
				if !behind {
					<-used
				}
			}
			return nil
		}, func(*block, bool) error {
			if behind {
				select {
				case <-ahead:
				case <-ctx.Done():
				}
			}
			used <- struct{}{}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: most, false: 2}[behind]; behind && len(seen) != want || len(seen) > want {
			t.Errorf("behind %v: %d blocks", behind, len(seen))
		}
	}
}

func TestTheBlocksOfAnEndAreBounded(t *testing.T) {
	for n := 1; n <= streamsMost; n++ {
		if all := n * deep(n) * blockSize(n); all > blocksMost || deep(n) < depth || deep(n) > depthMost {
			t.Errorf("%d streams: %d blocks of %d bytes each", n, deep(n), blockSize(n))
		}
	}
	if got := deep(1) * blockSize(1); got != 32<<20 {
		t.Errorf("one stream has %d bytes", got)
	}
}

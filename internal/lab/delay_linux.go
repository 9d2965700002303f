package lab

import "context"

func (l *Lab) addLines(k *Link) {
	for w := range k.Ways {
		way := &k.Ways[w]
		in := 3 + len(l.state.Lines)
		l.state.Lines = append(l.state.Lines, lineSpec{
			Link: k.Name, From: k.Ends[w].Node.Name, To: k.Ends[1-w].Node.Name,
			Delay: int64(way.Delay), Jitter: int64(way.Jitter), Loss: way.Loss,
			Seed: uint64(in), InFD: in, OutFD: in + 1 - 2*w,
		})
	}
}

func (a *assembly) delayLine(ctx context.Context) error { return nil }

// DelayLine carries the packets of a lab's delayed links until ctx ends.
func DelayLine(ctx context.Context, stateFile string) error { <-ctx.Done(); return nil }

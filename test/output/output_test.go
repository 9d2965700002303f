package output

import (
	"io"
	"testing"
	"testing/synctest"
)

func TestWordsAreAwaitedAcrossWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b Buffer
		listens, never := b.Has("server listens"), b.Has("failed")
		for _, part := range []string{"the server ", "lis", "tens here\n"} {
			select {
			case <-listens:
				t.Errorf("too early, after %q", b.String())
			default:
			}
			_, _ = io.WriteString(&b, part)
		}
		b.Await(t, "listens here") // written before
		<-listens
		select {
		case <-never:
			t.Error("words that were not written are there")
		default:
		}
		go func() { _, _ = io.WriteString(&b, "failed") }()
		<-never
	})
}

package ethr

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"soku/test/exchange"
)

// Recorded is for tests outside the package.
func Recorded(t testing.TB, name string) *exchange.Exchange {
	x := recorded(t)[name]
	if x == nil {
		t.Fatalf("no exchange %q is recorded", name)
	}
	return x
}

// SameMeaning reads the messages of s, which must have the same contents, and as many
// bytes of payload, of any content. Fields that describe only the client may differ.
func SameMeaning(c net.Conn, s exchange.Step) error {
	all, rest := frames(s)
	for _, f := range all {
		want, err := Decode(f[frameHead:])
		if err != nil {
			return err
		}
		got, err := Read(c)
		if err != nil {
			return err
		}
		for _, m := range []*Message{&got, &want} {
			m.Synced, m.Delay, m.RTT = false, 0, 0
			m.Params.Duration, m.Params.Gap, m.Params.Warmup = 0, 0, 0
			if m.Test != Latency {
				m.Params.Rounds = 0
			}
		}
		if got != want {
			return fmt.Errorf("got %+v, want %+v", got, want)
		}
	}
	_, err := io.ReadFull(c, make([]byte, len(rest)))
	var late net.Error
	if errors.As(err, &late) && late.Timeout() {
		return err
	}
	return nil
}

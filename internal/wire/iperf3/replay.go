package iperf3

import (
	"bytes"
	"crypto/sha256"
	"sync"
	"time"

	"soku/internal/measure"
)

// mostUsed bounds the tokens that are remembered at a time. Only who knows a password adds one.
const mostUsed = 10_000

// usedTokens holds the tokens that were accepted and are still within the allowed difference of
// the clocks: an attacker on the path could replay them. It is safe for concurrent use.
type usedTokens struct {
	mu    sync.Mutex
	until map[[sha256.Size]byte]time.Time
}

// use remembers an encrypted token until it is too old anyway. One that is there already is
// refused, and so are all while too many are.
func (u *usedTokens) use(sealed []byte, now, until time.Time) error {
	key := sha256.Sum256(bytes.TrimLeft(sealed, "\x00")) // it is a number: zeros in front change nothing
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.until == nil {
		u.until = map[[sha256.Size]byte]time.Time{}
	}
	if _, used := u.until[key]; used {
		return measure.Fail(measure.KindRefused, "iperf3.users.used", nil)
	}
	if len(u.until) >= mostUsed {
		for key, until := range u.until {
			if now.After(until) {
				delete(u.until, key)
			}
		}
	}
	if len(u.until) >= mostUsed {
		return measure.Fail(measure.KindRefused, "iperf3.users.too_many", nil)
	}
	u.until[key] = until
	return nil
}

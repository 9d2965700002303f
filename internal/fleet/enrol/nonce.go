package enrol

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"sync"
	"time"

	"soku/internal/measure"
)

// nonceLasts is how long a nonce is valid. Clocks of agents and changes of the hub's clock do not matter: it is counted
// from the start of the process.
const nonceLasts = time.Minute

// A nonce is, in base64 for URLs without padding:
//
//	8 bytes   ms since the hub began, big endian
//	16 bytes  random
//	16 bytes  of the HMAC-SHA-256 of the bytes before, with a key of the process
//
// The hub knows its nonces by that and keeps only those that were used: who asks for many takes no memory.
const (
	nonceTime   = 8
	nonceRandom = 16
	nonceMAC    = 16
	nonceBytes  = nonceTime + nonceRandom + nonceMAC
	maxNonces   = 1 << 16 // used within a minute
)

type nonces struct {
	key   [sha256.Size]byte
	began time.Time

	mu   sync.Mutex
	used map[[nonceRandom]byte]struct{}
	ends []usedNonce // in the order of use
}

type usedNonce struct {
	random [nonceRandom]byte
	at     time.Time // of use: from a minute later it is too old anyway
}

func newNonces() *nonces {
	n := &nonces{began: time.Now(), used: map[[nonceRandom]byte]struct{}{}}
	_, _ = rand.Read(n.key[:])
	return n
}

var nonceText = base64.RawURLEncoding.Strict()

func (n *nonces) make() string {
	b := make([]byte, nonceTime+nonceRandom, nonceBytes)
	binary.BigEndian.PutUint64(b, uint64(time.Since(n.began).Milliseconds()))
	_, _ = rand.Read(b[nonceTime:])
	return nonceText.EncodeToString(append(b, n.mac(b)...))
}

func (n *nonces) mac(b []byte) []byte {
	h := hmac.New(sha256.New, n.key[:])
	_, _ = h.Write(b)
	return h.Sum(nil)[:nonceMAC]
}

// decode is the random part of a nonce of this hub that is not too old.
func (n *nonces) decode(text string) (random [nonceRandom]byte, err error) {
	invalid := measure.Fail(measure.KindRefused, "enrol.nonce.invalid", measure.Figures{"lasts_ns": nonceLasts})
	if len(text) != nonceText.EncodedLen(nonceBytes) {
		return random, invalid
	}
	b, err := nonceText.DecodeString(text)
	if err != nil || !hmac.Equal(b[nonceTime+nonceRandom:], n.mac(b[:nonceTime+nonceRandom])) {
		return random, invalid
	}
	if made := time.Duration(binary.BigEndian.Uint64(b)) * time.Millisecond; time.Since(n.began)-made > nonceLasts {
		return random, invalid
	}
	return [nonceRandom]byte(b[nonceTime:]), nil
}

// use fails if a nonce was used before.
func (n *nonces) use(random [nonceRandom]byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	now, old := time.Now(), 0
	for old < len(n.ends) && now.Sub(n.ends[old].at) > nonceLasts {
		delete(n.used, n.ends[old].random)
		old++
	}
	n.ends = n.ends[old:]
	if _, twice := n.used[random]; twice {
		return measure.Fail(measure.KindRefused, "enrol.nonce.used", nil)
	}
	if len(n.used) >= maxNonces {
		return measure.Fail(measure.KindRefused, "enrol.busy", nil)
	}
	n.used[random] = struct{}{}
	n.ends = append(n.ends, usedNonce{random, now})
	return nil
}

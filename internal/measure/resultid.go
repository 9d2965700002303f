package measure

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"
)

// NewResultID is the identity of a result of now: 12 hex digits of milliseconds
// since 1970, so that identities sort by time, and 8 of chance, so that two of
// one millisecond differ.
func NewResultID(now time.Time) string {
	var chance [4]byte
	_, _ = rand.Read(chance[:]) // never fails
	return fmt.Sprintf("%012x%s", now.UnixMilli(), hex.EncodeToString(chance[:]))
}

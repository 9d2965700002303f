package measure

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"
)

// NewCampaignID is the identity of a campaign of that name that begins now: the time to
// the second, so that identities sort by it, the name, and 6 hex digits of chance.
func NewCampaignID(name string, now time.Time) string {
	var chance [3]byte
	_, _ = rand.Read(chance[:]) // never fails
	return fmt.Sprintf("%s-%s-%s", now.UTC().Format("20060102-150405"), name, hex.EncodeToString(chance[:]))
}

// CampaignName is the name in an identity that [NewCampaignID] made, or "" for another text.
func CampaignName(id string) string {
	const time, chance = len("20060102-150405-"), len("-123456")
	if len(id) <= time+chance {
		return ""
	}
	return id[time : len(id)-chance]
}

// NewResultID is the identity of a result of now: 12 hex digits of milliseconds
// since 1970, so that identities sort by time, and 8 of chance, so that two of
// one millisecond differ.
func NewResultID(now time.Time) string {
	var chance [4]byte
	_, _ = rand.Read(chance[:]) // never fails
	return fmt.Sprintf("%012x%s", now.UnixMilli(), hex.EncodeToString(chance[:]))
}

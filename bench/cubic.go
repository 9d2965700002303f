package main

import (
	"os"
	"strings"
)

const (
	congestionFile = "/proc/sys/net/ipv4/tcp_congestion_control"
	allowedFile    = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
)

// useCubic makes cubic the system's default, for programs that cannot choose, and
// returns what puts the old one back. Without the right to it nothing changes and
// the note says so. New network namespaces take the default over.
//
// The kernel adds a default to the congestion controls that everybody may choose,
// and leaves it there when the default changes, so that list is put back, too.
func useCubic() (restore func(), note string) {
	old, err := os.ReadFile(congestionFile)
	if err != nil || strings.TrimSpace(string(old)) == "cubic" {
		return func() {}, ""
	}
	allowed, err := os.ReadFile(allowedFile)
	if err != nil || os.WriteFile(congestionFile, []byte("cubic"), 0) != nil {
		return func() {}, "programs that cannot choose their congestion control ran with " + strings.TrimSpace(string(old))
	}
	return func() {
		_ = os.WriteFile(congestionFile, old, 0)
		_ = os.WriteFile(allowedFile, allowed, 0)
	}, ""
}

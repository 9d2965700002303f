package main

import (
	"os"
	"strings"
)

const (
	congestionFile = "/proc/sys/net/ipv4/tcp_congestion_control"
	allowedFile    = "/proc/sys/net/ipv4/tcp_allowed_congestion_control"
)

// useCubic makes cubic the system's default, for programs that cannot select it, and returns
// a function that restores the old one. Without the privilege it changes nothing and returns
// a note. New network namespaces inherit the default.
//
// The kernel adds a default to the congestion controls that all users may select, and keeps
// it there when the default changes, so that list is restored, too.
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

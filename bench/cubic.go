package main

import (
	"os"
	"strings"
)

const congestionFile = "/proc/sys/net/ipv4/tcp_congestion_control"

// useCubic makes cubic the system's default, for programs that cannot choose, and
// returns what puts the old one back. Without the right to it nothing changes and
// the note says so. New network namespaces take the default over.
func useCubic() (restore func(), note string) {
	old, err := os.ReadFile(congestionFile)
	if err != nil || strings.TrimSpace(string(old)) == "cubic" {
		return func() {}, ""
	}
	if os.WriteFile(congestionFile, []byte("cubic"), 0) != nil {
		return func() {}, "programs that cannot choose their congestion control ran with " + strings.TrimSpace(string(old))
	}
	return func() { _ = os.WriteFile(congestionFile, old, 0) }, ""
}

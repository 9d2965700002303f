package ssh

import (
	"regexp"
	"strings"
)

// destinationText has the characters of a destination of ssh.
var destinationText = regexp.MustCompile(`^[\pL\pN._+@:/\\%~\[\]-]+$`)

// IsDestination reports whether text can be a destination of ssh: [user@]host, a name of the
// configuration, or ssh://[user@]host[:port]. It cannot be taken for an option.
func IsDestination(text string) bool {
	host := HostOf(text)
	return len(text) <= 255 && destinationText.MatchString(text) && text[0] != '-' && host != "" && host[0] != '-'
}

// HostOf is the host in a destination: a name of the configuration, of the DNS, or an
// address.
func HostOf(destination string) string {
	rest, isURL := strings.CutPrefix(destination, "ssh://")
	host := rest[strings.LastIndexByte(rest, '@')+1:]
	if inside, _, ok := strings.Cut(strings.TrimPrefix(host, "["), "]"); ok {
		return inside
	}
	if isURL {
		host, _, _ = strings.Cut(strings.TrimSuffix(host, "/"), ":")
	}
	return host
}

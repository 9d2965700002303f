package doctor

import (
	"slices"
	"strings"

	"soku/internal/measure"
)

// Settings are those of a system that can change while it runs. Both methods are for changes that
// [Change.check] accepts; Key and Device of the change say which setting is meant.
type Settings interface {
	Read(c Change) (string, error)
	Write(c Change, value string) error
}

// sysctls are the kernel settings that soku changes. A record of changes lies in a folder that
// others may write to, and is read as root: it can name no other ones.
var sysctls = []string{
	"net.core.netdev_max_backlog", "net.core.rmem_max", "net.core.somaxconn", "net.core.wmem_max", "net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_moderate_rcvbuf", mtuProbing, "net.ipv4.tcp_rmem", "net.ipv4.tcp_sack", "net.ipv4.tcp_slow_start_after_idle",
	"net.ipv4.tcp_timestamps", "net.ipv4.tcp_window_scaling", "net.ipv4.tcp_wmem",
}

// offloadKeys are those of offloads, by the names of ethtool.
var offloadKeys = []string{"tso", "gso", "gro", "tx", "rx", "sg"}

// check refuses what is no setting that soku changes, and values that none of them has.
func (c Change) check() error {
	ok := false
	switch c.Kind {
	case KindSysctl:
		ok = slices.Contains(sysctls, c.Key) && c.Device == ""
	case KindGovernor:
		ok = numbered(c.Key, "policy") && c.Device == ""
	case KindAffinity:
		ok = numbered(c.Key, "") && c.Device == ""
	case KindSteering:
		ok = numbered(c.Key, "rx-") && isDevice(c.Device)
	case KindOffload:
		ok = slices.Contains(offloadKeys, c.Key) && isDevice(c.Device)
	case KindRing:
		ok = (c.Key == "rx" || c.Key == "tx") && isDevice(c.Device)
	}
	if !ok || !isValue(c.Was) || !isValue(c.To) {
		return measure.Fail(measure.KindFile, "doctor.change.unknown", measure.Figures{"setting": c.Name()})
	}
	return nil
}

// numbered reports whether text is the prefix and a number.
func numbered(text, prefix string) bool {
	digits, ok := strings.CutPrefix(text, prefix)
	return ok && digits != "" && len(digits) <= 6 && strings.Trim(digits, "0123456789") == ""
}

// isDevice reports whether text can be the name of an interface.
func isDevice(text string) bool {
	const longest = 15 // IFNAMSIZ without the end
	return text != "" && len(text) <= longest && text != "." && text != ".." && !strings.ContainsAny(text, "/ \t\n\x00")
}

func isValue(text string) bool {
	const longest = 256
	other := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(" ,-_", r)
	}
	return text != "" && len(text) <= longest && !strings.ContainsFunc(text, other)
}

// same reports whether two values of a setting are equal, however the kernel writes them: with tabs
// between numbers, and masks with leading zeros.
func (c Change) same(a, b string) bool {
	a, b = strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " ")
	if c.Kind == KindSteering {
		a, b = plainMask(a), plainMask(b)
	}
	return a == b
}

func plainMask(mask string) string {
	return strings.TrimLeft(strings.ReplaceAll(mask, ",", ""), "0")
}

// Name is how a person knows the setting.
func (c Change) Name() string {
	switch c.Kind {
	case KindSysctl:
		return c.Key
	case KindOffload, KindRing:
		return c.Device + " " + c.Kind + " " + c.Key
	}
	return c.file()
}

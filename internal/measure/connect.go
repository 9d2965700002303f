package measure

import (
	"net/netip"
	"slices"
	"strings"
)

// Connect is what a connect trial counted, beside the set-up times, which are
// in Latency.
type Connect struct {
	Opened            int64            `json:"opened" jsonschema:"description=Connections the client set up, and had served where there is a size"`
	OpenedPerSecond   float64          `json:"opened_per_second,omitempty" jsonschema:"description=By the client's count and clock"`
	Accepted          *int64           `json:"accepted,omitempty" jsonschema:"description=Connections the server accepted; absent where no soku server counted"`
	AcceptedPerSecond float64          `json:"accepted_per_second,omitempty" jsonschema:"description=By the server's count and clock; from its first connection to its last"`
	Failed            int64            `json:"failed" jsonschema:"description=Attempts that came to nothing"`
	Failures          map[string]int64 `json:"failures,omitempty" jsonschema:"description=Failed attempts by kind: refused, timeout, reset, closed_early, unreachable, no_port, no_descriptor, no_memory, forbidden, bad_source, other"`
	ForeignConns      int64            `json:"strangers,omitempty" jsonschema:"description=Connections to the session's port from other addresses; closed and not counted"`
	Unserved          int64            `json:"unserved,omitempty" jsonschema:"description=Accepted connections whose request did not come, or whose reply could not be sent"`
	DurationNs        int64            `json:"duration_ns" jsonschema:"description=From the client's first attempt to its last"`
	Port              int              `json:"port,omitempty" jsonschema:"description=Port that was connected to"`
	Entry             string           `json:"entry,omitempty" jsonschema:"enum=session,enum=main,enum=foreign,description=Whose port that is: the session's own, the server's main port, or of a service that is not soku"`
	Close             string           `json:"close,omitempty" jsonschema:"enum=rst,enum=fin,description=How connections ended"`
	ClientPath        string           `json:"client_path,omitempty" jsonschema:"description=How the client made connections: raw system calls or package net"`
	ServerPath        string           `json:"server_path,omitempty" jsonschema:"description=How the server took them"`
}

// MaxSources is how many addresses a connect test may take turns with.
const MaxSources = 64

// ParseSources reads addresses separated by commas, as the option sources has
// them: 1 to [MaxSources] different IP addresses of one family.
func ParseSources(text string) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, part := range strings.Split(text, ",") {
		a, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(part), "[]"))
		if err != nil {
			return nil, Errorf(KindUsage, "sources: %q is not an IP address", strings.TrimSpace(part)).WithHint("write for example 10.0.0.4,10.0.0.5")
		}
		a = a.Unmap()
		if len(out) > 0 && a.Is4() != out[0].Is4() {
			return nil, Errorf(KindUsage, "sources: %s and %s are of different families", out[0], a).WithHint("give addresses of one family")
		}
		if slices.Contains(out, a) {
			return nil, Errorf(KindUsage, "sources: %s is there twice", a).WithHint("each address once")
		}
		out = append(out, a)
	}
	if len(out) > MaxSources {
		return nil, Errorf(KindUsage, "sources: %d addresses", len(out)).WithHint("at most %d", MaxSources)
	}
	return out, nil
}

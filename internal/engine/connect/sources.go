package connect

import (
	"net/netip"
	"slices"
	"strings"

	"soku/internal/measure"
)

// MaxSources is how many addresses a connect test may take turns with.
const MaxSources = 64

// ParseSources reads addresses separated by commas, as the option sources has
// them: 1 to [MaxSources] different IP addresses of one family.
func ParseSources(text string) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, part := range strings.Split(text, ",") {
		a, err := netip.ParseAddr(strings.Trim(strings.TrimSpace(part), "[]"))
		if err != nil {
			return nil, measure.Errorf(measure.KindUsage, "sources: %q is not an IP address", strings.TrimSpace(part)).WithHint("write for example 10.0.0.4,10.0.0.5")
		}
		a = a.Unmap()
		if len(out) > 0 && a.Is4() != out[0].Is4() {
			return nil, measure.Errorf(measure.KindUsage, "sources: %s and %s are of different families", out[0], a).WithHint("give addresses of one family")
		}
		if slices.Contains(out, a) {
			return nil, measure.Errorf(measure.KindUsage, "sources: %s is there twice", a).WithHint("each address once")
		}
		out = append(out, a)
	}
	if len(out) > MaxSources {
		return nil, measure.Errorf(measure.KindUsage, "sources: %d addresses", len(out)).WithHint("at most %d", MaxSources)
	}
	return out, nil
}

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
			return nil, measure.Fail(measure.KindUsage, "connect.sources.address", measure.Figures{"text": strings.TrimSpace(part)})
		}
		a = a.Unmap()
		if len(out) > 0 && a.Is4() != out[0].Is4() {
			return nil, measure.Fail(measure.KindUsage, "connect.sources.families", measure.Figures{
				"first": out[0].String(), "other": a.String(),
			})
		}
		if slices.Contains(out, a) {
			return nil, measure.Fail(measure.KindUsage, "connect.sources.twice", measure.Figures{"address": a.String()})
		}
		out = append(out, a)
	}
	if len(out) > MaxSources {
		return nil, measure.Fail(measure.KindUsage, "connect.sources.count", measure.Figures{"count": len(out), "most": MaxSources})
	}
	return out, nil
}

package advice

import (
	"fmt"
	"slices"
	"strings"

	"soku/internal/campaign/plan"
	"soku/internal/measure"
)

// DraftHost is a host that is measured against. Several of them are levels of a factor. One whose
// name has factors in braces, such as {size}-{zone}, is a host for each combination of their levels.
type DraftHost struct {
	Name, Address string
	SSH           bool // Address is a destination of ssh
}

// DraftHostOf reads NAME=ADDRESS, or an address, which then is given a name. USER@ADDRESS is a
// destination of ssh.
func DraftHostOf(text string, number int) DraftHost {
	name, address, named := strings.Cut(text, "=")
	if !named {
		name, address = "", text
	}
	h := DraftHost{strings.TrimSpace(name), strings.TrimSpace(address), strings.Contains(address, "@")}
	if named {
		return h
	}
	h.Name = h.Address[strings.LastIndex(h.Address, "@")+1:]
	if len(plan.FactorsIn(h.Name)) > 0 {
		h.Name = strings.ReplaceAll(h.Name, ".", "-") // a "." would begin the label of an address
	} else if !plan.IsEndpointName(h.Name) {
		h.Name = fmt.Sprintf("server%d", number)
	}
	return h
}

// maxHosts is how many hosts a draft may have. A plan of 64 KiB has room for about that many.
const maxHosts = 1000

// HostFactors returns the names of the factors that choose the host.
func (d Draft) HostFactors() (names []string) {
	for _, h := range d.Hosts {
		for _, name := range plan.FactorsIn(h.Name) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// OpenFactors returns those of them whose levels are not known.
func (d Draft) OpenFactors() []string {
	return slices.DeleteFunc(d.HostFactors(), func(name string) bool { return d.factor(name) != nil })
}

func (d Draft) factor(name string) *DraftFactor {
	if i := slices.IndexFunc(d.Factors, func(f DraftFactor) bool { return f.Name == name }); i >= 0 {
		return &d.Factors[i]
	}
	return nil
}

// allHosts returns the hosts of all combinations of the levels that choose one.
func (d Draft) allHosts() ([]DraftHost, error) {
	factors := d.HostFactors()
	switch {
	case len(d.Hosts) == 0:
		return nil, measure.Fail(measure.KindUsage, "campaign.draft_without_host", nil)
	case len(factors) == 0:
		return d.Hosts, nil
	case len(d.Hosts) > 1:
		return nil, measure.Fail(measure.KindUsage, "campaign.draft_hosts_chosen", measure.Figures{"host": d.Hosts[0].Name})
	}
	chosen := [][]measure.Level{nil}
	for _, name := range factors {
		factor := d.factor(name)
		if factor == nil {
			return nil, measure.Fail(measure.KindUsage, "campaign.draft_host_factor", measure.Figures{"host": d.Hosts[0].Name, "factor": name})
		}
		var next [][]measure.Level
		for _, levels := range chosen {
			for _, l := range factor.Levels {
				next = append(next, append(slices.Clone(levels), measure.Level{Factor: name, Value: l}))
			}
		}
		if chosen = next; len(chosen) > maxHosts {
			return nil, measure.Fail(measure.KindUsage, "campaign.draft_many_hosts", measure.Figures{"host": d.Hosts[0].Name, "most": maxHosts})
		}
	}
	var hosts []DraftHost
	for _, levels := range chosen {
		h := d.Hosts[0]
		hosts = append(hosts, DraftHost{strings.ReplaceAll(plan.Expand(h.Name, levels), ".", "-"), plan.Expand(h.Address, levels), h.SSH})
	}
	return hosts, nil
}

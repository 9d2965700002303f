package report

import (
	"cmp"
	"slices"

	"soku/internal/measure"
)

// collectHosts is one element a machine, in order of name. A machine is known
// by its name on the path; what changed between trials has several values.
func collectHosts(results []*measure.Result) []Host {
	var out []Host
	for _, r := range results {
		for _, side := range []struct {
			role string
			end  measure.Endpoint
			host *measure.Host
		}{{"client", r.Path.Client, r.Hosts.Client}, {"server", r.Path.Server, r.Hosts.Server}} {
			if side.host == nil {
				continue
			}
			name := cmp.Or(side.end.Name, side.host.Facts.Hostname, side.end.Address)
			i := slices.IndexFunc(out, func(h Host) bool { return h.Name == name })
			if i < 0 {
				out = append(out, Host{Name: name})
				i = len(out) - 1
			}
			if !slices.Contains(out[i].Roles, side.role) {
				out[i].Roles = append(out[i].Roles, side.role)
			}
			out[i].merge(facts(side.host.Facts))
			out[i].merge(floorFact(side.host.Floor))
		}
	}
	for i := range out {
		slices.Sort(out[i].Roles)
	}
	slices.SortStableFunc(out, func(a, b Host) int { return natural(a.Name, b.Name) })
	return out
}

func (h *Host) merge(list []Fact) {
	for _, f := range list {
		i := slices.IndexFunc(h.Facts, func(o Fact) bool { return o.Key == f.Key })
		if i < 0 {
			h.Facts = append(h.Facts, f)
			continue
		}
		if v := f.Values[0]; !slices.ContainsFunc(h.Facts[i].Values, v.Equal) {
			h.Facts[i].Values = append(h.Facts[i].Values, v)
		}
	}
}

// collectTools lists the programs and protocols that made the results.
func collectTools(results []*measure.Result) []Tool {
	var out []Tool
	for _, r := range results {
		tool := Tool{Name: cmp.Or(r.Tool.Name, "soku"), Version: r.Tool.Version, Protocol: r.Tool.Protocol}
		if r.Origin != nil {
			source := sourceOf(r)
			tool.Source = &source
		}
		if !slices.ContainsFunc(out, tool.equal) {
			out = append(out, tool)
		}
	}
	slices.SortStableFunc(out, func(a, b Tool) int { return natural(a.order(), b.order()) })
	return out
}

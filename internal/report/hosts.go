package report

import (
	"cmp"
	"reflect"
	"slices"

	"soku/internal/measure"
)

// addHosts adds the machines of a result to a list of all. A machine is known by
// its name on the path; what changed between trials has several values.
func addHosts(list []Host, r *measure.Result) []Host {
	for _, side := range []struct {
		role string
		end  measure.Endpoint
		host *measure.Host
	}{{"client", r.Path.Client, r.Hosts.Client}, {"server", r.Path.Server, r.Hosts.Server}} {
		if side.host == nil {
			continue
		}
		name := cmp.Or(side.end.Name, side.host.Facts.Hostname, side.end.Address)
		i := slices.IndexFunc(list, func(h Host) bool { return h.Name == name })
		if i < 0 {
			list = append(list, Host{Name: name})
			i = len(list) - 1
		}
		if !slices.Contains(list[i].Roles, side.role) {
			list[i].Roles = append(list[i].Roles, side.role)
			slices.Sort(list[i].Roles)
		}
		if f := steady(side.host.Facts); !reflect.DeepEqual(f, list[i].latest) {
			list[i].latest = f
			list[i].merge(facts(f))
		}
		list[i].merge(floorFact(side.host.Floor))
	}
	return list
}

// steady are the facts without those that differ in every trial, and that no report shows.
func steady(f measure.Facts) measure.Facts {
	f.Load1, f.TimeSync = 0, nil
	return f
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

// addTool adds the program and the protocol that made a result to a list of all.
func addTool(list []Tool, r *measure.Result) []Tool {
	tool := Tool{Name: cmp.Or(r.Tool.Name, "soku"), Version: r.Tool.Version, Protocol: r.Tool.Protocol}
	if r.Origin != nil {
		source := sourceOf(r)
		tool.Source = &source
	}
	if slices.ContainsFunc(list, tool.equal) {
		return list
	}
	return append(list, tool)
}

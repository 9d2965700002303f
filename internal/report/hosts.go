package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

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
		i := slices.IndexFunc(h.Facts, func(o Fact) bool { return o.Name == f.Name })
		if i < 0 {
			h.Facts = append(h.Facts, f)
			continue
		}
		if v := f.Values[0]; !slices.Contains(h.Facts[i].Values, v) {
			h.Facts[i].Values = append(h.Facts[i].Values, v)
		}
	}
}

// hostName is the fact that a host calls itself so.
const hostName = "host name"

// facts writes what can change a figure as text. Load is left out: it is
// different in every trial and belongs to the single result.
func facts(f measure.Facts) []Fact {
	var out []Fact
	add := func(name, text string) {
		if text != "" {
			out = append(out, Fact{Name: name, Values: []string{text}})
		}
	}
	add(hostName, f.Hostname)
	add("system", join(" ", cmp.Or(f.Distribution, f.OS), f.Arch))
	add("kernel", f.Kernel)
	add("virtualization", f.Virtual)
	add("CPU", join(" × ", number0(int64(f.CPUs)), f.CPUModel))
	add("CPU governor", f.Governor)
	if f.MemoryBytes > 0 {
		add("memory", fmt.Sprintf("%.1f GiB", float64(f.MemoryBytes)/(1<<30)))
	}
	add("interface", join(", ", f.Interface, f.Driver))
	if f.LinkSpeedMbps > 0 {
		add("link speed", measure.FormatRate(float64(f.LinkSpeedMbps)*1e6))
	}
	add("MTU", number0(int64(f.MTU)))
	add("queueing discipline", f.Qdisc)
	add("congestion control", f.Congestion)
	add("offloads", offloads(f.Offloads))
	add("clock source", f.ClockSource)
	for _, k := range slices.Sorted(maps.Keys(f.Sysctl)) {
		add(k, f.Sysctl[k])
	}
	return out
}

// floorFact is what the host was found to reach on its own loopback, the best
// of each kind.
func floorFact(f *measure.HostFloor) []Fact {
	if f == nil {
		return nil
	}
	var goodput, packets, median float64
	for _, g := range f.Goodput {
		goodput = max(goodput, g.GoodputBps)
	}
	for _, p := range f.Packets {
		packets = max(packets, p.PacketsPerSecond)
	}
	for _, t := range f.RoundTrips {
		if median == 0 || t.RTT.P50 < median {
			median = t.RTT.P50
		}
	}
	text := ""
	if goodput > 0 {
		text = measure.FormatRate(goodput)
	}
	if packets > 0 {
		text = join(", ", text, digits(packets/1e3, 3)+"k packets/s")
	}
	if median > 0 {
		text = join(", ", text, measure.FormatLatency(median)+" round trip")
	}
	if text == "" {
		return nil
	}
	return []Fact{{Name: "own limits (soku floor)", Values: []string{text + ", on " + f.MeasuredAt.UTC().Format(time.DateOnly)}}}
}

func offloads(m map[string]bool) string {
	var on, off []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] {
			on = append(on, k)
		} else {
			off = append(off, k)
		}
	}
	text := ""
	if len(on) > 0 {
		text = "on: " + join(", ", on...)
	}
	if len(off) > 0 {
		text = join("; ", text, "off: "+join(", ", off...))
	}
	return text
}

// join puts the texts that are not empty together.
func join(separator string, parts ...string) string {
	text := ""
	for _, p := range parts {
		if p == "" {
			continue
		}
		if text != "" {
			text += separator
		}
		text += p
	}
	return text
}

func number0(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// collectTools lists the programs and protocols that made the results.
func collectTools(results []*measure.Result) []string {
	var out []string
	for _, r := range results {
		text := join(", ", join(" ", cmp.Or(r.Tool.Name, "soku"), r.Tool.Version), r.Tool.Protocol)
		if r.Origin != nil {
			text = sourceText(r) + ", ingested by " + text
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	slices.SortFunc(out, natural)
	return out
}

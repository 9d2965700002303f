package report

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/text"
)

// Fact is one property of a host; several values mean that it changed between trials.
// Its JSON form has its name and the values as a person reads them.
type Fact struct {
	Key    string // of the catalogue, or the name of a kernel setting
	Values []text.Line
}

// hostName is the fact that a host calls itself so.
const hostName = "fact.host_name"

type factJSON struct {
	Key    string   `json:"key"`
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// MarshalJSON writes it.
func (f Fact) MarshalJSON() ([]byte, error) {
	c := text.ForPrograms()
	return json.Marshal(factJSON{strings.TrimPrefix(f.Key, "fact."), factName(c, f.Key), factValues(c, f)})
}

// UnmarshalJSON reads it; earlier versions wrote no key.
func (f *Fact) UnmarshalJSON(data []byte) error {
	var j factJSON
	if err := json.Unmarshal(data, &j); err != nil {
		return err
	}
	f.Key, f.Values = cmp.Or(j.Key, j.Name), nil
	if text.ForPrograms().Has("fact." + f.Key) {
		f.Key = "fact." + f.Key
	}
	for _, v := range j.Values {
		f.Values = append(f.Values, plain(v))
	}
	return nil
}

func factName(c *text.Catalogue, key string) string {
	if strings.HasPrefix(key, "fact.") && c.Has(key) {
		return c.Heading(key)
	}
	return key
}

func factValues(c *text.Catalogue, f Fact) []string {
	out := make([]string, len(f.Values))
	for i, v := range f.Values {
		out[i] = c.SentenceOf(v)
	}
	return out
}

func plain(value string) text.Line {
	return text.Line{Key: "value.plain", Args: text.Args{"Value": value}}
}

// rareSettings are kernel settings that few change, or that matter for very many connections
// only: tables leave them to the documents.
var rareSettings = []string{
	"net.core.netdev_budget_usecs", "net.core.somaxconn", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_max_syn_backlog",
	"net.ipv4.tcp_min_tso_segs", "net.ipv4.tcp_syncookies", "net.ipv4.tcp_tw_reuse", "net.netfilter.nf_conntrack_max",
}

// facts are what can change a figure. Load is left out: it is different in every trial
// and belongs to the single result.
func facts(f measure.Facts) []Fact {
	var out []Fact
	add := func(key string, v text.Line) { out = append(out, Fact{Key: key, Values: []text.Line{v}}) }
	name := func(key, value string) {
		if value != "" {
			add(key, plain(value))
		}
	}
	name(hostName, f.Hostname)
	name("fact.system", join(" ", cmp.Or(f.Distribution, f.OS), f.Arch))
	name("fact.kernel", f.Kernel)
	if f.Cloud != nil {
		name("fact.instance", join(", ", f.Cloud.InstanceType, f.Cloud.Location()))
	}
	name("fact.virtualization", f.Virtual)
	if f.CPUs > 0 || f.CPUModel != "" {
		add("fact.cpu", text.Line{Key: "value.cpu", Args: text.Args{"CPUs": f.CPUs, "Model": f.CPUModel}})
	}
	if f.Limits != nil && f.Limits.CPUQuota > 0 {
		add("fact.cpu_quota", text.Line{Key: "value.cpu_quota", Args: text.Args{"CPUs": f.Limits.CPUQuota}})
	}
	name("fact.cpu_governor", f.Governor)
	if f.MemoryBytes > 0 {
		add("fact.memory", text.Line{Key: "value.memory", Args: text.Args{"GiB": float64(f.MemoryBytes) / (1 << 30)}})
	}
	if f.Interface != "" || f.Driver != "" {
		add("fact.interface", text.Line{Key: "value.interface", Args: text.Args{"Interface": f.Interface, "Driver": f.Driver}})
	}
	out = append(out, deviceFacts(f)...)
	if f.LinkSpeedMbps > 0 {
		add("fact.link_speed", text.Line{Key: "value.link_speed", Args: text.Args{"Rate": float64(f.LinkSpeedMbps) * 1e6}})
	}
	if f.MTU != 0 {
		add("fact.mtu", text.Line{Key: "value.mtu", Args: text.Args{"MTU": f.MTU}})
	}
	name("fact.queueing_discipline", f.Qdisc)
	name("fact.congestion_control", f.Congestion)
	if len(f.Offloads) > 0 {
		add("fact.offloads", offloads(f.Offloads))
	}
	name("fact.clock_source", f.ClockSource)
	for _, k := range slices.Sorted(maps.Keys(f.Sysctl)) {
		if !slices.Contains(rareSettings, k) {
			name(k, f.Sysctl[k])
		}
	}
	return out
}

// deviceFacts are what the device below the interface adds.
func deviceFacts(f measure.Facts) (out []Fact) {
	add := func(key string, v text.Line) { out = append(out, Fact{Key: key, Values: []text.Line{v}}) }
	if f.NIC != nil && f.NIC.Queues != nil {
		q := f.NIC.Queues
		args := text.Args{"Combined": q.Combined, "Rx": q.Rx, "Tx": q.Tx}
		if q.Combined+q.Rx+q.Tx > 0 {
			add("fact.queues", text.Line{Key: "value.queues", Args: args})
		}
	}
	switch {
	case f.NIC != nil && f.NIC.VirtualFunction != nil:
		v := f.NIC.VirtualFunction
		add("fact.accelerated", text.Line{Key: "value.virtual_function", Args: text.Args{"State": v.State, "Driver": v.Driver}})
	case f.Cloud != nil && f.Cloud.Accelerated != nil:
		add("fact.accelerated", text.Line{Key: "value.accelerated", Args: text.Args{"On": *f.Cloud.Accelerated}})
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
	if goodput <= 0 && packets <= 0 && median <= 0 {
		return nil
	}
	limits := text.Line{Key: "value.own_limits", Args: text.Args{
		"Goodput": goodput, "Packets": text.Significant(3, packets/1e3), "HasPackets": packets > 0, "Median": median,
		"On": f.MeasuredAt.UTC().Format(time.DateOnly),
	}}
	return []Fact{{Key: "fact.own_limits", Values: []text.Line{limits}}}
}

func offloads(m map[string]bool) text.Line {
	var on, off []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] {
			on = append(on, k)
		} else {
			off = append(off, k)
		}
	}
	return text.Line{Key: "value.offloads", Args: text.Args{"On": on, "Off": off}}
}

// join puts the texts that are not empty together.
func join(separator string, parts ...string) string {
	joined := ""
	for _, p := range parts {
		if p == "" {
			continue
		}
		if joined != "" {
			joined += separator
		}
		joined += p
	}
	return joined
}

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
		h := findOrAdd(&list, func(h Host) bool { return h.Name == name }, Host{Name: name})
		h.Roles = addOnce(h.Roles, side.role)
		slices.Sort(h.Roles)
		if f := steady(side.host.Facts); !reflect.DeepEqual(f, h.latest) {
			h.latest = f
			h.merge(facts(f))
		}
		h.merge(floorFact(side.host.Floor))
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

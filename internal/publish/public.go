package publish

import (
	"cmp"
	"net"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/report"
)

// leftOut stands for a text that a public report does not have.
const leftOut = "…"

// public changes results so that a report of them has no addresses, names of hosts and users,
// paths and tokens: hosts become "host A", and a text stays only if its field is one of those
// below. All results are shown to it first: a level of one may be the name of a host of another.
type public struct {
	hosts  map[string]string               // by each name and address of theirs
	names  []string                        // keys of hosts, the longest first
	texts  map[string]string               // that were changed before
	levels map[measure.Level]measure.Level // those of the plan, by what they became
	limits map[string][]measure.Limit
	count  int
	others map[string]string // what stands for addresses that are not those of a host
}

func newPublic() *public {
	return &public{hosts: map[string]string{}, texts: map[string]string{}, levels: map[measure.Level]measure.Level{}, limits: map[string][]measure.Limit{}, others: map[string]string{}}
}

// input changes what a report is made of, and returns what changes each result. Without p
// nothing is changed.
func (p *public) input(in *report.Input) (change func(*measure.Result)) {
	if p == nil {
		return func(*measure.Result) {}
	}
	in.Campaign.Plan = ""
	for _, s := range []*string{&in.Campaign.ID, &in.Campaign.Name, &in.Campaign.Title} {
		*s = p.text(*s)
	}
	for i, levels := range in.Patterns {
		in.Patterns[i] = p.levelsOf(levels)
	}
	// Limits and control are those of the names that the plan has.
	limits, control := in.Design.Limits, in.Design.Control
	in.Design.Limits = func(r *measure.Result) []measure.Limit { return p.limits[r.ID] }
	if control != nil {
		in.Design.Control = func(levels []measure.Level) bool {
			planned := slices.Clone(levels) // the report may have left out factors that set nothing
			for i, l := range planned {
				planned[i] = cmp.Or(p.levels[l], l)
			}
			return control(planned)
		}
	}
	return func(r *measure.Result) {
		of := slices.Clone(limits(r))
		p.walk(reflect.ValueOf(of), false)
		p.limits[r.ID] = of
		p.change(r)
	}
}

// see learns the hosts of a result.
func (p *public) see(r *measure.Result) {
	pair := measure.Pair{}
	if r.Trial != nil && r.Trial.Pair != nil {
		pair = *r.Trial.Pair
	}
	p.host(pair.Client, r.Path.Client, r.Hosts.Client)
	p.host(pair.Server, r.Path.Server, r.Hosts.Server)
}

// host learns a host. It is known by the first name that it has; the others lead to it unless
// they are those of another, as hosts of one emulated network have one.
func (p *public) host(planned, path measure.Endpoint, host *measure.Host) {
	all := []string{planned.Name, path.Name, hostnameOf(host), planned.Address, path.Address}
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	if len(all) == 0 {
		return
	}
	name, known := p.hosts[all[0]]
	if !known {
		p.count++
		name = "host " + letters(p.count)
	}
	for _, alias := range all {
		if _, taken := p.hosts[alias]; !taken {
			p.hosts[alias] = name
			p.names = append(p.names, alias)
		}
	}
}

func hostnameOf(h *measure.Host) string {
	if h == nil {
		return ""
	}
	return h.Facts.Hostname
}

// letters are A, B, ... Z, AA, AB and so on.
func letters(n int) (s string) {
	for ; n > 0; n = (n - 1) / 26 {
		s = string(rune('A'+(n-1)%26)) + s
	}
	return s
}

// change changes a result.
func (p *public) change(r *measure.Result) {
	r.Findings = slices.DeleteFunc(r.Findings, func(f measure.Finding) bool { return f.Code == finding.Text })
	path := r.Path
	path.Client, path.Server = p.endpoint(path.Client, r.Hosts.Client), p.endpoint(path.Server, r.Hosts.Server)
	var levels []measure.Level
	var pair *measure.Pair
	if t := r.Trial; t != nil {
		levels = p.levelsOf(t.Levels)
		if t.Pair != nil {
			pair = &measure.Pair{Client: p.endpoint(t.Pair.Client, nil), Server: p.endpoint(t.Pair.Server, nil)}
		}
	}
	p.walk(reflect.ValueOf(r).Elem(), false)
	r.Path = path
	if t := r.Trial; t != nil {
		t.Levels, t.Pattern, t.Pair = levels, measure.JoinLevels(levels), pair
	}
	for h, name := range map[*measure.Host]string{r.Hosts.Client: path.Client.Name, r.Hosts.Server: path.Server.Name} {
		if h != nil {
			h.Facts.Hostname = name
		}
	}
}

// endpoint is an endpoint of a public name.
func (p *public) endpoint(e measure.Endpoint, h *measure.Host) measure.Endpoint {
	return measure.Endpoint{Name: p.hosts[cmp.Or(e.Name, hostnameOf(h), e.Address)], Label: p.text(e.Label)}
}

// levelsOf are levels without names of hosts.
func (p *public) levelsOf(levels []measure.Level) []measure.Level {
	out := slices.Clone(levels)
	for i := range out {
		out[i].Value = p.text(out[i].Value)
		p.levels[out[i]] = levels[i]
	}
	return out
}

// kept are the fields whose texts a public report may have: what programs, systems and machines
// are called, words of the program itself, and what people name for their readers.
var kept = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`Result\.(?:ID|Schema)`, `Tool\..*`, `Timing\..*`, `Trial\.Campaign`, `Group\.ID`, `Level\.Factor`, `Endpoint\.Label`,
	`Cloud\.(?:InstanceType|Provider|Region|Zone)`, `Deployment\..*`,
	`Facts\.(?:Arch|CPUModel|ClockSource|Congestion|Distribution|Driver|Governor|Interface|Kernel|OS|Offloads|Qdisc|Sysctl|Virtual)`,
	`NIC\.(?:Driver|DriverVersion|Firmware|Model)`, `Disk\.(?:Model|Scheduler)`,
	`Connect\.(?:ClientPath|ServerPath|Close|Entry)`, `Copy\.Checksum`, `CopyPlace\.(?:FileSystem|Sync)`, `Copy(?:Cut|Stage)\.Stage`,
	`Flow\.[RT]XPath`, `Floor(?:Goodput|Packets|RoundTrip)\..*`, `FloorReading\.Clock`, `Latency\.(?:Server)?Method`,
	`Evidence\.(?:Comparison|Figure|Unit)`, `Verdict\.Rule`, `Limit\.(?:Component|Date|Metric|Source)`, `MTUFlow\.Limit`, `PathMTU\..*`, `Trace\.(?:Method|Probe)`,
	`Options\.(?:Congestion|DSCP)`, `Arrivals\.Process`, `Origin\.(?:Format|Tool|ToolVersion)`, `Split\.Stamp.*`, `TCPInfo\..*`,
	`(?:Error|Remedy|Finding)\.(?:Code|HintCode)`,
}, "|") + `)$`)

// written are fields that people wrote, and that may name a host among other words.
var written = regexp.MustCompile(`^(?:Trial\.(?:Label|Name|Pattern)|Level\.Value|Session\.ID|Origin\.(?:Source|Run|Part)|Limit\.Of)$`)

// figures are the texts of findings and errors that are words of the program or of systems.
var figures = []string{"protocol", "congestion", "unit", "via", "option", "sysctl", "setting", "tx", "rx", "stamps", "format", "figure", "direction", "kind"}

var addressed = regexp.MustCompile(`\[?[0-9A-Fa-f:.-]{2,}(?:%[0-9A-Za-z]+)?\]?(?::[0-9]+)?`)

// text is a text that a person wrote, without names of hosts and addresses.
func (p *public) text(s string) string {
	if name, ok := p.hosts[s]; ok {
		return name
	}
	if out, ok := p.texts[s]; ok {
		return out
	}
	out := s
	slices.SortFunc(p.names, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	for _, name := range p.names {
		if utf8.RuneCountInString(name) > 1 {
			out = replaceWord(out, name, p.hosts[name])
		}
	}
	out = addressed.ReplaceAllStringFunc(out, func(token string) string {
		if isAddress(strings.TrimRight(token, ".")) {
			return p.address(token)
		}
		return token
	})
	p.texts[s] = out
	return out
}

// address stands for an address: two levels that are addresses stay two.
func (p *public) address(s string) string {
	if p.others[s] == "" {
		p.others[s] = "address " + letters(len(p.others)+1)
	}
	return p.others[s]
}

func isAddress(s string) bool {
	_, ip := netip.ParseAddr(strings.Trim(s, "[]"))
	_, port := netip.ParseAddrPort(s)
	_, mac := net.ParseMAC(s)
	return ip == nil || port == nil || mac == nil
}

// replaceWord replaces a name where it is no part of a longer word.
func replaceWord(s, name, with string) string {
	var b strings.Builder
	part := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }
	for {
		i := strings.Index(s, name)
		if i < 0 {
			return b.String() + s
		}
		before, _ := utf8.DecodeLastRuneInString(b.String() + s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+len(name):])
		b.WriteString(s[:i])
		if part(before) || part(after) {
			b.WriteString(name)
		} else {
			b.WriteString(with)
		}
		s = s[i+len(name):]
	}
}

// walk changes the texts of a value and of those in it. keep is set where its field is one of
// kept.
func (p *public) walk(v reflect.Value, keep bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p.walk(v.Elem(), keep)
		}
	case reflect.Slice, reflect.Array:
		if k := v.Type().Elem().Kind(); k <= reflect.Complex128 { // numbers, of which there are many
			return
		}
		for i := range v.Len() {
			p.walk(v.Index(i), keep)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				p.field(v.Type().Name()+"."+f.Name, f, v.Field(i))
			}
		}
	case reflect.Map:
		p.entries(v, keep)
	case reflect.Interface:
		if !v.IsNil() {
			inner := reflect.New(v.Elem().Type()).Elem()
			inner.Set(v.Elem())
			p.walk(inner, keep)
			v.Set(inner)
		}
	case reflect.String:
		if !keep && v.Type() == reflect.TypeFor[string]() && v.String() != "" {
			v.SetString(cmp.Or(p.hosts[v.String()], leftOut))
		}
	}
}

func (p *public) field(name string, f reflect.StructField, v reflect.Value) {
	if v.Kind() == reflect.String && written.MatchString(name) {
		v.SetString(p.text(v.String()))
		return
	}
	_, words := f.Tag.Lookup("enum")
	p.walk(v, words || kept.MatchString(name))
}

func (p *public) entries(m reflect.Value, keep bool) {
	figure := m.Type() == reflect.TypeFor[measure.Figures]()
	for _, key := range m.MapKeys() {
		v := reflect.New(m.Type().Elem()).Elem()
		v.Set(m.MapIndex(key))
		p.walk(v, keep || figure && slices.Contains(figures, key.String()))
		m.SetMapIndex(key, v)
	}
}

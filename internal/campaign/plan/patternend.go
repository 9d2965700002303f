package plan

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// patternEnd is one end of a pattern: the client or the server. The plan and levels set its
// endpoint and the label of its address together, as endpoint.label, or apart.
type patternEnd struct {
	key         string // of the endpoint: from or to
	name, label string
	// nameBy and labelBy are the factors that set them, or "" if the plan does.
	nameBy, labelBy string
	// nameAt and labelAt are the paths of the values that set them.
	nameAt, labelAt string
}

// braces has the name of a factor in a reference to an endpoint, such as {vmsize}-{zone}.
var braces = regexp.MustCompile(`\{([^{}]*)\}`)

// FactorsIn returns the names in braces of a reference to an endpoint.
func FactorsIn(ref string) (names []string) {
	for _, m := range braces.FindAllStringSubmatch(ref, -1) {
		names = append(names, m[1])
	}
	return names
}

// Expand replaces each factor in braces by the level that a pattern has of it.
func Expand(ref string, levels []measure.Level) string {
	return braces.ReplaceAllStringFunc(ref, func(factor string) string {
		for _, l := range levels {
			if factor == "{"+l.Factor+"}" {
				return l.Value
			}
		}
		return factor
	})
}

// cutReference cuts endpoint.label. A "." in braces is one of a factor's name.
func cutReference(ref string) (name, label string, labelled bool) {
	masked := braces.ReplaceAllStringFunc(ref, func(factor string) string { return strings.Repeat("_", len(factor)) })
	at := strings.Index(masked, ".")
	if at < 0 {
		return ref, "", false
	}
	return ref[:at], ref[at+1:], true
}

// expandReference returns the endpoint and the label that a reference names in a pattern. Names of
// endpoints have no ".": "-" stands for each of a level.
func expandReference(ref string, levels []measure.Level) (name, label string) {
	name, label, _ = cutReference(ref)
	return strings.ReplaceAll(Expand(name, levels), ".", "-"), Expand(label, levels)
}

// choosesEnd reports whether the endpoint of an end depends on the level of a factor by its name in
// braces.
func (p *Plan) choosesEnd(factor string) bool {
	refs := []string{p.From, p.To}
	for _, f := range p.Factors {
		for _, l := range f.Value.Levels {
			refs = append(refs, l.From, l.To)
		}
	}
	return slices.ContainsFunc(refs, func(ref string) bool { return strings.Contains(ref, "{"+factor+"}") })
}

// newPatternEnd is an end as the plan sets it, before the levels of a pattern.
func newPatternEnd(key, ref, label string, levels []measure.Level) patternEnd {
	name, own := expandReference(ref, levels)
	e := patternEnd{key: key, name: name, label: own, nameAt: key, labelAt: key}
	if label != "" {
		e.label, e.labelAt = label, key+"_label"
	}
	return e
}

// set gives the end what a level of a factor sets in a pattern of these levels. If another factor has set that before,
// it returns the key and that factor.
func (e *patternEnd) set(factor, at, ref, label string, levels []measure.Level) (twice, by string) {
	name, own := expandReference(ref, levels)
	if name != "" {
		if e.nameBy != "" {
			return e.key, e.nameBy
		}
		if e.labelAt == e.key {
			e.label = "" // the plan's vm.vlan names an address of vm
		}
		e.name, e.nameBy, e.nameAt = name, factor, at+"."+e.key
	}
	if label = cmp.Or(label, own); label != "" {
		if e.labelBy != "" {
			return e.key + "_label", e.labelBy
		}
		e.label, e.labelBy, e.labelAt = label, factor, at+"."+e.key
		if own == "" {
			e.labelAt += "_label"
		}
	}
	return "", ""
}

// at is the path of the value that is wrong if the end has no address.
func (e *patternEnd) at() string {
	if e.label == "" {
		return e.nameAt
	}
	return e.labelAt
}

// reference is "endpoint" or "endpoint.label", or "" for this machine.
func (e *patternEnd) reference() string {
	if e.label == "" {
		return e.name
	}
	return e.name + "." + e.label
}

// checkEnds sees that the pattern has two different ends, and that endpoints have the addresses
// that their labels name.
func (p *Plan) checkEnds(d *yamlfile.File, pt *Pattern, from, to *patternEnd) error {
	switch {
	case to.name == "":
		return d.FailAt("to", "campaign.no_server", measure.Figures{"pattern": pt.Name})
	case from.name == "" && from.label != "":
		return p.inPattern(d, pt, from.labelAt, measure.Fail(measure.KindFile, "campaign.label_without_endpoint", measure.Figures{"label": from.label}))
	}
	for _, e := range []*patternEnd{from, to} {
		if err := p.unknownEndpoint(e.name); err != nil && e.name != "" {
			return p.inPattern(d, pt, e.nameAt, err)
		}
		if err := p.missingLabel(e.name, e.label); err != nil {
			return p.inPattern(d, pt, e.labelAt, err)
		}
	}
	if pt.From == pt.To {
		return d.FailAt("to", "campaign.to_itself", measure.Figures{"pattern": pt.Name, "endpoint": pt.To})
	}
	server, _ := p.Endpoints.Get(to.name)
	if to.label == "" && !server.hasAddress() {
		return d.FailAt("endpoints."+to.name, "campaign.no_address", measure.Figures{"endpoint": to.name})
	}
	return nil
}

// inPattern is what is wrong with a value in one of the patterns.
func (p *Plan) inPattern(d *yamlfile.File, pt *Pattern, path string, cause error) error {
	return d.LocateAt(path, measure.Fail(measure.KindFile, "campaign.in_pattern", measure.Figures{"pattern": pt.Name, "cause": cause}))
}

// missingLabel is the failure of an endpoint that has no address with a label, or nil if it
// has one, or if only the lab knows its addresses.
func (p *Plan) missingLabel(name, label string) error {
	e, _ := p.Endpoints.Get(name)
	if _, ok := e.Addresses.Get(label); ok || label == "" || e.Host != "" {
		return nil
	}
	unknown := measure.Fail(measure.KindFile, "campaign.no_label", measure.Figures{"endpoint": name, "label": yamlfile.Shorten(label)})
	if len(e.Addresses) > 0 {
		unknown = suggest(unknown, label, e.Addresses.Names(), "campaign.labels_are")
	}
	return unknown
}

// unknownEndpoint is the failure of a name that no endpoint has, or nil.
func (p *Plan) unknownEndpoint(name string) error {
	if _, ok := p.Endpoints.Get(name); ok {
		return nil
	}
	unknown := measure.Fail(measure.KindFile, "campaign.no_endpoint", measure.Figures{"endpoint": yamlfile.Shorten(name)})
	if len(p.Endpoints) > 0 {
		return suggest(unknown, name, p.Endpoints.Names(), "campaign.endpoints_are")
	}
	return unknown
}

// checkEnd checks what the plan or a level sets for one end: an endpoint or
// endpoint.label, and a label apart from it. at is the path of the key of the endpoint. An endpoint
// with factors in braces is checked in each pattern.
func (p *Plan) checkEnd(d *yamlfile.File, at, ref, label string) error {
	name, own, labelled := cutReference(ref)
	chosen := braces.FindAllStringSubmatch(ref, -1)
	for _, factor := range chosen {
		if _, ok := p.Factors.Get(factor[1]); !ok {
			return d.LocateAt(at, p.unknownFactor(factor[1]))
		}
	}
	if ref != "" && len(chosen) == 0 {
		if err := p.unknownEndpoint(name); err != nil {
			return d.LocateAt(at, err)
		}
	}
	if labelled && own == "" {
		return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.no_label", measure.Figures{"endpoint": name, "label": own}))
	}
	if err := p.missingLabel(name, own); err != nil && len(chosen) == 0 {
		return d.LocateAt(at, err)
	}
	if label == "" {
		return nil
	}
	if own != "" {
		return d.LocateAt(at+"_label", measure.Fail(measure.KindFile, "campaign.label_twice", measure.Figures{"reference": ref, "label": yamlfile.Shorten(label)}))
	}
	return p.checkLabel(d, at+"_label", label)
}

// checkLabel sees that an endpoint has an address with the label. Which endpoint it is
// of depends on the pattern.
func (p *Plan) checkLabel(d *yamlfile.File, at, label string) error {
	var known []string
	for _, e := range p.Endpoints {
		if e.Value.Host != "" {
			return nil // its addresses are in the topology
		}
		for _, name := range e.Value.Addresses.Names() {
			if name == label {
				return nil
			}
			if !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
	}
	unknown := measure.Fail(measure.KindFile, "campaign.label_of_none", measure.Figures{"label": yamlfile.Shorten(label)})
	if len(known) > 0 {
		unknown = suggest(unknown, label, known, "campaign.address_labels_are")
	}
	return d.LocateAt(at, unknown)
}

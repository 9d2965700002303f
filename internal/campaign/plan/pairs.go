package plan

import (
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// checkPairs works out the pairs, and sees that nothing else names the ends.
func (p *Plan) checkPairs(d *yamlfile.File) error {
	if err := p.checkGroups(d); err != nil {
		return err
	}
	if p.Pairs == nil {
		return p.checkWithoutPairs(d)
	}
	if err := p.checkEndsBesidePairs(d); err != nil {
		return err
	}
	r := pairer{Plan: p, file: d, numbers: map[member]int{}, pairing: pairing{checked: map[[2]string]bool{}}}
	entries, err := r.entries()
	if err != nil {
		return err
	}
	if err := r.make(entries); err != nil {
		return err
	}
	if err := r.checkClients(); err != nil {
		return err
	}
	p.paired = &r.pairing
	if n := len(r.pairs); n > maxTogether && (p.startTogether || len(p.Contention) > 1) {
		return d.LocateAt("contention", measure.Fail(measure.KindFile, "campaign.too_many_together", measure.Figures{"pairs": n, "most": maxTogether}))
	}
	return nil
}

// checkWithoutPairs sees that a plan without pairs has nothing that is about them.
func (p *Plan) checkWithoutPairs(d *yamlfile.File) error {
	for _, key := range []struct {
		name  string
		given bool
	}{{"contention", len(p.Contention) > 0}, {"isolated_pairs", p.IsolatedPairs > 0}, {"trials_at_once", p.TrialsAtOnce > 0}} {
		if key.given {
			return d.LocateAt(key.name, measure.Fail(measure.KindFile, "campaign.without_pairs", measure.Figures{"key": key.name}))
		}
	}
	return nil
}

// checkEndsBesidePairs sees that neither the plan nor a level names an endpoint in addition to
// the pairs. Labels of addresses are allowed.
func (p *Plan) checkEndsBesidePairs(d *yamlfile.File) error {
	beside := func(at, key string) error {
		return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.end_beside_pairs", measure.Figures{"key": key}))
	}
	switch {
	case p.From != "":
		return beside("from", "from")
	case p.To != "":
		return beside("to", "to")
	}
	for i := range p.Factors {
		for _, l := range p.Factors[i].Value.Levels {
			switch {
			case l.From != "":
				return beside(l.at+".from", "from")
			case l.To != "":
				return beside(l.at+".to", "to")
			}
		}
	}
	return nil
}

// checkGroups sees that groups have names of their own and members that exist.
func (p *Plan) checkGroups(d *yamlfile.File) error {
	for _, g := range p.Groups {
		at := "groups." + g.Name
		if !IsEndpointName(g.Name) {
			return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.group_name", measure.Figures{"name": yamlfile.Shorten(g.Name)}))
		}
		if _, taken := p.Endpoints.Get(g.Name); taken {
			return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.group_and_endpoint", measure.Figures{"name": g.Name}))
		}
		if len(g.Value) == 0 {
			return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.group_empty", nil))
		}
		for i, ref := range g.Value {
			if strings.HasPrefix(ref, byLabels) {
				continue
			}
			if err := p.checkMember(d, at+"."+strconv.Itoa(i+1), ref); err != nil {
				return err
			}
		}
	}
	return nil
}

// entries are the pairs that the plan lists, with those in the other direction.
func (r *pairer) entries() (out []pairsOf, err error) {
	if len(r.Pairs.Mesh) > 0 {
		all, err := r.numbersOf("pairs.mesh", r.Pairs.Mesh)
		if err != nil {
			return nil, err
		}
		out = append(out, pairsOf{"pairs.mesh", all, all})
	}
	add := func(at string, clients, servers Members, serversAt string) error {
		c, err := r.numbersOf(at+".1", clients)
		if err != nil {
			return err
		}
		s, err := r.numbersOf(serversAt, servers)
		if err != nil {
			return err
		}
		out = append(out, pairsOf{at, c, s})
		if r.Pairs.Both {
			out = append(out, pairsOf{at, s, c})
		}
		return nil
	}
	if between := r.Pairs.Between; len(between) == 2 {
		err = add("pairs.between", between[0], between[1], "pairs.between.2")
	} else if between != nil {
		err = r.file.LocateAt("pairs.between", measure.Fail(measure.KindFile, "campaign.between", measure.Figures{"lists": len(between)}))
	}
	for i := 0; i < len(r.Pairs.List) && err == nil; i++ {
		at, pair := "pairs.list."+strconv.Itoa(i+1), r.Pairs.List[i]
		if err = r.isPair(at, pair); err == nil {
			err = add(at, pair[:1], pair[1:], at+".2")
		}
	}
	if err == nil && len(out) == 0 {
		err = r.file.LocateAt("pairs", measure.Fail(measure.KindFile, "campaign.no_pairs", nil))
	}
	return out, err
}

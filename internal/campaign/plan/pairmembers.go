package plan

import (
	"cmp"
	"strconv"
	"strings"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// numbersOf are the numbers of the members that a list names, each once.
func (r *pairer) numbersOf(at string, refs Members) ([]int, error) {
	var out []int
	seen, expanded := map[member]bool{}, map[string]bool{}
	for i, ref := range refs {
		if expanded[ref] {
			continue
		}
		expanded[ref] = true
		here := at
		if inList := at + "." + strconv.Itoa(i+1); isPlace(r.file, inList) {
			here = inList
		}
		members, err := r.expand(here, ref)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			if seen[m] {
				continue
			}
			seen[m] = true
			n, known := r.numbers[m]
			if !known {
				n = len(r.members)
				r.numbers[m], r.members = n, append(r.members, m)
			}
			out = append(out, n)
		}
	}
	return out, nil
}

// expand is what a reference stands for.
func (r *pairer) expand(at, ref string) ([]member, error) {
	name, label, labelled := strings.Cut(ref, ".")
	refs, isGroup := r.Groups.Get(name)
	switch {
	case strings.HasPrefix(ref, byLabels):
		refs, label = Members{ref}, ""
	case name == everyEndpoint:
		return r.every(at, label, labelled)
	case !isGroup:
		if _, ok := r.Endpoints.Get(name); !ok && len(r.Groups) > 0 {
			unknown := measure.Fail(measure.KindFile, "campaign.no_member", measure.Figures{"member": yamlfile.Shorten(name)})
			known := append(r.Endpoints.Names(), r.Groups.Names()...)
			return nil, r.file.LocateAt(at, suggest(unknown, name, known, "campaign.members_are"))
		}
		refs, label = Members{ref}, ""
		if err := r.checkMember(r.file, at, ref); err != nil {
			return nil, err
		}
	case labelled && label == "":
		return nil, r.file.LocateAt(at, measure.Fail(measure.KindFile, "campaign.no_label", measure.Figures{"endpoint": name, "label": label}))
	}
	var out []member
	for _, in := range r.named(refs) {
		end, own, _ := strings.Cut(in, ".")
		if own != "" && label != "" {
			return nil, r.file.LocateAt(at, measure.Fail(measure.KindFile, "campaign.label_twice", measure.Figures{"reference": in, "label": yamlfile.Shorten(label)}))
		}
		if err := r.missingLabel(end, label); err != nil {
			return nil, r.file.LocateAt(at, err)
		}
		out = append(out, member{r.numberOf(end), cmp.Or(own, label)})
	}
	return out, nil
}

// every is all endpoints, or those that have an address with a label. Which addresses a
// host of a lab has is known to the topology alone: all of them are taken.
func (r *pairer) every(at, label string, labelled bool) ([]member, error) {
	var out []member
	for i, e := range r.Endpoints {
		if _, has := e.Value.Addresses.Get(label); has || !labelled || label != "" && e.Value.Host != "" {
			out = append(out, member{i, label})
		}
	}
	if len(out) == 0 {
		return nil, r.checkLabel(r.file, at, label)
	}
	return out, nil
}

// matching are the members that a reference means, an endpoint without a label all its
// addresses.
func (r *pairer) matching(at, ref string) ([]int, error) {
	wanted, err := r.expand(at, ref)
	if err != nil {
		return nil, err
	}
	whole, exact := map[int]bool{}, map[member]bool{}
	for _, w := range wanted {
		exact[w] = true
		whole[w.endpoint] = whole[w.endpoint] || w.label == ""
	}
	var out []int
	for i, m := range r.members {
		if exact[m] || whole[m.endpoint] {
			out = append(out, i)
		}
	}
	return out, nil
}

// pairer works out the pairs of a plan.
type pairer struct {
	*Plan
	file    *yamlfile.File
	numbers map[member]int
	pairing
}

// pairsOf are members as clients with members as servers: one entry of the plan.
type pairsOf struct {
	at               string
	clients, servers []int
}

// everyEndpoint is the member that stands for all endpoints.
const everyEndpoint = "*"

// checkMember checks what a group or a pair names: endpoint or endpoint.label.
func (p *Plan) checkMember(d *yamlfile.File, at, ref string) error {
	if ref == "" {
		return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.no_endpoint", measure.Figures{"endpoint": ref}))
	}
	return p.checkEnd(d, at, ref, "")
}

func (r *pairer) isPair(at string, pair Members) error {
	if len(pair) == 2 {
		return nil
	}
	return r.file.LocateAt(at, measure.Fail(measure.KindFile, "campaign.pair_of_two", measure.Figures{"members": len(pair)}))
}

package campaign

import (
	"fmt"
	"slices"
	"strconv"

	"soku/internal/measure"
	"soku/internal/yamlfile"
)

// checkZip sees that the factors of each entry of zip have levels that can go together,
// and takes note of which those are.
func (p *Plan) checkZip(d *yamlfile.File) error {
	p.together = make([]int, len(p.Factors))
	for i := range p.together {
		p.together[i] = i
	}
	zipped := map[string]bool{}
	for n, group := range p.Zip {
		path := "zip." + strconv.Itoa(n+1)
		if len(group) < 2 {
			return d.LocateAt(path, measure.Fail(measure.KindFile, "campaign.zip_of_one", nil))
		}
		var members []int
		for i, name := range group {
			at := path + "." + strconv.Itoa(i+1)
			member := slices.IndexFunc(p.Factors, func(f yamlfile.Entry[Factor]) bool { return f.Name == name })
			if member < 0 {
				return d.LocateAt(at, p.unknownFactor(name))
			}
			if zipped[name] {
				return d.LocateAt(at, measure.Fail(measure.KindFile, "campaign.zip_twice", measure.Figures{"factor": yamlfile.Shorten(name)}))
			}
			zipped[name] = true
			members = append(members, member)
		}
		if err := p.zipLengths(members); err != nil {
			return d.LocateAt(path, err)
		}
		for _, member := range members {
			p.together[member] = slices.Min(members)
		}
	}
	return nil
}

// zipLengths is the failure of factors that have different numbers of levels.
func (p *Plan) zipLengths(members []int) error {
	first, differ := len(p.Factors[members[0]].Value.Levels), false
	var lengths []string
	for _, member := range members {
		f := p.Factors[member]
		differ = differ || len(f.Value.Levels) != first
		lengths = append(lengths, fmt.Sprintf("%s %d", f.Name, len(f.Value.Levels)))
	}
	if !differ {
		return nil
	}
	return measure.Fail(measure.KindFile, "campaign.zip_lengths", measure.Figures{"levels": lengths})
}

// companions are the factors whose levels go together with those of a factor, itself
// among them.
func (p *Plan) companions(factor int) []int {
	var out []int
	for i, first := range p.together {
		if first == p.together[factor] {
			out = append(out, i)
		}
	}
	return out
}

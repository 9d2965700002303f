package plan

import (
	"strconv"

	"soku/internal/campaign/bitset"
	"soku/internal/measure"
)

// make makes the pairs of all entries, without those that the plan excludes and those of
// two members on one machine.
func (r *pairer) make(entries []pairsOf) error {
	r.placeMembers()
	n := len(r.members)
	work := 0
	for _, e := range entries {
		if work += len(e.clients) * len(e.servers); work > 16*maxPairs {
			return r.tooMany(work)
		}
	}
	chosen, count := bitset.New(n*n), 0
	for _, e := range entries {
		some := false
		for _, c := range e.clients {
			for _, s := range e.servers {
				if r.on[c] == r.on[s] {
					continue
				}
				some = true
				if !chosen.Has(c*n + s) {
					chosen.Add(c*n + s)
					count++
				}
			}
		}
		if !some {
			return r.file.LocateAt(e.at, measure.Fail(measure.KindFile, "campaign.pair_of_one", nil))
		}
	}
	if count > maxPairs {
		return r.tooMany(count)
	}
	left, err := r.exclude(chosen)
	if err != nil {
		return err
	}
	r.pairs = make([][2]int32, 0, count)
	for _, e := range entries {
		for _, c := range e.clients {
			for _, s := range e.servers {
				if left.Has(c*n + s) {
					left.Remove(c*n + s)
					r.pairs = append(r.pairs, [2]int32{int32(c), int32(s)})
				}
			}
		}
	}
	if len(r.pairs) == 0 {
		return r.file.LocateAt("pairs.exclude", measure.Fail(measure.KindFile, "campaign.no_pair_left", nil))
	}
	inPair := map[int32]bool{}
	for _, pair := range r.pairs {
		inPair[r.on[pair[0]]], inPair[r.on[pair[1]]] = true, true
	}
	r.hosts = len(inPair)
	return nil
}

func (r *pairer) tooMany(pairs int) error {
	return r.file.LocateAt("pairs", measure.Fail(measure.KindFile, "campaign.too_many_pairs", measure.Figures{"pairs": pairs, "most": maxPairs}))
}

// placeMembers numbers the machines that the members are on.
func (r *pairer) placeMembers() {
	numbers := map[string]int32{}
	for _, m := range r.members {
		name := r.member(m, "").Machine()
		n, known := numbers[name]
		if !known {
			n = int32(len(r.machines))
			numbers[name], r.machines = n, append(r.machines, name)
		}
		r.on = append(r.on, n)
	}
}

// exclude are the chosen pairs without those that the plan excludes. Each of its entries
// must exclude a pair: another one has a mistake in it.
func (r *pairer) exclude(chosen bitset.Set) (bitset.Set, error) {
	n := len(r.members)
	left := append(bitset.Set(nil), chosen...)
	for i, pair := range r.Pairs.Exclude {
		at := "pairs.exclude." + strconv.Itoa(i+1)
		if err := r.isPair(at, pair); err != nil {
			return nil, err
		}
		clients, err := r.matching(at+".1", pair[0])
		if err != nil {
			return nil, err
		}
		servers, err := r.matching(at+".2", pair[1])
		if err != nil {
			return nil, err
		}
		some := false
		for _, c := range clients {
			for _, s := range servers {
				some = some || chosen.Has(c*n+s)
				left.Remove(c*n + s)
			}
		}
		if !some {
			return nil, r.file.LocateAt(at, measure.Fail(measure.KindFile, "campaign.excludes_no_pair", nil))
		}
	}
	return left, nil
}

// checkClients sees that soku can be started on the clients: one of them can be this
// machine.
func (r *pairer) checkClients() error {
	here := -1
	for _, pair := range r.pairs {
		m := r.members[pair[0]]
		t := r.member(m, "")
		if t.Host != "" || len(t.Command) > 0 || t.SSH != "" || t.Agent != "" || m.endpoint == here {
			continue
		}
		if here >= 0 {
			return r.file.LocateAt("pairs", measure.Fail(measure.KindFile, "campaign.clients_here", measure.Figures{
				"first": r.Endpoints[here].Name, "second": r.Endpoints[m.endpoint].Name,
			}))
		}
		here = m.endpoint
	}
	return nil
}

package cli

import (
	"soku/internal/campaign/plan"
	"soku/internal/text"
)

// pairsOutline is the pairs of a plan.
type pairsOutline struct {
	Count  int           `json:"count"`
	Hosts  int           `json:"hosts"`
	AtOnce int           `json:"trials_at_once"` // the limit, which contention: together may exceed
	Sample []pairOutline `json:"sample"`         // the first of them, with the addresses of the first pattern
}

type pairOutline struct {
	Client  string `json:"client"`
	Server  string `json:"server"`
	Address string `json:"server_address"`
}

// Pairs that are shown, in JSON and to a person.
const (
	mostPairsInJSON = 100
	mostPairsInText = 6
)

func outlinePairs(p *plan.Plan) *pairsOutline {
	o := &pairsOutline{Count: p.PairCount(), Hosts: p.HostCount(), AtOnce: p.Concurrency()}
	clients, servers := p.Ends(&p.AllPatterns()[0], mostPairsInJSON)
	for i, client := range clients {
		o.Sample = append(o.Sample, pairOutline{client.Reference(), servers[i].Reference(), servers[i].Endpoint.Address})
	}
	return o
}

// addPairs shows how many pairs there are, and the first of them.
func (o *planOutline) addPairs(out *text.Lines) {
	if o.Pairs == nil {
		return
	}
	out.Row("label.pairs", "plan.pairs", text.Args{"Pairs": o.Pairs.Count, "Hosts": o.Pairs.Hosts})
	shown := o.Pairs.Sample[:min(len(o.Pairs.Sample), mostPairsInText)]
	for _, pair := range shown {
		out.Under("plan.pair", text.Args{"Client": pair.Client, "Server": pair.Server, "Address": pair.Address})
	}
	if more := o.Pairs.Count - len(shown); more > 0 {
		out.Under("plan.pairs.more", text.Args{"N": more})
	}
}

// hasOwnTurns reports whether a test has repeats or rounds that are not the plan's.
func (o *planOutline) hasOwnTurns(t testOutline) bool {
	return t.Repeats != o.Repeats || t.Rounds != o.Rounds
}

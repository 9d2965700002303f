package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"soku/internal/measure"
)

// mesh is a campaign between all pairs of some hosts, or between some pairs.
type mesh struct {
	hosts      []string
	pairs      [][2]string // nil: all
	contention []string    // levels; nil: not a factor
	rounds     int
	noise      float64 // standard deviation of the logarithm
	bps        func(from, to, contention string) float64
}

func (m mesh) input() Input {
	r := rand.New(rand.NewPCG(11, 11))
	in := Input{Campaign: Meta{ID: "20260314-mesh", Name: "mesh", Seed: 42}}
	pairs := m.pairs
	if pairs == nil {
		for _, from := range m.hosts {
			for _, to := range m.hosts {
				if from != to {
					pairs = append(pairs, [2]string{from, to})
				}
			}
		}
	}
	ways := m.contention
	if ways == nil {
		ways = []string{""}
	}
	for _, way := range ways {
		if way != "" {
			in.Patterns = append(in.Patterns, []measure.Level{{Factor: "contention", Value: way}})
		}
	}
	for round := 1; round <= m.rounds; round++ {
		drift := math.Exp(0.05 * r.NormFloat64())
		for _, way := range ways {
			for _, k := range r.Perm(len(pairs)) {
				p := pairs[k]
				bps := 900e6
				if m.bps != nil {
					bps = m.bps(p[0], p[1], way)
				}
				res := tcpTrial("all", round, bps*drift*math.Exp(m.noise*r.NormFloat64()))
				res.Trial.Levels = nil
				if way != "" {
					res.Trial.Pattern, res.Trial.Levels = way, []measure.Level{{Factor: "contention", Value: way}}
				}
				end := func(name string) measure.Endpoint {
					return measure.Endpoint{Name: name, Address: "192.0.2." + fmt.Sprint(1+slices.Index(m.hosts, name))}
				}
				res.Trial.Pair = &measure.Pair{Client: end(p[0]), Server: end(p[1])}
				res.Path = measure.Path{Client: end(p[0]), Server: end(p[1]), Direction: measure.Forward}
				res.Flows = []measure.Flow{{Direction: measure.Forward, Samples: []measure.Sample{{EndNs: 1e9, ReceivedBytes: int64(res.Summary.GoodputBps / 8)}, {StartNs: 1e9, EndNs: 2e9, ReceivedBytes: int64(res.Summary.GoodputBps / 8)}}}}
				if way == "together" {
					skew := int64((k+len(pairs)/2)%len(pairs)) * int64(100*time.Microsecond) // the last to start is in the middle
					res.Trial.Group = &measure.Group{ID: fmt.Sprintf("g%d", round), Trials: len(pairs), StartSkewNs: &skew}
				}
				res.ID = fmt.Sprintf("m%06d", len(in.Results))
				in.Results = append(in.Results, res)
			}
		}
	}
	return in
}

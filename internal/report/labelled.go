package report

import (
	"cmp"
	"slices"
	"strings"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// labelled is the results of one label and kind of test.
type labelled struct {
	label   string
	test    measure.Test
	byHand  bool
	capture capture
	apart   bool // another test differs from it in the capture only
	pair    pairing
	results []*measure.Result
}

// byLabel sorts results into tests: by label in a campaign, by kind outside one.
// Goodput of bytes that were dropped unread and of bytes that were read are two
// tests, whatever their label: the first measures the path, the second also the hosts. labels
// are in the order of the plan.
func byLabel(results []*measure.Result, labels []string) []labelled {
	var out []labelled
	for _, r := range results {
		g := labelled{label: string(r.Test), test: r.Test, byHand: r.Trial == nil, capture: captureOf(r)}
		if !g.byHand {
			g.label = cmp.Or(r.Trial.Label, g.label)
		}
		in := findOrAdd(&out, g.alike, g)
		in.capture, in.results = cmp.Or(in.capture, g.capture), append(in.results, r)
	}
	plain := slices.Clone(out)
	for i, g := range plain {
		out[i].apart = slices.ContainsFunc(plain, func(o labelled) bool { return o.label == g.label && o.byHand == g.byHand && o.capture != g.capture })
	}
	order := func(t measure.Test) int { return slices.Index(measure.Tests(), t) }
	planned := func(label string) int {
		if i := slices.Index(labels, label); i >= 0 {
			return i
		}
		return len(labels)
	}
	slices.SortStableFunc(out, func(a, b labelled) int {
		return cmp.Or(cmp.Compare(planned(a.label), planned(b.label)), cmp.Compare(order(a.test), order(b.test)), natural(a.label, b.label), cmp.Compare(a.capture, b.capture))
	})
	return out
}

// alike reports whether the results of both may be compared. Where a trial failed
// before it received a byte, this is unknown.
func (g labelled) alike(o labelled) bool {
	return g.label == o.label && g.test == o.test && g.byHand == o.byHand && (g.capture == o.capture || g.capture == "" || o.capture == "")
}

// capture is how a receiver took the bytes, or "" if that is not known.
type capture string

const (
	captureDiscarded capture = "discarded"
	captureRead      capture = "read"
)

func captureOf(r *measure.Result) capture {
	switch {
	case !option.CanDiscard(r.Test) || len(r.Flows) == 0 || r.Flows[0].RXPath == "":
		return ""
	case r.Flows[0].Discarded():
		return captureDiscarded
	}
	return captureRead
}

// natural compares texts so that "2" comes before "16".
func natural(a, b string) int {
	for a != "" && b != "" {
		if digit(a[0]) && digit(b[0]) {
			na, ra := number(a)
			nb, rb := number(b)
			if c := cmp.Or(cmp.Compare(len(na), len(nb)), cmp.Compare(na, nb)); c != 0 {
				return c
			}
			a, b = ra, rb
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// number splits leading digits, without leading zeros, from the rest.
func number(s string) (digits, rest string) {
	n := 0
	for n < len(s) && digit(s[n]) {
		n++
	}
	return strings.TrimLeft(s[:n], "0"), s[n:]
}

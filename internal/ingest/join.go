package ingest

import (
	"slices"

	"soku/internal/measure"
)

// Ends finds the client's and the server's files of one run among the files of one command, and
// joins them into one result. Two files belong to one run if they have the same identifier
// ([measure.Origin].Run), or if their paths differ only in {end} of the path pattern.
// Otherwise nothing is joined. Ends is not safe for concurrent use.
type Ends struct {
	path *PathPattern
	held []held
	seen map[string]bool
}

type held struct {
	r     *measure.Result
	key   string // what the two ends of a run have in common
	again bool   // a repetition of the same position of the same file
}

// Joined is a result of both ends, or of one without a counterpart.
type Joined struct {
	Result *measure.Result
	Of     *measure.Result // as given; the client's if there are two ends
	Other  *measure.Result // the server's as given, or nil without one
	Err    error           // why Of cannot be ingested; of kind file
}

// NewEnds returns Ends for the path pattern of a request, which may be nil.
func NewEnds(path *PathPattern) *Ends { return &Ends{path: path, seen: map[string]bool{}} }

// Hold keeps a result until [Ends.Join] and returns true if the result may have another end.
func (e *Ends) Hold(r *measure.Result) bool {
	if r.Origin.End == "" {
		return false
	}
	key := ""
	if r.Origin.Run != "" {
		key = "run " + r.Origin.Format + " " + r.Origin.Run
	}
	if e.path != nil {
		if path, ok := e.path.withoutEnd(r.Origin.File); ok {
			key = "path " + path
		}
	}
	if key == "" {
		return false
	}
	place := key + " " + origin(r)
	e.held = append(e.held, held{r, key, e.seen[place]})
	e.seen[place] = true
	return true
}

// Join returns the held results in their order; a joined result has the position of the first
// of its two files.
func (e *Ends) Join() []Joined {
	groups := map[string][]*measure.Result{}
	for _, h := range e.held {
		if !h.again {
			groups[h.key] = append(groups[h.key], h.r)
		}
	}
	var out []Joined
	for _, h := range e.held {
		if group, first := groups[h.key]; first {
			delete(groups, h.key)
			out = append(out, join(group, h.key)...)
		}
		if h.again {
			out = append(out, Joined{Result: h.r, Of: h.r})
		}
	}
	e.held = nil
	return out
}

// join joins a group that is two ends of a run. A user states that in paths, so a mismatch
// there is an error; identifiers of programs may be equal by chance, and then the results stay
// separate.
func join(group []*measure.Result, key string) []Joined {
	var out []Joined
	byPath := key[0] == 'p'
	why := unlike(group)
	if len(group) > 1 && why == nil {
		client, server := group[0], group[1]
		if client.Origin.End == measure.EndServer {
			client, server = server, client
		}
		return []Joined{{Result: merge(client, server), Of: client, Other: server}}
	}
	for i, r := range group {
		j := Joined{Result: r, Of: r}
		if why != nil && byPath {
			other := group[(i+1)%len(group)].Origin.File
			j = Joined{Of: r, Err: located(r.Origin.File, r.Origin.Line,
				measure.Fail(measure.KindFile, "ingest.ends.unlike", measure.Figures{"other": other, "cause": why}))}
		}
		out = append(out, j)
	}
	return out
}

// unlike returns why a group is not the two ends of one run, or nil if it is.
func unlike(group []*measure.Result) *measure.Error {
	if len(group) < 2 {
		return nil
	}
	a, b := group[0], group[1]
	switch {
	case len(group) > 2:
		return measure.Fail(measure.KindFile, "ingest.ends.more_than_two", measure.Figures{"tests": len(group)})
	case a.Origin.End == b.Origin.End:
		return measure.Fail(measure.KindFile, "ingest.ends.same_end", measure.Figures{"end": a.Origin.End})
	case a.Origin.Format != b.Origin.Format:
		return measure.Fail(measure.KindFile, "ingest.ends.formats", measure.Figures{"format": a.Origin.Format, "other": b.Origin.Format})
	case a.Test != b.Test:
		return measure.Fail(measure.KindFile, "ingest.ends.tests", measure.Figures{"test": a.Test, "other": b.Test})
	case a.Test != measure.TestTCP && a.Test != measure.TestUDP && a.Test != measure.TestConnect:
		return measure.Fail(measure.KindFile, "ingest.ends.one_ended", measure.Figures{"test": a.Test})
	case a.Origin.Run != b.Origin.Run:
		return measure.Fail(measure.KindFile, "ingest.ends.cookies", nil)
	case a.Path.Direction != b.Path.Direction:
		return measure.Fail(measure.KindFile, "ingest.ends.directions", measure.Figures{"direction": a.Path.Direction, "other": b.Path.Direction})
	case a.Trial.Round != b.Trial.Round:
		return measure.Fail(measure.KindFile, "ingest.ends.rounds", nil)
	}
	for _, l := range a.Trial.Levels {
		if slices.ContainsFunc(b.Trial.Levels, func(o measure.Level) bool { return o.Factor == l.Factor && o.Value != l.Value }) {
			return measure.Fail(measure.KindFile, "ingest.ends.levels", measure.Figures{"factor": l.Factor})
		}
	}
	return nil
}

package connect

import (
	"maps"
	"slices"

	"soku/internal/measure"
)

// outcome is how one attempt ended.
type outcome uint8

const (
	opened      outcome = iota
	refused             // ECONNREFUSED: a reset answered the SYN
	timedOut            // no answer within the connect timeout
	reset               // ECONNRESET, EPIPE: set up, and reset before it was served
	closedEarly         // set up, and closed by the far end before it was served
	unreachable         // EHOSTUNREACH, ENETUNREACH, other ICMP errors
	noPort              // EADDRNOTAVAIL, EADDRINUSE: this host has no free port for the pair of addresses
	noFile              // EMFILE, ENFILE: this process or host has no more descriptors
	noMemory            // ENOBUFS, ENOMEM
	forbidden           // EACCES, EPERM: this host does not permit it
	badSource           // EADDRNOTAVAIL of bind, EINVAL: not an address to measure from
	other
	stopped // the context ended first; not counted
	outcomes
)

// names are the outcomes as they appear in a result.
var names = [outcomes]string{
	opened: "opened", refused: "refused", timedOut: "timeout", reset: "reset", closedEarly: "closed_early",
	unreachable: "unreachable", noPort: "no_port", noFile: "no_descriptor", noMemory: "no_memory",
	forbidden: "forbidden", badSource: "bad_source", other: "other", stopped: "stopped",
}

// ownFailures are the outcomes that have their cause on this host and not on the path.
var ownFailures = map[outcome]struct {
	kind measure.Kind
	code string
}{
	noPort:    {measure.KindBroken, "connect.own.no_port"},
	noFile:    {measure.KindBroken, "connect.own.no_descriptor"},
	noMemory:  {measure.KindBroken, "connect.own.no_memory"},
	forbidden: {measure.KindPermission, "connect.own.forbidden"},
	badSource: {measure.KindUsage, "connect.own.bad_source"},
}

// own reports whether the outcome has its cause on this host: then continuing would measure
// nothing.
func (o outcome) own() bool { return ownFailures[o].code != "" }

// explain returns the error that ends a trial for an outcome caused by this host.
func (o outcome) explain(target string, after int64) *measure.Error {
	if f := ownFailures[o]; f.code != "" {
		return measure.Fail(f.kind, f.code, measure.Figures{"target": target, "connections": after})
	}
	return measure.Fail(measure.KindInternal, "connect.own.other", measure.Figures{"target": target, "connections": after, "outcome": names[o]})
}

// nothingOpened returns the error of a trial in which no attempt succeeded, by the
// outcome that most attempts had.
func nothingOpened(target string, attempts int64, failures map[string]int64) *measure.Error {
	kinds := slices.Sorted(maps.Keys(failures))
	slices.SortStableFunc(kinds, func(a, b string) int { return int(failures[b] - failures[a]) })
	most := names[timedOut]
	if len(kinds) > 0 {
		most = kinds[0]
	}
	code := map[string]string{
		names[timedOut]: "connect.none.timeout", names[refused]: "connect.none.refused", names[unreachable]: "connect.none.unreachable",
	}[most]
	if code != "" {
		return measure.Fail(measure.KindUnreachable, code, measure.Figures{"target": target, "attempts": attempts})
	}
	return measure.Fail(measure.KindUnreachable, "connect.none.other", measure.Figures{"target": target, "attempts": attempts, "outcome": most})
}

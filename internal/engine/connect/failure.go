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

// own reports whether the outcome has its cause on this host and not on the path: then
// continuing would measure nothing.
func (o outcome) own() bool {
	switch o {
	case noPort, noFile, noMemory, forbidden, badSource:
		return true
	}
	return false
}

// explain returns the error that ends a trial for an outcome caused by this host.
func (o outcome) explain(target string, after int64) *measure.Error {
	at := measure.Figures{"target": target, "connections": after}
	switch o {
	case noPort:
		return measure.Fail(measure.KindBroken, "connect.own.no_port", at)
	case noFile:
		return measure.Fail(measure.KindBroken, "connect.own.no_descriptor", at)
	case noMemory:
		return measure.Fail(measure.KindBroken, "connect.own.no_memory", at)
	case forbidden:
		return measure.Fail(measure.KindPermission, "connect.own.forbidden", at)
	case badSource:
		return measure.Fail(measure.KindUsage, "connect.own.bad_source", at)
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
	all := measure.Figures{"target": target, "attempts": attempts}
	switch most {
	case names[timedOut]:
		return measure.Fail(measure.KindUnreachable, "connect.none.timeout", all)
	case names[refused]:
		return measure.Fail(measure.KindUnreachable, "connect.none.refused", all)
	case names[unreachable]:
		return measure.Fail(measure.KindUnreachable, "connect.none.unreachable", all)
	}
	return measure.Fail(measure.KindUnreachable, "connect.none.other", measure.Figures{"target": target, "attempts": attempts, "outcome": most})
}

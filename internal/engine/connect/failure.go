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
	what := func(kind measure.Kind, why string) *measure.Error {
		return measure.Errorf(kind, "connect %s: after %d connections: %s", target, after, why)
	}
	switch o {
	case noPort:
		return what(measure.KindBroken, "this host has no free local port left for that address").
			WithHint("use --close rst, which leaves no port in TIME_WAIT, several addresses with --sources, or a lower --request-rate; on Linux see also net.ipv4.ip_local_port_range and net.ipv4.tcp_tw_reuse")
	case noFile:
		return what(measure.KindBroken, "this process may open no more files").
			WithHint("raise the limit (ulimit -n, LimitNOFILE=) or use fewer --streams")
	case noMemory:
		return what(measure.KindBroken, "this host has no memory left for sockets").
			WithHint("use fewer --streams or a lower --request-rate; on Linux see net.ipv4.tcp_mem")
	case forbidden:
		return what(measure.KindPermission, "the operating system of this host does not permit it").
			WithHint("does a local firewall forbid outgoing connections?")
	case badSource:
		return what(measure.KindUsage, "the local address to measure from is not usable here").
			WithHint("give addresses of this host, of the same family as the server's, in --bind or --sources")
	}
	return what(measure.KindInternal, names[o])
}

// nothingOpened returns the error of a trial in which no attempt succeeded.
func nothingOpened(target string, attempts int64, failures map[string]int64) *measure.Error {
	kinds := slices.Sorted(maps.Keys(failures))
	slices.SortStableFunc(kinds, func(a, b string) int { return int(failures[b] - failures[a]) })
	why := "no answer in time"
	hint := "is the host up, and does a firewall or security group let the port through?"
	if len(kinds) > 0 {
		switch kinds[0] {
		case names[refused]:
			why, hint = "refused", "does anything listen on that port?"
		case names[unreachable]:
			why, hint = "no route to that address", "check the address and the routes of this host"
		case names[timedOut]:
		default:
			why, hint = kinds[0], "what listens there may not be what it was taken for"
		}
	}
	return measure.Errorf(measure.KindUnreachable, "connect %s: none of %d attempts succeeded: %s", target, attempts, why).WithHint("%s", hint)
}

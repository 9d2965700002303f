package latency

import (
	"net"
	"time"

	"soku/internal/engine/latency/direct"
	"soku/internal/sock/longcall"
)

// linkers are all links this system has; every one must behave alike.
func linkers() map[string]linker {
	made := func(l direct.Link, ok bool) direct.Link {
		if !ok {
			panic("a socket of the system has every link")
		}
		return l
	}
	all := map[string]linker{
		"net poller": openPoller,
		"blocking socket": func(conn net.Conn, tick time.Duration, _ int) direct.Link {
			return made(direct.OpenBlocking(conn, tick))
		},
	}
	if longcall.Available {
		all["blocking socket on a thread of its own"] = func(conn net.Conn, tick time.Duration, _ int) direct.Link {
			return made(direct.Open(conn, tick, false))
		}
		all["spinning on a thread of its own"] = func(conn net.Conn, tick time.Duration, _ int) direct.Link {
			return made(direct.Open(conn, tick, true))
		}
	}
	return all
}

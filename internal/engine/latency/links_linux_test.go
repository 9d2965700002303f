package latency

import (
	"net"
	"time"

	"soku/internal/sock/longcall"
)

// linkers are all links this system has; every one must behave alike.
func linkers() map[string]linker {
	made := func(l link, ok bool) link {
		if !ok {
			panic("a socket of the system has every link")
		}
		return l
	}
	all := map[string]linker{
		"net poller": openPoller,
		"blocking socket": func(conn net.Conn, tick time.Duration, _ int) link {
			return made(openBlocking(conn, tick))
		},
	}
	if longcall.Available {
		all["blocking socket on a thread of its own"] = func(conn net.Conn, tick time.Duration, _ int) link {
			return made(openDirect(conn, tick, false))
		}
		all["spinning on a thread of its own"] = func(conn net.Conn, tick time.Duration, _ int) link {
			return made(openDirect(conn, tick, true))
		}
	}
	return all
}

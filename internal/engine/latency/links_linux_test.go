package latency

import (
	"net"
	"time"
)

// linkers are all links this system has; every one must behave alike.
func linkers() map[string]linker {
	return map[string]linker{
		"net poller": openPoller,
		"blocking socket": func(conn net.Conn, tick time.Duration, _ int) link {
			l, ok := openBlocking(conn, tick)
			if !ok {
				panic("a socket of the system has a blocking link")
			}
			return l
		},
	}
}

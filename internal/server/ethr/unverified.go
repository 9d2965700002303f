package ethr

import (
	"net/netip"
	"time"
)

// Datagrams of Ethr carry nothing that shows who sent them, and its own clients open no
// connection for a UDP test. So datagrams of an address without a connection are counted and
// shown as traffic, but they take no place and no turn, and the log has one line for all of
// them.
const (
	// knownFor is how long an address is known after it opened a connection: soku's client
	// opens one before a UDP test, and may wait for others before it begins.
	knownFor = time.Minute
	// maxUnverified is how many other addresses are counted at a time.
	maxUnverified = 1024
	// leastReported is from how many datagrams on such an address is worth a line, and
	// reportEvery how often there is one.
	leastReported = 100
	reportEvery   = 10 * time.Second
)

// know notes a connection from an address, where a test over UDP may begin: one that has a
// place gives it up, so that its next datagrams take theirs behind the clients that wait.
// An address beyond the bound takes the room of one that is not known any more, or of any.
func (h *handler) know(addr netip.Addr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c := h.clients[key{addr: addr, udp: true}]; c != nil {
		c.giveUp()
	}
	now := time.Now()
	if _, in := h.known[addr]; !in && len(h.known) >= maxClients {
		for other, at := range h.known {
			if now.Sub(at) >= knownFor {
				delete(h.known, other)
			}
		}
		for other := range h.known {
			if len(h.known) < maxClients {
				break
			}
			delete(h.known, other)
		}
	}
	h.known[addr] = now
}

// isKnown reports whether an address had a connection; called with the lock.
func (h *handler) isKnown(addr netip.Addr) bool {
	at, in := h.known[addr]
	return in && time.Since(at) < knownFor
}

// unverifiedSources sums up datagrams of addresses without a connection.
type unverifiedSources struct {
	addresses      int
	packets, bytes uint64
	reported       time.Time // the last line
}

// forget counts out a client that has ended; called with the lock.
func (h *handler) forget(c *client) {
	delete(h.clients, c.key)
	if c.verified.Load() {
		return
	}
	h.unverified--
	if c.total.Packets >= leastReported {
		h.unverifiedSources.addresses++
		h.unverifiedSources.packets += c.total.Packets
		h.unverifiedSources.bytes += c.total.Bytes
	}
}

// reportUnverified writes the line about such datagrams if one is due, or if last says that
// there is no later.
func (h *handler) reportUnverified(last bool) {
	h.mu.Lock()
	s := h.unverifiedSources
	due := s.addresses > 0 && (last || time.Since(s.reported) >= reportEvery)
	if due {
		h.unverifiedSources = unverifiedSources{reported: time.Now()}
	}
	h.mu.Unlock()
	if due {
		h.log.Info("datagrams from addresses without a connection", "protocol", "ethr",
			"addresses", s.addresses, "datagrams", s.packets, "bytes", s.bytes)
	}
}

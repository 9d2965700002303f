package ntttcp

import (
	"net/netip"
	"strings"

	"soku/internal/measure"
)

// check checks the options for consistency. It adjusts values as ntttcp does and returns
// one line per adjustment.
func (o *Options) check() (notes []string, err error) {
	note := func(text string) { notes = append(notes, text) }
	if !o.Receiver && !o.Sender {
		o.Receiver = true
		note("no role specified. use receiver role")
	}
	if err := o.checkRoles(); err != nil {
		return nil, err
	}
	if err := o.checkAddresses(); err != nil {
		return nil, err
	}
	o.dropForeign(note)
	o.Ports = between(o.Ports, 1, portsMost, "number of ports", note)
	if o.Sender {
		o.Threads = between(o.Threads, 1, threadsMost, "threads per port", note)
		o.Connections = between(o.Connections, 1, connectionsMost, "connections per thread", note)
		if o.Total() > allMost {
			return nil, fail("ntttcp.option.connections", measure.Figures{
				"ports": o.Ports, "threads": o.Threads, "connections": o.Connections, "total": o.Total(), "most": allMost,
			})
		}
	}
	if o.Port < 2 && !o.NoSync || o.Port < 1 || o.Port+o.Ports-1 > 65535 {
		return nil, fail("ntttcp.option.ports", measure.Figures{"port": o.Port, "ports": o.Ports})
	}
	if err := o.checkSourcePort(note); err != nil {
		return nil, err
	}
	if o.UDP && o.Buffer == 0 || o.UDP && o.Buffer > udpMost {
		note("the UDP send size is too big. use the max value")
		if o.Buffer > 0 {
			o.Buffer = udpMost
		}
	}
	if o.Buffer > bufferMost {
		o.Buffer = bufferMost
		note("the buffer is larger than one call moves here. use 1048576 bytes")
	}
	if o.Bandwidth > 0 && o.FQRate > 0 {
		o.FQRate = 0
		note("--fq-rate-limit does not apply with -B")
	}
	if o.Duration == 0 {
		note("running test in continuous mode. please monitor throughput by other tools")
	}
	return notes, nil
}

func (o *Options) checkRoles() error {
	switch {
	case o.Receiver && o.Sender:
		return fail("ntttcp.option.both_roles", nil)
	case o.Sender && o.Multi:
		return fail("ntttcp.option.multi_sender", nil)
	case o.Receiver && o.Last:
		return fail("ntttcp.option.last_receiver", nil)
	case o.Receiver && o.Source != "":
		return fail("ntttcp.option.source_receiver", nil)
	case o.Multi && o.NoSync:
		return fail("ntttcp.option.multi_no_sync", nil)
	case o.Last && o.NoSync:
		return fail("ntttcp.option.last_no_sync", nil)
	case o.UDP && o.NoDelay:
		return fail("ntttcp.option.no_delay_udp", nil)
	case o.UDP && o.Sender && o.FQRate > 0:
		return measure.Fail(measure.KindUsage, "ntttcp.option.fq_rate_udp", nil)
	}
	return nil
}

// dropForeign drops options of the other end, so that both ends can be started with the
// same options, as with ntttcp.
func (o *Options) dropForeign(note func(string)) {
	drop := func(option string, given bool, end string) {
		if given {
			note("ignore '" + option + "' on " + end + " role")
		}
	}
	if o.Sender {
		drop("-e", o.Epoll, "sender")
		drop("-H", o.Hold, "sender")
		o.Epoll, o.Hold = false, false
		return
	}
	drop("-f", o.SourcePort > 0, "receiver")
	drop("-B", o.Bandwidth > 0, "receiver")
	drop("--fq-rate-limit", o.FQRate > 0, "receiver")
	o.SourcePort, o.Bandwidth, o.FQRate = 0, 0, 0
}

// checkAddresses checks the form only; the receiver may be a name.
func (o *Options) checkAddresses() error {
	if o.IPv6 && o.Address == "0.0.0.0" {
		o.Address = "::"
	}
	for _, text := range []string{o.Address, o.Source} {
		a, err := netip.ParseAddr(text)
		if text == "" || err != nil && text == o.Address && !strings.ContainsAny(text, " /,") {
			continue
		}
		if err != nil {
			return fail("ntttcp.option.address", measure.Figures{"text": text})
		}
		if a.Unmap().Is4() == o.IPv6 {
			return measure.Fail(measure.KindUsage, "ntttcp.option.family", measure.Figures{"address": text})
		}
	}
	return nil
}

func (o *Options) checkSourcePort(note func(string)) error {
	if o.SourcePort == 0 {
		return nil
	}
	if o.SourcePort <= 1024 {
		o.SourcePort = usualSource
		note("source port is too small. use the default value")
	}
	if o.SourcePort+o.Total()-1 > 65535 {
		return measure.Fail(measure.KindUsage, "ntttcp.option.source_ports", measure.Figures{"port": o.SourcePort, "connections": o.Total()})
	}
	return nil
}

// between limits n to bounds, with a note if it exceeded them.
func between(n, least, most int, what string, note func(string)) int {
	switch {
	case n < least:
		note("invalid " + what + " provided. use 1")
		return least
	case n > most:
		note("too many " + what + ". use the max value")
		return most
	}
	return n
}

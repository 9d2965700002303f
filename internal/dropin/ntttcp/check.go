package ntttcp

import (
	"net/netip"
	"strings"
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
			return nil, wrong("%d x %d x %d connections are %d, more than this program makes (%d)", o.Ports, o.Threads, o.Connections, o.Total(), allMost)
		}
	}
	if o.Port < 2 && !o.NoSync || o.Port < 1 || o.Port+o.Ports-1 > 65535 {
		return nil, wrong("-p %d: the %d ports from there on, and the sync port below it, are not all 1..65535", o.Port, o.Ports)
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
		return wrong("-r and -s: be one of them")
	case o.Sender && o.Multi:
		return wrong("-M is for the receiver")
	case o.Receiver && o.Last:
		return wrong("-L is for the sender")
	case o.Receiver && o.Source != "":
		return wrong("-a is for the sender")
	case o.Multi && o.NoSync:
		return wrong("-M wants the sync connection that -N does without")
	case o.Last && o.NoSync:
		return wrong("-L wants the sync connection that -N does without")
	case o.UDP && o.NoDelay:
		return wrong("--no-delay does not apply to UDP")
	case o.UDP && o.Sender && o.FQRate > 0:
		return advise("use -B", "--fq-rate-limit is for TCP here")
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
			return wrong("%q is not an address", text)
		}
		if a.Unmap().Is4() == o.IPv6 {
			return advise("use -6 for IPv6, and leave it out for IPv4", "%s is not of the family that is asked for", text)
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
		return advise("begin lower, or make fewer connections", "-f %d: there are not %d ports from there on", o.SourcePort, o.Total())
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

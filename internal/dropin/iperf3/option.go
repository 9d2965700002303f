package iperf3

import "math"

// iperf3's messages for values of several options.
const (
	wrongPort = "port number must be between 1 and 65535 inclusive"
	wrongTime = "test duration valid values are 0 to %d seconds"
)

// side is which end an option is for.
type side int

const (
	both side = iota
	clientOnly
	serverOnly
	infoOnly // prints information about the program and measures nothing
)

// flagOption is an option of any version of iperf3.
type flagOption struct {
	long  string
	short string // one letter, or empty
	arg   string // the argument's name in the help; empty: none; in brackets: may be left out
	side  side
	help  string
	// set takes the argument; nil: the option is not supported. what is then the
	// reason, otherwise the difference from iperf3, if any.
	set  func(s *Settings, text string) error
	what string
	// refusal is the code of the failure of an option that is not supported.
	refusal string
	// old marks a name that iperf3 accepts but does not list in its help.
	old bool
}

// name is the option as users write it.
func (o flagOption) name() string {
	if o.short != "" && o.long != "" {
		return "-" + o.short + ", --" + o.long
	}
	return "--" + o.long
}

// options are all options, in the order of the help.
func options() []flagOption {
	return append(append(append(append([]flagOption{}, commonOptions()...), serverOptions()...), clientOptions()...), olderNames()...)
}

func commonOptions() []flagOption {
	return []flagOption{
		{long: "port", short: "p", arg: "PORT", help: "port to listen on or to connect to", set: whole(func(s *Settings) *int { return &s.Port }, 1, 65535, wrongPort)},
		{long: "format", short: "f", arg: "LETTER", help: "unit of rates: k, m, g, t bits or K, M, G, T bytes", set: format},
		{long: "interval", short: "i", arg: "SECONDS", help: "time between reports, 0.1 to 60; 0 for one at the end", set: interval},
		{long: "pidfile", short: "I", arg: "FILE", help: "write the process number to this file", set: text(func(s *Settings) *string { return &s.PIDFile })},
		{long: "file", short: "F", arg: "FILE", help: "send or keep this file", set: text(func(s *Settings) *string { return &s.File }), what: "bytes are then written and read, also with `-Z` and `--skip-rx-copy`; a receiving client does not take the amount from the size of an existing file; a named pipe is refused, because a test that waits for its other end could not be ended"},
		{long: "affinity", short: "A", arg: "N[,M]", help: "keep the loops that move packets on processor N", set: affinity,
			what: "pins the loops that move packets, not the whole process"},
		{long: "bind", short: "B", arg: "ADDRESS[%DEVICE]", help: "local address, and the interface to measure through", set: bind},
		{long: "bind-dev", arg: "DEVICE", help: "interface to measure through", set: text(func(s *Settings) *string { return &s.Device })},
		{long: "verbose", short: "V", help: "print more", set: toggle(func(s *Settings) *bool { return &s.Verbose })},
		{long: "json", short: "J", help: "print one JSON document", set: toggle(func(s *Settings) *bool { return &s.JSON })},
		{long: "json-stream", help: "print a JSON line an event", set: choice(func(s *Settings) { s.JSON, s.Stream = true, true })},
		{long: "json-stream-full-output", help: "with --json-stream, also the whole document at the end", set: toggle(func(s *Settings) *bool { return &s.StreamFull })},
		{long: "logfile", arg: "FILE", help: "append what is printed to this file", set: text(func(s *Settings) *string { return &s.LogFile })},
		{long: "forceflush", help: "write every line at once", set: toggle(func(s *Settings) *bool { return &s.ForceFlush }), what: "every line is always written immediately"},
		{long: "timestamps", arg: "[FORMAT]", help: "begin lines with the time, in a format of strftime(3)", set: timestamps, what: "the letters `a A b B c d D e F h H I j k l m M n p r R s S t T u w x X y Y z Z %`, in English"},
		{long: "rcv-timeout", arg: "MILLISECONDS", help: "end when nothing comes for so long (120000)", set: whole(func(s *Settings) *int { return &s.RcvTimeout }, leastSilence, maxTimeout, "receive timeout value is incorrect or not in range")},
		{long: "snd-timeout", arg: "MILLISECONDS", help: "end when nothing is acknowledged for so long", set: whole(func(s *Settings) *int { return &s.SndTimeout }, 0, maxTimeout, "send timeout value is incorrect or not in range"), what: "Linux; TCP and the control connection, as in iperf3"},
		{long: "cntl-ka", arg: "[IDLE/INTERVAL/COUNT]", help: "keep the control connection alive", set: controlKeepAlive, what: "soku checks the control connection without it, too"},
		{long: "mptcp", short: "m", help: "use Multipath TCP", set: choice(func(s *Settings) { s.Multipath, s.UDP = true, false }), // TCP, unless a later option chooses otherwise
			what: "no effect with `-s`: a server always accepts both kinds of TCP"},
		{long: "debug", short: "d", arg: "[LEVEL]", help: "print what goes on inside", set: debug, what: "prints the states of the control connection from level 3 on, only these; no effect with `-J`"},
		{long: "version", short: "v", side: infoOnly, help: "print the version", set: toggle(func(s *Settings) *bool { return &s.ShowVersion })},
		{long: "help", short: "h", side: infoOnly, help: "print this", set: toggle(func(s *Settings) *bool { return &s.ShowHelp })},
	}
}

func serverOptions() []flagOption {
	return []flagOption{
		{long: "server", short: "s", side: both, help: "answer the tests of others", set: beServer},
		{long: "daemon", short: "D", side: serverOnly, help: "go to the background", set: toggle(func(s *Settings) *bool { return &s.Daemon }), what: "not on Windows"},
		{long: "one-off", short: "1", side: serverOnly, help: "answer one test, then end", set: toggle(func(s *Settings) *bool { return &s.OneOff })},
		{long: "server-bitrate-limit", arg: "RATE[/SECONDS]", side: serverOnly, help: "refuse tests that ask for more", set: bitrateLimit},
		{long: "idle-timeout", arg: "SECONDS", side: serverOnly, help: "end after so long without a client, with --one-off", set: whole(func(s *Settings) *int { return &s.IdleTimeout }, 1, mostTime, "idle timeout parameter is not positive or larger than allowed limit"),
			what: "no effect without `--one-off`: iperf3 then restarts itself, which soku does not need"},
		{long: "server-max-duration", arg: "SECONDS", side: serverOnly, help: "longest test that is answered", set: whole(func(s *Settings) *int { return &s.MaxDuration }, 0, mostTime, wrongTime, mostTime)},
		{long: "rsa-private-key-path", arg: "FILE", side: serverOnly, help: "key for the credentials of clients", set: text(func(s *Settings) *string { return &s.PrivateKey })},
		{long: "authorized-users-path", arg: "FILE", side: serverOnly, help: "users that are served", set: text(func(s *Settings) *string { return &s.Users })},
		{long: "time-skew-threshold", arg: "SECONDS", side: serverOnly, help: "how far the clocks of both ends may be apart", set: whole(func(s *Settings) *int { return &s.Skew }, 1, math.MaxInt32, "skew threshold must be a positive number")},
		{long: "use-pkcs1-padding", side: serverOnly, help: "padding of older versions", set: toggle(func(s *Settings) *bool { return &s.PKCS1 })},
	}
}

func clientOptions() []flagOption {
	const sctp, noSCTP = "soku measures TCP and UDP", "iperf3.option.no_sctp"
	return []flagOption{
		{long: "client", short: "c", arg: "HOST[%DEVICE]", side: both, help: "measure against this host", set: beClient},
		{long: "sctp", side: clientOnly, help: "use SCTP", what: sctp, refusal: noSCTP},
		{long: "xbind", short: "X", arg: "NAME", side: clientOnly, help: "links of an SCTP association", what: sctp, refusal: noSCTP},
		{long: "nstreams", arg: "N", side: clientOnly, help: "streams of an SCTP association", what: sctp, refusal: noSCTP},
		{long: "udp", short: "u", side: clientOnly, help: "use UDP", set: toggle(func(s *Settings) *bool { return &s.UDP })},
		{long: "connect-timeout", arg: "MILLISECONDS", side: clientOnly, help: "give up on the server after so long", set: connectTimeout, what: "default two minutes, at most ten"},
		{long: "bitrate", short: "b", arg: "RATE[/BURST]", side: clientOnly, help: "bits a second of each stream; 0 for no limit", set: bitrate},
		{long: "pacing-timer", arg: "MICROSECONDS", side: clientOnly, help: "how often the pace is looked at", set: pacingTimer, what: "sent to the server; sends follow an absolute schedule, and iperf3 itself no longer uses the timer on systems where it can sleep"},
		{long: "fq-rate", arg: "RATE", side: clientOnly, help: "have the kernel pace each stream", set: measured(func(s *Settings) *int64 { return &s.FQRate }, rate), what: "Linux; TCP is paced by the kernel; with `-u` it works only if the interface has the queueing discipline fq"},
		{long: "time", short: "t", arg: "SECONDS", side: clientOnly, help: "how long to measure (10)", set: duration, what: "0 or `inf` means no end; the test still ends after a day"},
		{long: "bytes", short: "n", arg: "BYTES", side: clientOnly, help: "end after this many bytes", set: measured(func(s *Settings) *int64 { return &s.Bytes }, amount), what: "whole blocks are sent"},
		{long: "blockcount", short: "k", arg: "BLOCKS", side: clientOnly, help: "end after this many blocks or datagrams", set: measured(func(s *Settings) *int64 { return &s.Blocks }, amount)},
		{long: "length", short: "l", arg: "BYTES", side: clientOnly, help: "bytes of a block or datagram", set: measured(func(s *Settings) *int64 { return &s.Length }, amount)},
		{long: "cport", arg: "PORT", side: clientOnly, help: "local port of the data connections", set: whole(func(s *Settings) *int { return &s.ClientPort }, 1, 65535, wrongPort), what: "stream n has this port plus n - 1, as in iperf3"},
		{long: "parallel", short: "P", arg: "N", side: clientOnly, help: "streams at the same time, 1 to 128", set: whole(func(s *Settings) *int { return &s.Streams }, 1, mostStreams, "invalid number of parallel streams (min = 1, max = %d)", mostStreams)},
		{long: "reverse", short: "R", side: clientOnly, help: "the server sends", set: oneOf(func(s *Settings) *bool { return &s.Reverse }, func(s *Settings) *bool { return &s.Bidir })},
		{long: "bidir", side: clientOnly, help: "both ends send", set: oneOf(func(s *Settings) *bool { return &s.Bidir }, func(s *Settings) *bool { return &s.Reverse })},
		{long: "window", short: "w", arg: "BYTES", side: clientOnly, help: "socket buffers", set: window},
		{long: "congestion", short: "C", arg: "NAME", side: clientOnly, help: "congestion control of TCP", set: text(func(s *Settings) *string { return &s.Congestion })},
		{long: "set-mss", short: "M", arg: "BYTES", side: clientOnly, help: "largest segment of TCP", set: whole(func(s *Settings) *int { return &s.MSS }, 0, mostMSS, "TCP MSS too large (maximum = %d bytes)", mostMSS)},
		{long: "no-delay", short: "N", side: clientOnly, help: "send small writes at once", set: toggle(func(s *Settings) *bool { return &s.NoDelay })},
		{long: "version4", short: "4", side: both, help: "IPv4 only", set: choice(func(s *Settings) { s.IPVersion = 4 })},
		{long: "version6", short: "6", side: both, help: "IPv6 only", set: choice(func(s *Settings) { s.IPVersion = 6 })},
		{long: "tos", short: "S", arg: "N", side: clientOnly, help: "type of service, 0 to 255, also octal and hexadecimal", set: tos},
		{long: "dscp", arg: "N|NAME", side: clientOnly, help: "DiffServ code point, 0 to 63 or by name", set: dscp},
		{long: "flowlabel", short: "L", arg: "N", side: clientOnly, help: "flow label of IPv6", set: flowLabel,
			what: "also over UDP; a `soku iperf3 -s` sets the label on what it sends if its system allows it"},
		{long: "zerocopy", short: "Z", side: clientOnly, help: "send without copying", set: toggle(func(s *Settings) *bool { return &s.ZeroCopy }), what: "with `-u` it is sent to the server and has no effect, as in iperf3; Linux"},
		{long: "skip-rx-copy", side: clientOnly, help: "receive without copying", set: toggle(func(s *Settings) *bool { return &s.SkipRxCopy }), what: "with `-u` it is sent to the server; soku itself copies its datagrams out of the kernel"},
		{long: "omit", short: "O", arg: "SECONDS", side: clientOnly, help: "measure this long before, and leave it out", set: whole(func(s *Settings) *int { return &s.Omit }, 0, mostOmit, "bogus value for --omit (maximum = %d seconds)", mostOmit)},
		{long: "title", short: "T", arg: "TEXT", side: clientOnly, help: "begin every line with this text", set: text(func(s *Settings) *string { return &s.Title })},
		{long: "extra-data", arg: "TEXT", side: clientOnly, help: "text for the documents of both ends", set: text(func(s *Settings) *string { return &s.ExtraData })},
		{long: "get-server-output", side: clientOnly, help: "print what the server prints, too", set: toggle(func(s *Settings) *bool { return &s.GetServerOutput })},
		{long: "udp-counters-64bit", side: clientOnly, help: "number datagrams with 64 bits", set: toggle(func(s *Settings) *bool { return &s.Counters64 })},
		{long: "gsro", side: clientOnly, help: "UDP in segments, at both ends", set: toggle(func(s *Settings) *bool { return &s.GSRO }), what: "with `-u` only"},
		{long: "repeating-payload", side: clientOnly, help: "a pattern that can be compressed", set: toggle(func(s *Settings) *bool { return &s.Repeating })},
		{long: "dont-fragment", side: clientOnly, help: "forbid fragments, with -u", set: toggle(func(s *Settings) *bool { return &s.DontFragment }), what: "also over IPv6: no packet is fragmented"},
		{long: "username", arg: "NAME", side: clientOnly, help: "user at the server; the password is in IPERF3_PASSWORD or asked for", set: text(func(s *Settings) *string { return &s.Username })},
		{long: "rsa-public-key-path", arg: "FILE", side: clientOnly, help: "the server's key", set: text(func(s *Settings) *string { return &s.PublicKey })},
	}
}

// olderNames are the names that iperf3 accepts without listing them.
func olderNames() []flagOption {
	return []flagOption{
		{long: "bandwidth", arg: "RATE[/BURST]", side: clientOnly, help: "older name of --bitrate", set: bitrate, old: true},
		{long: "linux-congestion", arg: "NAME", side: clientOnly, help: "older name of --congestion", set: text(func(s *Settings) *string { return &s.Congestion }), old: true},
		{long: "no-fq-socket-pacing", side: clientOnly, help: "do not have the kernel pace", old: true,
			set: toggle(func(s *Settings) *bool { return &s.NoFQPacing }), what: "the default; prints that it is deprecated, as iperf3 does"},
	}
}

package iperf3

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"soku/internal/engine/tcp"
	"soku/internal/engine/udp"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/trial"
	"soku/internal/wire"
	"soku/internal/wire/iperf3"
)

// defaultConnectTimeout is the default of --connect-timeout; iperf3 uses the system's.
const defaultConnectTimeout = 2 * time.Minute

// options are the settings as options of a trial.
func (s *Settings) options() (measure.Test, measure.Options) {
	test := measure.TestTCP
	if s.UDP {
		test = measure.TestUDP
	}
	o := option.Defaults(test)
	o.Via, o.Port, o.Streams = option.ViaIperf3, s.Port, s.Streams
	o.Series = measure.SeriesOff // its output has none
	o.Duration = measure.Duration(time.Duration(s.Time) * time.Second)
	if s.endless() {
		o.Duration = measure.Duration(mostTime * time.Second)
	}
	o.Omit = measure.Duration(time.Duration(s.Omit) * time.Second)
	o.Bytes = measure.Size(s.Bytes)
	o.Rate = measure.Rate(s.Rate * int64(s.Streams))
	if s.Rate > 0 { // without a rate there is no pause to make
		o.Burst = s.Burst
	}
	if s.Interval > 0 {
		o.Interval = measure.Duration(s.Interval * float64(time.Second))
	}
	switch {
	case s.Reverse:
		o.Direction = measure.Reverse
	case s.Bidir:
		o.Direction = measure.Bidirectional
	}
	o.Window, o.TOS = measure.Size(s.Window), s.TOS
	o.IPVersion, o.Bind, o.Device = s.IPVersion, s.Bind, s.Device
	o.ConnectTimeout = measure.Duration(defaultConnectTimeout)
	if s.ConnectTimeout > 0 {
		o.ConnectTimeout = measure.Duration(time.Duration(s.ConnectTimeout) * time.Millisecond)
	}
	o.Pin, o.FlowLabel = s.pin(), s.FlowLabel
	if s.UDP {
		s.datagramOptions(&o)
	} else {
		s.streamOptions(&o)
	}
	return test, o
}

// endless reports whether the test has neither a time nor an amount.
func (s *Settings) endless() bool { return s.Time == 0 && s.Bytes == 0 && s.Blocks == 0 }

// pin returns the processors on which each end pins its loops.
func (s *Settings) pin() string {
	name := func(cpu int) string {
		if cpu < 0 {
			return "off"
		}
		return strconv.Itoa(cpu)
	}
	if s.Affinity < 0 && s.ServerAffinity < 0 {
		return ""
	}
	return name(s.Affinity) + "/" + name(s.ServerAffinity)
}

// streamOptions are those of TCP. Bytes are written and read, as in iperf3, unless the
// command line chooses otherwise, so that both programs measure the same thing.
func (s *Settings) streamOptions(o *measure.Options) {
	o.Length, o.Congestion, o.Own = measure.Size(s.Length), s.Congestion, tcp.Options{MSS: s.MSS, NoDelay: s.NoDelay}
	o.Multipath = s.Multipath
	o.TX, o.RX = "write", "read"
	if s.ZeroCopy {
		o.TX = "sendfile"
	}
	if s.SkipRxCopy {
		o.RX = "discard"
	}
	if s.File != "" {
		o.TX, o.RX = "write", "read"
	}
	if s.Blocks > 0 {
		o.Bytes = measure.Size(blocksOf(s.Blocks, s.Length))
	}
}

func (s *Settings) datagramOptions(o *measure.Options) {
	if o.Size = measure.Size(s.Length); o.Size == 0 {
		o.Size = usualDatagram
	}
	o.Own = udp.Options{NoFragment: s.DontFragment}
	if s.GSRO {
		o.TX, o.RX = "gso", "gro"
	}
	if s.Blocks > 0 {
		o.Bytes = measure.Size(blocksOf(s.Blocks, int64(o.Size)))
	}
}

// extra is what the protocol has beyond the options of a trial.
func (r *runner) extra() (wire.IPerf3, error) {
	set := r.set
	x := wire.IPerf3{
		Title: set.Title, ExtraData: set.ExtraData, Blocks: set.Blocks, Counters32: !set.Counters64,
		FQRate: set.FQRate, Endless: set.endless(), RepeatPayload: set.Repeating, ZeroCopy: set.ZeroCopy, SkipRXCopy: set.SkipRxCopy, PacingTimer: set.PacingTimer, ClientPort: set.ClientPort,
		Silence: milliseconds(set.RcvTimeout), Unacknowledged: milliseconds(set.SndTimeout), KeepAlive: set.KeepAlive.config(),
		EndAtOnce:       true,
		GetServerOutput: set.GetServerOutput, ClientVersion: likeVersion, PathSize: set.UDP && set.Length == 0,
	}
	x.Contents = r.contents()
	if !set.UDP {
		x.Length = int(set.Length)
	}
	if set.Username == "" {
		return x, nil
	}
	pem, err := r.env.ReadFile(set.PublicKey)
	if err != nil {
		return x, fail("iperf3.option.public_key_file", measure.Figures{"cause": err})
	}
	if x.Key, err = iperf3.ParsePublicKey(pem); err != nil {
		return x, fail("iperf3.option.public_key", measure.Figures{"file": set.PublicKey, "cause": err})
	}
	x.User = set.Username
	x.Password, err = r.password()
	return x, err
}

// password returns the user's password from the environment, or reads it from the terminal.
func (r *runner) password() (string, error) {
	if p := r.env.Getenv("IPERF3_PASSWORD"); p != "" {
		return p, nil
	}
	fmt.Fprint(r.env.Stdout, "Password: ")
	p, err := r.env.ReadPassword()
	fmt.Fprintln(r.env.Stdout)
	if err != nil || p == "" {
		return "", fail("iperf3.option.no_password", measure.Figures{"user": r.set.Username})
	}
	return p, nil
}

// client is one test as a client.
type client struct {
	*runner
	writer    Writer
	exchanger iperf3.Exchanger
	collector *collector
	ends      ends
	at        time.Time
}

// measure runs the test that the settings ask for.
func (r *runner) measure(ctx context.Context) int {
	r.amountOfFile()
	x, err := r.extra()
	if err != nil {
		refuse(r.env, err)
		return 1
	}
	c := &client{runner: r, writer: r.newWriter(), at: r.env.Now()}
	c.writer.Begin(r.env.program())
	test, o := r.set.options()
	result := trial.Run(ctx, trial.Spec{Test: test, Options: o, Host: r.set.Host, IPerf3: x, Version: r.env.Version}, trial.Hooks{
		Every: true,
		State: func(s wire.State) {
			if state, ok := stateOf(s); ok {
				r.printState(state)
			}
		},
		Session: func(s wire.Session) { c.exchanger, _ = s.(iperf3.Exchanger) },
		Opened:  c.opened,
		Observe: func(p measure.Progress) { c.collector.observe(p) },
	})
	c.ended(result)
	code := 0
	if result.Error != nil {
		c.writer.Fail(failure(result.Error))
		if result.Error.Kind != measure.KindInterrupted {
			code = 1
		}
	}
	if err := c.writer.Close(); err != nil {
		fmt.Fprintf(r.env.Stderr, "iperf3: error - write the output: %v\n", err)
		return 1
	}
	return code
}

// opened reports the connections of the test.
func (c *client) opened(conns []net.Conn) {
	ex := c.exchanger.Exchange()
	s := Start{At: c.at, Peer: Address{c.set.Host, c.set.Port}, Cookie: ex.Cookie, ControlMSS: ex.ControlMSS, Test: testOf(ex.Parameters, c.set.Interval)}
	c.ends = newEnds(Client, s.Test, ex, conns)
	s.SendBuffer, s.ReceiveBuffer, s.Connected = c.ends.send, c.ends.receive, c.ends.connected
	c.collector = newCollector(Client, s.Test, c.ends.sockets, c.writer.Interval)
	c.writer.Start(s)
}

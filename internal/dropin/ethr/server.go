package ethr

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/server"
	serverethr "soku/internal/server/ethr"
)

// serve serves Ethr clients only, until ctx ends.
func serve(ctx context.Context, env Environment, s Settings, out *output) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	t := &serverTable{out: out}
	hooks := serverethr.Hooks{Client: t.begins, Second: t.second, RoundTrips: t.roundTrips}
	cfg := server.Config{Listen: net.JoinHostPort("", strconv.Itoa(s.Port)), Version: env.Version}
	if s.Once {
		hooks.Over = func(netip.Addr, bool) { cancel() }
	}
	cfg.Only = serverethr.New(hooks)
	if s.Debug {
		cfg.Log = slog.New(slog.NewTextHandler(debugLines{out}, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime}))
	}
	if s.Bind.IsValid() {
		cfg.Listen = netip.AddrPortFrom(s.Bind, uint16(s.Port)).String()
	}
	switch s.Version {
	case 4:
		cfg.Allow = []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")}
	case 6:
		cfg.Allow = []netip.Prefix{netip.MustParsePrefix("::/0")}
	}
	srv, err := server.New(cfg)
	if err != nil {
		return measure.AsError(err, measure.KindUsage).WithHintCode("dropin.ethr.listen", nil)
	}
	defer takeScreen(env, s, out)()
	out.print("-----------------------------------------------------------")
	versions := "ipv4, ipv6"
	if s.Version != 0 {
		versions = fmt.Sprintf("ipv%d", s.Version)
	}
	out.say("Accepting IP version: %s", versions)
	out.say("Listening on port %d for TCP & UDP", s.Port)
	return srv.Serve(ctx)
}

// takeScreen draws on the whole terminal, if requested and if there is one, until the
// function that it returns is called.
func takeScreen(env Environment, s Settings, out *output) (giveBack func()) {
	columns, lines := 0, 0
	if env.Size != nil {
		columns, lines = env.Size()
	}
	switch {
	case !s.Screen:
		return func() {}
	case columns < leastColumns || lines < leastLines:
		out.say("No terminal of %d columns and %d lines: the table goes line by line", leastColumns, leastLines)
		return func() {}
	}
	v := &view{w: env.Stdout, size: env.Size, now: env.Now, title: "Ethr's commands by soku " + env.Version}
	out.view = v
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		v.run(stop, out.decimals)
	}()
	return func() {
		close(stop)
		<-done
		out.view = nil
	}
}

// debugLines are what the server logs.
type debugLines struct{ out *output }

func (d debugLines) Write(b []byte) (int, error) {
	d.out.debug("%s", strings.TrimSpace(string(b)))
	return len(b), nil
}

// withoutTime removes the time, which the lines of the log file have already.
func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
		return slog.Attr{}
	}
	return a
}

// serverTable prints the traffic of clients, a row per client and second.
type serverTable struct {
	out  *output
	rows []string // of this second
}

// begins prints the head for a new client.
func (t *serverTable) begins(netip.Addr, bool) {
	t.out.print("-----------------------------------------------------------")
	t.out.print(head())
}

// row is a line of the table.
func row(remote string, cells ...string) string {
	if n := len(remote); n > 13 {
		remote = "..." + remote[n-10:]
	}
	return fmt.Sprintf("[%13s]  %5s  %7s  %7s  %7s  %8s", remote, cells[0], cells[1], cells[2], cells[3], cells[4])
}

func head() string {
	return row("RemoteAddress", "Proto", "Bits/s", "Conn/s", "Pkt/s", "Latency")
}

const none = "--  "

// second prints the rows of a second, and their sum if a protocol has several.
func (t *serverTable) second(rows []serverethr.Row) {
	t.rows = nil
	if t.out.view != nil {
		defer func() { t.out.view.table(head(), t.rows) }()
	}
	slices.SortStableFunc(rows, func(a, b serverethr.Row) int { return a.Client.Compare(b.Client) })
	clients := map[netip.Addr]bool{}
	for _, r := range rows {
		clients[r.Client] = true
	}
	if len(clients) > 1 {
		t.out.print(strings.TrimSpace(strings.Repeat("- ", 30)))
	}
	for _, udp := range []bool{false, true} {
		sum, n := serverethr.Row{UDP: udp, Seconds: 1}, 0
		for _, r := range rows {
			if r.UDP != udp {
				continue
			}
			n++
			t.one(r.Client.String(), r)
			sum.Bytes += uint64(float64(r.Bytes) / r.Seconds)
			sum.Connections += uint64(float64(r.Connections) / r.Seconds)
			sum.Packets += uint64(float64(r.Packets) / r.Seconds)
		}
		if n > 1 {
			t.one("[SUM]", sum)
		}
	}
}

func (t *serverTable) one(remote string, r serverethr.Row) {
	per := func(n uint64) string { return unit(float64(n)/r.Seconds, t.out.decimals) }
	protocol, conns, packets, latency := "TCP", per(r.Connections), none, none
	if r.UDP {
		protocol, conns, packets = "UDP", none, per(r.Packets)
	}
	if r.Latency > 0 {
		latency = duration(r.Latency)
	}
	bits := per(8 * r.Bytes)
	line := row(remote, protocol, bits, conns, packets, latency)
	t.out.print(line)
	t.rows = append(t.rows, line)
	t.out.result(remote, protocol, bits, conns, packets, latency)
}

// roundTrips logs the figures of one batch of a latency test.
func (t *serverTable) roundTrips(client netip.Addr, all []time.Duration) {
	t.out.logTrips(client.String(), "TCP", figures(all))
}

package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/trial"
	"soku/internal/version"
)

// measureFlags are what a test run by hand takes beside its options.
type measureFlags struct {
	options    measure.Options
	json       bool
	jsonStream bool
	rows       bool
	table      string
	output     string
	noSave     bool
	store      string
	access     accessFlags
	iperf3     iperf3User
}

// accessFlags say how a server is entered.
type accessFlags struct {
	tokenFile string
	tls       bool
	tlsCA     string
}

func (a *accessFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.tokenFile, "token-file", "", "file with the token the server wants")
	cmd.Flags().BoolVar(&a.tls, "tls", false, "use TLS for the control connection; measured bytes are never encrypted")
	cmd.Flags().StringVar(&a.tlsCA, "tls-ca", "", "file with the certificate authority of the server (implies --tls)")
}

func (a *accessFlags) read(sys *System) (token string, cfg *tls.Config, err error) {
	if a.tokenFile != "" {
		if token, err = readToken(sys, a.tokenFile); err != nil {
			return "", nil, err
		}
	}
	if a.tls || a.tlsCA != "" {
		cfg = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if a.tlsCA != "" {
		pem, err := sys.ReadFile(a.tlsCA)
		if err != nil {
			return "", nil, measure.Errorf(measure.KindUsage, "read the certificate authority: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return "", nil, measure.Errorf(measure.KindFile, "%s holds no PEM certificate", a.tlsCA).WithHint("give the file the server's certificate was signed with")
		}
	}
	return token, cfg, nil
}

func readToken(sys *System, file string) (string, error) {
	b, err := sys.ReadFile(file)
	if err != nil {
		return "", measure.Errorf(measure.KindUsage, "read the token: %w", err).WithHint("check --token-file")
	}
	token := strings.TrimSpace(string(b))
	if token == "" || len(token) > 4096 {
		return "", measure.Errorf(measure.KindFile, "token file %s: wants one line of 1 to 4096 characters", file)
	}
	return token, nil
}

var measureTexts = map[measure.Test]struct{ short, long, example string }{
	measure.TestTCP: {"Measure TCP goodput",
		"Sends TCP streams to a soku server, or has it send, and counts at the receiver.\nThe slow start is found and left out; --omit leaves out a fixed time instead.",
		`  soku tcp 10.0.0.4                      10 s, one stream
  soku tcp vm2 -P 16 -t 30s -R           the server sends 16 streams
  soku tcp vm2 --bidir --congestion bbr  both ways at once
  soku tcp vm2 --with-latency            what the load does to the latency
  soku tcp vm2 -n 1GB --json             a fixed amount, the result as JSON`},
	measure.TestUDP: {"Measure UDP goodput, loss, reordering and jitter",
		"Sends datagrams at a rate and finds in their numbers what was lost, reordered or\ndoubled. Jitter is RFC 3550's.",
		`  soku udp 10.0.0.4                      10 Mbit/s for 10 s
  soku udp vm2 -b 500M -s 1200           500 Mbit/s in datagrams of 1200 bytes
  soku udp vm2 -b 0 -s 64                as many small packets as it can`},
	measure.TestLatency: {"Measure request/response time over TCP or UDP",
		"Sends a message, waits for one of the same size, and keeps every round trip in\na histogram. With --request-rate requests leave on a schedule, whatever comes\nback.",
		`  soku latency 10.0.0.4                  ping-pong of 64-byte TCP messages
  soku latency vm2 --protocol udp -s 1k  UDP, 1000 bytes
  soku latency vm2 --request-rate 500    open loop: 500 requests a second
  soku latency vm2 --spin                both ends look without a pause
  soku latency vm2 -P 16 --one-way       16 flows in turn; the delay of each way
  soku latency vm2 --stamps split        how much is path, how much host
  soku latency vm2 -s 1 --row 1000 --rows  a table row each 1000 round trips`},
	measure.TestConnect: {"Measure TCP connections a second and their set-up time",
		"Opens TCP connections to a soku server and closes them, and keeps the time of\nevery set-up, SYN to SYN-ACK, in a histogram. The server counts what it accepts.\nWith HOST:PORT, a URL or --to-port it needs no server and connects to whatever\nlistens there, gently.",
		`  soku connect 10.0.0.4                  one connection after the other for 10 s
  soku connect vm2 -P 16                 16 at a time
  soku connect vm2 -s 1 --close fin      a byte each way, then closed in order
  soku connect vm2 --request-rate 5000   open loop: 5000 connections a second
  soku connect example.net:443           any TCP port, 100 connections a second
  soku connect https://example.net -c 5 --request-rate 1`},
	measure.TestPing: {"Measure ICMP echo round trips",
		"Needs no server at the other end. Uses a raw socket, or an unprivileged one\nwhere the system allows it. Ends with the lines that parsers of the system's\nping know.",
		`  soku ping 10.0.0.4                     10 s, ten echoes a second
  soku ping example.net -c 30 --spacing 1s
  soku ping -6 vm2 -s 1400`},
	measure.TestTrace: {"Find the hops of a path, their loss and round trips",
		"Sends probes whose hop limit is reached on the way, and keeps who answered.\nNeeds no server at the other end, and for UDP and TCP no rights. A flow keeps\nits ports, so that routers keep it on one of several equal paths; --flows shows\nthem all.",
		`  soku trace 10.0.0.4                    UDP, ten rounds, a live table
  soku trace vm2 --probe tcp --port 443  SYNs: what a firewall lets through
  soku trace vm2 --flows 16              the branches of equal-cost paths
  soku trace vm2 -c 3 -i 200ms --names   three quick rounds, names of hops
  soku trace -6 vm2 --probe icmp --json  echo over IPv6, the result as JSON`},
	measure.TestMTU: {"Find the largest packet that a path carries",
		"Sends packets that must not be fragmented, halves the sizes in question, and\nsays where larger ones end: at this host's interface, at a hop that reports it,\nor in a black hole that reports nothing. Needs no server at the other end.",
		`  soku mtu 10.0.0.4                      echo: there and back
  soku mtu vm2 --probe udp               only the way there; slower
  soku mtu -6 vm2 --json                 the result as JSON`},
}

func newMeasureCommand(test measure.Test) func(*System) *cobra.Command {
	return func(sys *System) *cobra.Command {
		f := &measureFlags{options: measure.Defaults(test)}
		text := measureTexts[test]
		cmd := &cobra.Command{
			Use:     string(test) + " HOST",
			Short:   text.short,
			Long:    text.long,
			Example: text.example,
			Args: func(cmd *cobra.Command, args []string) error {
				switch {
				case len(args) == 0:
					return measure.Errorf(measure.KindUsage, "no host to measure against").WithHint("give its name or address, for example: soku %s 10.0.0.4", test)
				case len(args) > 1 && bareFlag(cmd, test) != "":
					return measure.Errorf(measure.KindUsage, "one host at a time, and %q is a second", args[1]).WithHint("is one of them the value of --%[1]s? Write --%[1]s=VALUE", bareFlag(cmd, test))
				case len(args) > 1:
					return measure.Errorf(measure.KindUsage, "one host at a time, and %q is a second", args[1]).WithHint("compare several with a plan: soku run --help")
				}
				return nil
			},
			RunE: func(cmd *cobra.Command, args []string) error {
				return runMeasure(cmd.Context(), sys, test, args[0], f)
			},
		}
		addOptionFlags(cmd, test, &f.options)
		cmd.Flags().BoolVar(&f.json, "json", false, "print the whole result document")
		cmd.Flags().BoolVar(&f.jsonStream, "json-stream", false, "print one JSON line an interval, and the result as the last")
		cmd.Flags().StringVarP(&f.output, "output", "o", "", "also write the result document to this file")
		cmd.Flags().BoolVar(&f.noSave, "no-save", false, "do not keep the result in the store")
		addStoreFlag(cmd, &f.store)
		if test == measure.TestLatency {
			cmd.Flags().BoolVar(&f.rows, "rows", false, "print the table of rows, one each --row round trips")
			cmd.Flags().StringVar(&f.table, "table", "", "print that table in the form of another tool: ethr")
		}
		if test.NeedsServer() {
			f.access.add(cmd)
		}
		if test == measure.TestTCP || test == measure.TestUDP {
			f.iperf3.add(cmd.Flags())
		}
		cmd.MarkFlagsMutuallyExclusive("json", "json-stream")
		return cmd
	}
}

func runMeasure(ctx context.Context, sys *System, test measure.Test, host string, f *measureFlags) error {
	// A mistake is told before anything is opened or sent.
	if _, err := f.options.Effective(test); err != nil {
		return err
	}
	if f.table != "" && f.table != ethrName {
		return measure.Errorf(measure.KindUsage, "--table %q is no form of a table", f.table).WithHint("use ethr, or --rows for soku's own")
	}
	token, tlsConfig, err := f.access.read(sys)
	if err != nil {
		return err
	}
	asked, err := f.iperf3.read(sys, f.options.Via)
	if err != nil {
		return err
	}
	live := newLive(sys, test, host, f)
	r := trial.Run(ctx, trial.Spec{
		Test: test, Options: f.options, Host: host, Token: token, TLS: tlsConfig, IPerf3: asked, Version: version.String(),
		Floor: keptFloor(sys, func(why string) { fmt.Fprintln(sys.Stderr, why) }),
	}, trial.Hooks{Observe: live.observe, State: live.state, Trace: live.trace, MTU: live.mtu})

	saved, saveErr := keep(sys, r, f)
	if err := live.finish(r, saved); err != nil {
		return measure.Errorf(measure.KindStore, "write the result: %w", err).WithHint("is there room where the output goes?")
	}
	if r.Error != nil {
		return r.Error
	}
	return saveErr
}

// keep writes the result where it was asked to go. What failed in one place
// does not keep it from the other, and the figures are printed all the same.
// A trial that failed before anything was measured is not kept.
func keep(sys *System, r *measure.Result, f *measureFlags) (saved bool, err error) {
	if f.output != "" {
		b, jsonErr := json.MarshalIndent(r, "", "  ")
		if jsonErr == nil {
			jsonErr = sys.WriteFile(f.output, append(b, '\n'), 0o644)
		}
		if jsonErr != nil {
			err = measure.Errorf(measure.KindStore, "write the result to %s: %w", f.output, jsonErr).WithHint("the figures above are complete; check the folder and the space on the disk")
		}
	}
	if f.noSave || r.Summary.DurationNs == 0 {
		return false, err
	}
	// The measurement is over: an interrupt must not lose what it counted.
	ctx := context.Background()
	st, openErr := openStore(ctx, sys, f.store)
	if openErr != nil {
		return false, errors.Join(err, openErr)
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	if putErr := st.Put(ctx, r); putErr != nil {
		return false, errors.Join(err, putErr)
	}
	return true, err
}

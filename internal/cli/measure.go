package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/tests"
	"soku/internal/trial"
	"soku/internal/version"
	"soku/internal/wire"
	"soku/internal/wire/iperf3"
)

// measureFlags are the flags of a test run by hand that are no options of the test.
type measureFlags struct {
	options    measure.Options
	json       bool
	jsonStream bool
	rows       bool
	table      string
	output     string
	noSave     bool
	endless    bool // an interrupt ends the test
	brief      bool
	bound      bound
	explain    bool
	store      string
	access     accessFlags
	iperf3     iperf3User
}

// forPerson reports whether a test prints all that a person reads.
func (f *measureFlags) forPerson() bool { return !f.json && !f.jsonStream && !f.brief }

// accessFlags say how a server is entered.
type accessFlags struct {
	tokenFile string
	tls       bool
	tlsCA     string
}

func (a *accessFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&a.tokenFile, "token-file", "", "file with the token that the server requires")
	flags.BoolVar(&a.tls, "tls", false, "use TLS for the control connection; measured bytes are never encrypted")
	flags.StringVar(&a.tlsCA, "tls-ca", "", "file with the certificate authority of the server (implies --tls)")
}

func (a *accessFlags) read(sys *System) (token string, cfg *tls.Config, err error) {
	if a.tokenFile != "" {
		if token, err = readToken(sys, a.tokenFile); err != nil {
			return "", nil, err
		}
		if !a.tls && a.tlsCA == "" {
			fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("access.token_in_clear", nil))
		}
	}
	if a.tls || a.tlsCA != "" {
		cfg = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if a.tlsCA != "" {
		pem, err := sys.ReadFile(a.tlsCA)
		if err != nil {
			return "", nil, measure.Fail(measure.KindUsage, "cli.tls_ca.read", measure.Figures{"cause": err})
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return "", nil, measure.Fail(measure.KindFile, "cli.tls_ca.none", measure.Figures{"file": a.tlsCA})
		}
	}
	return token, cfg, nil
}

func readToken(sys *System, file string) (string, error) {
	b, err := sys.ReadFile(file)
	if err != nil {
		return "", measure.Fail(measure.KindUsage, "cli.token.read", measure.Figures{"cause": err})
	}
	sys.warnReadable(file)
	token := strings.TrimSpace(string(b))
	if token == "" || len(token) > 4096 {
		return "", measure.Fail(measure.KindFile, "cli.token.length", measure.Figures{"file": file})
	}
	return token, nil
}

// thisHost is the far end of a test that has none.
const thisHost = "localhost"

// hostless reports whether the options name no far end: of a copy from folder to folder.
func hostless(test measure.Test, o measure.Options) bool {
	s := option.SpecOf(test)
	return s.Hostless != nil && s.Hostless(o)
}

func newMeasureCommand(sys *System, test measure.Test) *cobra.Command {
	cmd, _ := measureCommand(sys, test)
	return cmd
}

// measureCommand is the command of a test and what its flags set.
func measureCommand(sys *System, test measure.Test) (*cobra.Command, *measureFlags) {
	f := &measureFlags{options: option.Defaults(test)}
	cmd := &cobra.Command{
		Use: string(test) + " HOST",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && !hostless(test, f.options):
				return measure.Fail(measure.KindUsage, "cli.host.none", measure.Figures{"test": test})
			case len(args) > 1 && bareFlag(cmd, test) != "":
				return measure.Fail(measure.KindUsage, "cli.host.second", measure.Figures{"host": args[1]}).WithHintCode("value_of_flag", measure.Figures{"flag": bareFlag(cmd, test)})
			case len(args) > 1:
				return measure.Fail(measure.KindUsage, "cli.host.second", measure.Figures{"host": args[1]})
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := contradiction(cmd.Flags()); err != nil {
				return err
			}
			f.setEndless(cmd.Flags(), test)
			host := thisHost
			if len(args) > 0 {
				host = args[0]
			}
			return runMeasure(cmd.Context(), sys, test, host, f)
		},
	}
	addOptionFlags(cmd, test, &f.options)
	cmd.Flags().BoolVar(&f.json, "json", false, "print the whole result document")
	cmd.Flags().BoolVar(&f.jsonStream, "json-stream", false, "print one JSON line per interval, and the result as the last line")
	cmd.Flags().StringVarP(&f.output, "output", "o", "", "also write the result document to this file")
	cmd.Flags().BoolVar(&f.noSave, "no-save", false, "do not store the result")
	addStoreFlag(cmd, &f.store)
	cmd.Flags().BoolVar(&f.brief, "brief", false, "print only the last line: when, what and the figure")
	addBound(cmd.Flags(), &f.bound, test)
	if explainable(test) {
		cmd.Flags().BoolVar(&f.explain, "explain", false, "where the test alone does not tell what limits it, measure what tells; that is shown before, and takes up to half a minute, or two minutes where a longer test is needed")
	}
	if tests.Of(test).Rows {
		cmd.Flags().BoolVar(&f.rows, "rows", false, "print the table of rows, one per --row round trips")
		cmd.Flags().StringVar(&f.table, "table", "", "print that table in the format of another tool: ethr")
	}
	if option.HasServer(test) {
		addAccess(cmd, f.access.add)
	}
	if option.Speaks(option.ViaIperf3, test) {
		addAccess(cmd, f.iperf3.add)
	}
	cmd.MarkFlagsMutuallyExclusive("json", "json-stream", "brief")
	for _, more := range []string{"explain", "rows", "table"} {
		if cmd.Flags().Lookup(more) != nil {
			cmd.MarkFlagsMutuallyExclusive("brief", more)
		}
	}
	return cmd, f
}

func runMeasure(ctx context.Context, sys *System, test measure.Test, host string, f *measureFlags) error {
	// Mistakes are reported before anything is opened or sent.
	if _, err := option.Effective(f.options, test); err != nil {
		return err
	}
	if f.table != "" && f.table != ethrName {
		return measure.Fail(measure.KindUsage, "cli.table", measure.Figures{"table": f.table})
	}
	token, tlsConfig, err := f.access.read(sys)
	if err != nil {
		return err
	}
	asked, err := f.iperf3.read(sys, f.options.Via)
	if err != nil {
		return err
	}
	if f.explain && f.options.Via != option.ViaSoku {
		return measure.Fail(measure.KindUsage, "cli.explain.via", measure.Figures{"via": f.options.Via})
	}
	if err := tryPlaces(ctx, sys, f); err != nil {
		return err
	}
	m := measuring{sys: sys, flags: f, spec: trial.Spec{
		Test: test, Options: f.options, Endless: f.endless, Host: host, Token: token, TLS: tlsConfig, IPerf3: asked, Version: version.String(),
		Floor: storedBaseline(sys, func(why string) { fmt.Fprintln(sys.Stderr, why) }),
	}}
	live := newLive(sys, test, host, f)
	r := trial.Run(ctx, m.spec, trial.Hooks{Observe: live.observe, State: live.state, Trace: live.trace, MTU: live.mtu})

	saved, saveErr := keep(sys, r, f)
	if !f.explain || !f.json { // then it is a part of the explanation
		if err := live.finish(r, saved); err != nil {
			return err
		}
	}
	var explainErr error
	if f.explain {
		explainErr = m.explain(ctx, r)
	}
	live.end(r)
	if r.Error != nil {
		return r.Error
	}
	return errors.Join(explainErr, saveErr, f.bound.failure(sys.Catalogue, r))
}

// endlessTests are those that --count 0 has go on until an interrupt, and endlessCount is the count
// that no person waits for.
var endlessTests = []measure.Test{measure.TestPing, measure.TestTrace}

const endlessCount = 1_000_000_000

// setEndless has a test with --count 0, and without a duration, go on until an interrupt.
func (f *measureFlags) setEndless(flags *pflag.FlagSet, test measure.Test) {
	f.endless = slices.Contains(endlessTests, test) && flags.Changed("count") && f.options.Count == 0 && !flags.Changed("duration")
	if f.endless {
		f.options.Count = endlessCount
	}
}

// tryPlaces fails if the result could not be written where it is to go.
func tryPlaces(ctx context.Context, sys *System, f *measureFlags) error {
	if f.output != "" {
		if err := sys.TryWrite(f.output); err != nil {
			return measure.Fail(measure.KindStore, "cli.place.file", measure.Figures{"file": f.output, "cause": err})
		}
	}
	if f.noSave {
		return nil
	}
	err := tryStore(ctx, sys, f.store)
	if measure.KindOf(err) == measure.KindStore {
		err = measure.AsError(err, measure.KindStore).WithHintCode("no_save", nil)
	}
	return err
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
			err = measure.Fail(measure.KindStore, "cli.result.write", measure.Figures{"file": f.output, "cause": jsonErr})
		}
	}
	if f.noSave || r.Error != nil && !r.Counted() {
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

// iperf3User says who a client of an iperf3 server is, where the server asks.
type iperf3User struct {
	user         string
	passwordFile string
	keyFile      string
	pkcs1        bool
}

func (u *iperf3User) add(flags *pflag.FlagSet) {
	flags.StringVar(&u.user, "user", "", "with --via iperf3: the user, where the server asks for one")
	flags.StringVar(&u.passwordFile, "password-file", "", "with --user: file with the password")
	flags.StringVar(&u.keyFile, "rsa-public-key-file", "", "with --user: file with the server's public key (PEM)")
	flags.BoolVar(&u.pkcs1, "use-pkcs1-padding", false, "with --user: for a server of iperf3 before 3.17")
}

// read returns what to ask of an iperf3 server that is no option of the test.
func (u *iperf3User) read(sys *System, via string) (wire.IPerf3, error) {
	x := wire.IPerf3{ClientVersion: "soku " + version.String()}
	given := u.user != "" || u.passwordFile != "" || u.keyFile != "" || u.pkcs1
	switch {
	case !given:
		return x, nil
	case via != option.ViaIperf3:
		return x, measure.Fail(measure.KindUsage, "cli.iperf3_user.other_server", nil)
	case u.user == "" || u.passwordFile == "" || u.keyFile == "":
		return x, measure.Fail(measure.KindUsage, "cli.iperf3_user.incomplete", nil)
	}
	password, err := sys.ReadFile(u.passwordFile)
	if err != nil {
		return x, measure.Fail(measure.KindUsage, "cli.iperf3_user.password_file", measure.Figures{"cause": err})
	}
	text, err := sys.ReadFile(u.keyFile)
	if err != nil {
		return x, measure.Fail(measure.KindUsage, "cli.iperf3_user.key_file", measure.Figures{"cause": err})
	}
	if x.Key, err = iperf3.ParsePublicKey(text); err != nil {
		return x, measure.Fail(measure.KindFile, "cli.iperf3_user.key", measure.Figures{"file": u.keyFile, "cause": err})
	}
	x.User, x.Password, x.PKCS1 = u.user, strings.TrimRight(string(password), "\r\n"), u.pkcs1
	return x, nil
}

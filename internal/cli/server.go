package cli

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"

	"github.com/spf13/cobra"

	"soku/internal/measure"
	"soku/internal/process"
	"soku/internal/server"
	"soku/internal/text"
	"soku/internal/version"
)

type serverFlags struct {
	listen      string
	maxClients  int
	exclusive   bool
	maxDuration measure.Duration
	maxRate     measure.Rate
	allow       []string
	tokenFile   string
	tlsCert     string
	tlsKey      string
	foreign     foreignFlags
	copyRoot    string
	quiet       bool
	child       bool
}

func newServerCommand(sys *System) *cobra.Command {
	f := &serverFlags{}
	cmd := &cobra.Command{
		Use:   "server",
		Short: "Run the server that clients measure against",
		Long: `Listens on one port, TCP and UDP, and serves any number of clients of soku,
iperf3 and Ethr at once; iperf3 and Ethr also have their own default ports.
Anyone who reaches a port can make this host send and receive: keep it inside
your network, or use --allow, --token-file and TLS.`,
		Example: `  soku server
  soku server --exclusive                  one test at a time; others wait
  soku server --allow 10.0.0.0/8 --max-duration 60s --max-rate 1G
  soku server --copy-root /srv/measure     take copies, inside that folder only
  soku server --token-file token --tls-cert cert.pem --tls-key key.pem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := f.config(sys)
			if err != nil {
				return err
			}
			defer cfg.CloseCopyRoot()
			s, err := server.New(cfg)
			if err != nil {
				return err
			}
			if f.child {
				fmt.Fprintln(sys.Stdout, s.Addr()) // agent.StartLoopbackServer reads it
				return s.Serve(process.WhileOpen(cmd.Context(), sys.Stdin))
			}
			fmt.Fprintln(sys.Stdout, sys.Catalogue.Sentence("server.listening", text.Args{"Address": s.Addr(), "Foreign": foreignPorts(sys.Catalogue, s)}))
			return s.Serve(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", fmt.Sprintf(":%d", measure.DefaultPort), "address and port to listen on")
	flags.IntVar(&f.maxClients, "max-clients", 1000, "maximum number of tests at a time; more are refused (0: no limit)")
	flags.BoolVar(&f.exclusive, "exclusive", false, "one test at a time; others wait in a queue that they can see")
	addUnitFlag(flags, &f.maxDuration, "max-duration", "", "longest accepted test (0: no limit)")
	addUnitFlag(flags, &f.maxRate, "max-rate", "", "highest rate of one test (0: no limit)")
	flags.StringSliceVar(&f.allow, "allow", nil, "only clients in this network, such as 10.0.0.0/8; may be repeated")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with a token that clients must send")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "file with the TLS certificate (PEM)")
	flags.StringVar(&f.tlsKey, "tls-key", "", "file with the TLS key (PEM)")
	f.foreign.add(flags)
	flags.StringVar(&f.copyRoot, "copy-root", "", "take copies of files (soku copy), inside this folder only; without it none are taken")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not log the tests")
	flags.BoolVar(&f.child, "child", false, "write the address alone, and serve until the input ends")
	_ = flags.MarkHidden("child")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return cmd
}

func (f *serverFlags) config(sys *System) (server.Config, error) {
	cfg := server.Config{
		Listen: f.listen, MaxClients: f.maxClients, Exclusive: f.exclusive, MaxDuration: f.maxDuration,
		MaxRate: f.maxRate, Version: version.String(), Log: slog.New(slog.DiscardHandler),
	}
	if !f.quiet {
		cfg.Log = slog.New(slog.NewTextHandler(sys.Stderr, nil))
	}
	if err := measure.CheckMaxRate(f.maxRate); err != nil {
		return cfg, err
	}
	if f.maxClients < 0 {
		return cfg, measure.Fail(measure.KindUsage, "cli.server.max_clients", measure.Figures{"clients": f.maxClients})
	}
	if !strings.Contains(f.listen, ":") || strings.HasSuffix(f.listen, ":") {
		return cfg, measure.Fail(measure.KindUsage, "cli.server.no_port", measure.Figures{"address": f.listen})
	}
	for _, text := range f.allow {
		p, err := parsePrefix(text)
		if err != nil {
			return cfg, err
		}
		cfg.Allow = append(cfg.Allow, p)
	}
	if f.tokenFile != "" {
		token, err := readToken(sys, f.tokenFile)
		if err != nil {
			return cfg, err
		}
		cfg.Token = token
	}
	if err := f.foreign.read(sys, f.listen, &cfg); err != nil {
		return cfg, err
	}
	if f.tlsCert != "" {
		c, err := loadCertificate(sys, f.tlsCert, f.tlsKey)
		if err != nil {
			return cfg, err
		}
		cfg.TLS = c
	}
	if cfg.Token != "" && cfg.TLS == nil {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("server.token_in_clear", nil))
	}
	if f.copyRoot != "" { // last: what killed servers left in it is removed only by one that starts
		if err := cfg.OpenCopyRoot(f.copyRoot); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	if p, err := netip.ParsePrefix(text); err == nil {
		return p.Masked(), nil
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	return netip.Prefix{}, measure.Fail(measure.KindUsage, "cli.server.no_network", measure.Figures{"network": text})
}

func loadCertificate(sys *System, certFile, keyFile string) (*tls.Config, error) {
	cert, err := sys.ReadFile(certFile)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "cli.server.certificate_file", measure.Figures{"cause": err})
	}
	key, err := sys.ReadFile(keyFile)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "cli.server.key_file", measure.Figures{"cause": err})
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "cli.server.certificate", measure.Figures{"certificate": certFile, "key": keyFile, "cause": err})
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}, nil
}

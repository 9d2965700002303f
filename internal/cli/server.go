package cli

import (
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	dropin "soku/internal/dropin/iperf3"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/process"
	"soku/internal/server"
	serverethr "soku/internal/server/ethr"
	serveriperf3 "soku/internal/server/iperf3"
	"soku/internal/text"
	"soku/internal/version"
	"soku/internal/wire/ethr"
	"soku/internal/wire/iperf3"
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
	copyMax     measure.Size
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
your network, or use --allow, --token-file and TLS. It says at its start who
can, and which options limit that.`,
		Example: `  soku server
  soku server --exclusive                  one test at a time; others wait
  soku server --allow 10.0.0.0/8 --max-duration 60s --max-rate 1G
  soku server --copy-root /srv/measure     take copies, inside that folder only
  soku server --token-file token --tls-cert cert.pem --tls-key key.pem`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := sys.Stderr
			var view *serverView
			if sys.drawsOnStdout() && !f.quiet && !f.child {
				view = newServerView(sys)
				log = view
			}
			cfg, err := f.config(sys, log)
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
			fmt.Fprintln(sys.Stderr, f.reach(sys.Catalogue, cfg))
			if view != nil {
				defer view.start(s.Queue)()
			}
			return s.Serve(cmd.Context())
		},
	}
	cmd.AddCommand(newServerStatus(sys))
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", fmt.Sprintf(":%d", option.DefaultPort), "address and port to listen on")
	flags.IntVar(&f.maxClients, "max-clients", 1000, "maximum number of tests at a time; more are refused (0: no limit)")
	flags.BoolVar(&f.exclusive, "exclusive", false, "one test at a time; others wait in a queue that they can see")
	f.maxDuration = measure.Duration(time.Hour)
	addUnitFlag(flags, &f.maxDuration, "max-duration", "", "longest accepted test (0: no limit)")
	addUnitFlag(flags, &f.maxRate, "max-rate", "", "highest rate of one test (0: no limit)")
	flags.StringSliceVar(&f.allow, "allow", nil, "only clients in this network, such as 10.0.0.0/8; may be repeated")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with a token that clients must send")
	flags.StringVar(&f.tlsCert, "tls-cert", "", "file with the TLS certificate (PEM)")
	flags.StringVar(&f.tlsKey, "tls-key", "", "file with the TLS key (PEM)")
	f.foreign.add(flags)
	flags.StringVar(&f.copyRoot, "copy-root", "", "take copies of files (soku copy), inside this folder only; without it none are taken")
	f.copyMax = server.CopyMaxTenth
	addUnitFlag(flags, &f.copyMax, "copy-max", "", "what all copies together may write at a time (0: 95 % of what is free; default: a tenth of what is free at the start)")
	flags.Lookup("copy-max").DefValue = ""
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "do not log the tests")
	flags.BoolVar(&f.child, "child", false, "write the address alone, and serve until the input ends")
	_ = flags.MarkHidden("child")
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return cmd
}

// reach says who can use the server, and which options would limit that.
func (f *serverFlags) reach(c *text.Catalogue, cfg server.Config) string {
	var unused []string
	for _, flag := range []struct {
		name string
		used bool
	}{
		{"--allow", len(cfg.Allow) > 0}, {"--token-file", cfg.Access != nil}, {"--max-rate", cfg.MaxRate > 0},
		{"--max-duration", cfg.MaxDuration > 0}, {"--copy-max", cfg.CopyRoot == nil || cfg.CopyRoot.Most() > 0},
	} {
		if !flag.used {
			unused = append(unused, flag.name)
		}
	}
	return c.Sentence("server.reach", text.Args{
		"Allow": f.allow, "Token": cfg.Access != nil, "MaxRate": cfg.MaxRate, "MaxDuration": cfg.MaxDuration,
		"CopyRoot": f.copyRoot, "CopyMax": cfg.CopyRoot.Most(), "Unused": unused,
	})
}

func (f *serverFlags) config(sys *System, log io.Writer) (server.Config, error) {
	cfg := server.Config{
		Listen: f.listen, MaxClients: f.maxClients, Exclusive: f.exclusive, MaxDuration: f.maxDuration,
		MaxRate: f.maxRate, Version: version.String(), Log: slog.New(slog.DiscardHandler),
	}
	if !f.quiet {
		cfg.Log = slog.New(slog.NewTextHandler(log, nil))
	}
	if err := option.CheckMaxRate(f.maxRate); err != nil {
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
		cfg.Access = server.WithToken(token)
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
	if cfg.Access != nil && cfg.TLS == nil {
		fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("server.token_in_clear", nil))
	}
	if f.copyRoot != "" { // last: what killed servers left in it is removed only by one that starts
		if err := cfg.OpenCopyRoot(f.copyRoot, f.copyMax); err != nil {
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
	sys.warnReadable(keyFile)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "cli.server.certificate", measure.Figures{"certificate": certFile, "key": keyFile, "cause": err})
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}}, nil
}

// foreignFlags say how a server serves the clients of other tools.
type foreignFlags struct {
	iperf3     string
	ethr       string
	privateKey string
	users      string
	pkcs1      bool
}

const (
	foreignAuto = "auto"
	foreignOff  = "off"
)

func (f *foreignFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.iperf3, "iperf3", foreignAuto, "address and port for clients of iperf3: auto (port 5201 in addition to --listen, if it is free), off, or such as :5201; they may also use the port of --listen")
	flags.StringVar(&f.ethr, "ethr", foreignAuto, "address and port for clients of Ethr: auto (port 8888 in addition to --listen, if it is free), off, or such as :8888; over TCP they may also use the port of --listen. With --token-file they are not served, because they send no token")
	flags.StringVar(&f.privateKey, "rsa-private-key-file", "", "file with the RSA private key (PEM) for the authentication of iperf3's clients")
	flags.StringVar(&f.users, "authorized-users-file", "", "file of iperf3's users, one per line: user,sha256 of {user}password")
	flags.BoolVar(&f.pkcs1, "use-pkcs1-padding", false, "accept credentials with the padding of iperf3 before 3.17")
}

// read puts into cfg what the flags say.
func (f *foreignFlags) read(sys *System, listen string, cfg *server.Config) error {
	users, err := f.readUsers(sys)
	if err != nil {
		return err
	}
	own := serveriperf3.New(serveriperf3.Config{Users: users, EndsAmounts: true, Observer: dropin.ServerOutput(version.String(), sys.Now)})
	for _, p := range []struct {
		protocol server.Protocol
		flag     string
		port     int
	}{
		{serverethr.New(serverethr.Hooks{}), f.ethr, ethr.Port},
		{own, f.iperf3, iperf3.DefaultPort},
	} {
		flag := p.flag
		if p.protocol.Name() == option.ViaEthr && cfg.Access != nil {
			if flag != foreignAuto && flag != foreignOff {
				return measure.Fail(measure.KindUsage, "cli.server.ethr_token", nil)
			}
			flag = foreignOff
		}
		at, err := foreignPort(p.protocol, flag, listen, p.port)
		if err != nil {
			return err
		}
		cfg.Foreign = append(cfg.Foreign, at)
	}
	return nil
}

// readUsers reads which clients of iperf3 are served; nil is all.
func (f *foreignFlags) readUsers(sys *System) (*iperf3.Guard, error) {
	if (f.privateKey == "") != (f.users == "") {
		return nil, measure.Fail(measure.KindUsage, "cli.server.iperf3_incomplete", nil)
	}
	if f.privateKey == "" {
		return nil, nil
	}
	text, err := sys.ReadFile(f.privateKey)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "cli.server.iperf3_key_file", measure.Figures{"cause": err})
	}
	sys.warnReadable(f.privateKey)
	key, err := iperf3.ParsePrivateKey(text)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "cli.server.iperf3_key", measure.Figures{"file": f.privateKey, "cause": err})
	}
	text, err = sys.ReadFile(f.users)
	if err != nil {
		return nil, measure.Fail(measure.KindUsage, "cli.server.iperf3_users_file", measure.Figures{"cause": err})
	}
	users, err := iperf3.ParseUsers(text)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "cli.server.iperf3_users", measure.Figures{"file": f.users, "cause": err})
	}
	return &iperf3.Guard{Key: key, Users: users, PKCS1: f.pkcs1}, nil
}

// foreignPort gives a protocol a port of its own as the flag of its name says. auto is
// the protocol's usual port at the address that the server itself listens on; a
// server whose port the system picks has none, because it is somebody's for a moment.
func foreignPort(p server.Protocol, flag, listen string, port int) (server.Foreign, error) {
	f := server.Foreign{Protocol: p}
	switch {
	case flag == foreignOff:
	case flag == foreignAuto:
		host, own, err := net.SplitHostPort(listen)
		if err == nil && own != "0" && own != strconv.Itoa(port) { // opening the server's port reports a wrong address
			f.Listen, f.Optional = net.JoinHostPort(host, strconv.Itoa(port)), true
		}
	case !strings.Contains(flag, ":") || strings.HasSuffix(flag, ":"):
		return f, measure.Fail(measure.KindUsage, "cli.server.protocol_port", measure.Figures{"protocol": p.Name(), "address": flag, "port": port})
	default:
		f.Listen = flag
	}
	return f, nil
}

// foreignPorts are the ports of other protocols, each with the protocol's name.
func foreignPorts(c *text.Catalogue, s *server.Server) []string {
	var out []string
	for _, protocol := range []string{option.ViaIperf3, option.ViaEthr} {
		if at, ok := s.ForeignAddr(protocol); ok {
			out = append(out, c.Sentence("server.foreign", text.Args{"Protocol": protocol, "Address": at}))
		}
	}
	return out
}

package hubcli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/catalog"
	"soku/internal/cli"
	"soku/internal/hub/service"
	"soku/internal/measure"
	"soku/internal/text"
)

type serveFlags struct {
	folder, store, listen, nats string
	names, brokers              []string
	certificate, key            string
	url, urlPin                 string
	proxies                     []string
	patience                    measure.Duration
	verbose                     bool
}

func newServeCommand(sys *cli.System) *cobra.Command {
	f := &serveFlags{patience: measure.Duration(5 * time.Minute)}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the hub",
		Long: `Runs the hub until it is interrupted. Agents connect to it, over TLS with the
hub's own certificate; they open no port for it. It prints how they join.
Results are in the store of soku on this host, or in a PostgreSQL database.

A campaign that runs goes on when the hub starts again.`,
		Example: `  soku-hub serve
  soku-hub serve --name hub.example.net --listen :443
  soku-hub serve --store postgres://soku@db/soku
  soku-hub serve --brokers tls://a:7661,tls://b:7661,tls://c:7661
  soku-hub serve --url https://hub.example.net --proxies 10.0.0.2`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), sys) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", ":7660", "address and port for pages, commands and joining, by HTTPS")
	flags.StringVar(&f.nats, "listen-nats", ":7661", "address and port for messages of agents")
	flags.StringSliceVar(&f.names, "name", nil, "name or address by which agents reach the hub (default the name and the first address of this host)")
	flags.StringVar(&f.url, "url", "", "URL by which agents reach the hub through a reverse proxy, such as https://hub.example.net")
	flags.StringVar(&f.urlPin, "url-pin", "", "SHA-256 of the proxy's certificate (default public authorities decide)")
	flags.StringSliceVar(&f.proxies, "proxies", nil, "addresses or networks of reverse proxies, whose X-Forwarded-For is believed")
	flags.StringVar(&f.store, "store", "", "file of the store, or postgres://USER:PASSWORD@HOST/DATABASE (default soku.db in the data folder, SOKU_DATA)")
	flags.StringVar(&f.folder, "folder", "", "folder of keys and state (default hub in the data folder, SOKU_DATA)")
	flags.StringVar(&f.certificate, "certificate", "", "certificate of a public authority, PEM (default one of the hub's own)")
	flags.StringVar(&f.key, "key", "", "its key, PEM")
	flags.StringSliceVar(&f.brokers, "brokers", nil, "addresses of NATS servers in place of the hub's own, configured by nats-config")
	flags.Var(&f.patience, "patience", "how long a trial waits for an agent that went away")
	flags.BoolVar(&f.verbose, "verbose", false, "log every agent that comes and goes")
	cmd.MarkFlagsRequiredTogether("certificate", "key")
	return cmd
}

func (f *serveFlags) run(ctx context.Context, sys *cli.System) (err error) {
	names, err := f.reached(sys)
	if err != nil {
		return err
	}
	url, urlPin, proxies, err := f.behind()
	if err != nil {
		return err
	}
	st, err := sys.OpenStore(ctx, cmp.Or(f.store, filepath.Join(sys.DataDir, "soku.db")))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	level := slog.LevelWarn
	if f.verbose {
		level = slog.LevelInfo
	}
	s, err := openService(ctx, sys, service.Options{
		Folder: folder(sys, f.folder), Listen: f.listen, NATS: f.nats, Names: names, Certificate: f.certificate, Key: f.key, Brokers: f.brokers,
		URL: url, URLPin: urlPin, Proxies: proxies, Store: st, Patience: f.patience.Std(),
		Waits: func(holder string) { _ = say(sys, sys.Catalogue.Sentence("hub.waits", text.Args{"Holder": holder})) },
	}, level)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := errors.Join(
		say(sys, sys.Catalogue.Sentence("hub.serves", text.Args{"URL": s.About.URL})),
		say(sys, sys.Catalogue.Sentence("hub.serves.join", nil)),
		say(sys, sys.Catalogue.Sentence("hub.serves.token", text.Args{"Token": s.AdminToken})),
	); err != nil {
		return err
	}
	if s.Welcome != "" {
		if err := say(sys, sys.Catalogue.Sentence("hub.serves.welcome", text.Args{"URL": s.Welcome})); err != nil {
			return err
		}
	}
	if err := s.Serve(ctx); err != nil {
		return err
	}
	return say(sys, sys.Catalogue.Sentence("hub.serves.end", nil))
}

// openService opens a hub, and writes into its folder how commands on this host reach it. The caller closes it.
func openService(ctx context.Context, sys *cli.System, o service.Options, level slog.Level) (*service.Service, error) {
	o.Limits, o.Text = func() (*catalog.Catalog, error) { return catalog.Builtin(), nil }, sys.Catalogue
	o.Log = slog.New(slog.NewTextHandler(sys.Stderr, &slog.HandlerOptions{Level: level}))
	s, err := service.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	about, err := json.Marshal(s.About)
	if err == nil {
		err = sys.WriteFile(filepath.Join(o.Folder, aboutFile), about, 0o644)
	}
	if err != nil {
		s.Close()
		return nil, measure.Fail(measure.KindStore, "hub.folder", measure.Figures{"folder": o.Folder, "cause": err})
	}
	return s, nil
}

// reached are the names of the hub: those of the flag, or of this host and its first address.
func (f *serveFlags) reached(sys *cli.System) ([]string, error) {
	for _, n := range f.names {
		if strings.ContainsAny(n, "/ ") || n == "" {
			return nil, measure.Fail(measure.KindUsage, "hubcli.name", measure.Figures{"name": n})
		}
	}
	if len(f.names) > 0 {
		return f.names, nil
	}
	address := firstAddress()
	return []string{cmp.Or(address, "localhost"), cmp.Or(sys.Hostname(), "localhost"), "localhost", "127.0.0.1", "::1"}, nil
}

// firstAddress is the first global address of this host, or "".
func firstAddress() string {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String()
		}
	}
	return ""
}

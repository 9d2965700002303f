package service

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/campaign/journal/sqljournal"
	"soku/internal/catalog"
	"soku/internal/conduct"
	"soku/internal/fleet"
	"soku/internal/fleet/broker"
	"soku/internal/fleet/enrol"
	"soku/internal/hub"
	"soku/internal/hub/campaigns"
	"soku/internal/hub/users"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/process"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
	"soku/internal/text"
	"soku/internal/version"
	"soku/internal/web"
)

// Options are how a hub runs.
type Options struct {
	Folder string   // of keys, certificate and state; for its owner alone
	Listen string   // host:port of HTTPS
	NATS   string   // host:port of the hub's own broker
	Names  []string // names and addresses by which agents reach the hub, the first in join commands

	URL     string         // by which agents reach the hub through a reverse proxy, as in https://hub.example.net:443; empty: there is none
	URLPin  fleet.Pin      // of the proxy's certificate; empty: a public authority vouches for it
	Proxies []netip.Prefix // reverse proxies that say from whom a request came, in X-Forwarded-For

	Certificate, Key string   // files in PEM form; empty: the hub's own certificate
	Brokers          []string // addresses of brokers of its own, as in tls://a:7661; empty: the hub has one

	Store    store.Store // a database: of package sqlite or postgres
	Limits   func() (*catalog.Catalog, error)
	Waits    func(holder string) // is called when another hub of the database serves, which this one waits for; nil: not
	Patience time.Duration       // how long a trial waits for an agent that went away
	Text     *text.Catalogue     // of pages
	Log      *slog.Logger
}

// Service is a hub that is ready to serve.
type Service struct {
	About      web.About // as commands on this host reach it, without a proxy
	AdminToken string    // file with the token for people
	Welcome    string    // link by which the first admin chooses a name and a password; empty: there are users

	o         Options
	journals  *sqljournal.Journals
	turn      *sqljournal.Turn // nil: the hub has a broker of its own, and so agents of its own
	hub       *hub.Hub
	campaigns *campaigns.Campaigns
	ready     atomic.Pointer[campaigns.Campaigns] // the same, for messages that arrive before
	listener  net.Listener
	server    *http.Server
	answers   atomic.Pointer[http.Handler] // by whom requests are answered
	served    chan error                   // has the end of serving the listener, which begins while the hub waits
	closing   []func()                     // in the order of their opening
}

// Open opens a hub. The caller closes it, and the store after that. An error has kind
//
//   - usage: the store is no database;
//   - file, store, permission: the folder or the database;
//   - unreachable: an address cannot be listened on, or brokers do not answer.
func Open(ctx context.Context, o Options) (_ *Service, err error) {
	s := &Service{o: o}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := os.MkdirAll(o.Folder, 0o700); err != nil {
		return nil, measure.Fail(measure.KindStore, "hub.folder", measure.Figures{"folder": o.Folder, "cause": err})
	}
	if err := s.lock(); err != nil {
		return nil, err
	}
	db, ok := sqlstore.Of(o.Store)
	if !ok {
		return nil, measure.Fail(measure.KindUsage, "hub.no_database", nil)
	}
	cert, public, err := certificate(o.Folder, o.Certificate, o.Key, o.Names, time.Now())
	if err != nil {
		return nil, err
	}
	chain, pin := shown(cert)
	if public {
		chain, pin = "", ""
	}
	if s.listener, err = new(net.ListenConfig).Listen(ctx, "tcp", o.Listen); err != nil {
		return nil, measure.Fail(measure.KindUnreachable, "hub.listen", measure.Figures{"address": o.Listen, "cause": cmp.Or(errors.Unwrap(err), err)})
	}
	s.closing = append(s.closing, func() { _ = s.listener.Close() })
	config := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}
	joinURL, joinPin := "https://"+s.reached(s.listener.Addr()), pin
	if o.URL != "" {
		joinURL, joinPin = o.URL, o.URLPin
	}
	s.newServer(config)
	if err := s.awaitTurn(ctx, db, joinURL); err != nil {
		return nil, err
	}
	authority, err := enrol.OpenAuthority(filepath.Join(o.Folder, "keys"))
	if err != nil {
		return nil, err
	}
	registry, err := enrol.OpenRegistry(ctx, db)
	if err != nil {
		return nil, err
	}
	admission := enrol.New(enrol.Options{Authority: authority, Registry: registry, Certificates: chain, Audit: s.audit})
	own, err := s.connectBroker(ctx, admission, authority, config)
	if err != nil {
		return nil, err
	}
	if err := s.openHub(ctx, own, admission); err != nil {
		return nil, err
	}
	token, file, err := adminToken(o.Folder)
	if err != nil {
		return nil, err
	}
	s.AdminToken = file
	people, err := users.Open(ctx, db)
	if err != nil {
		return nil, err
	}
	first, err := people.FirstLink(ctx)
	if err != nil {
		return nil, err
	}
	s.About = web.About{Hub: authority.ID(), Version: version.String(), URL: "https://" + s.reached(s.listener.Addr()), Pin: pin}
	if first != "" {
		s.Welcome = web.WelcomeURL(joinURL, first)
	}
	pages, err := web.New(web.Config{
		Agents: s.hub.Agents, Waiting: s.hub.Hosts.Waiting, Take: s.hub.Take, Enrol: admission, Campaigns: s.campaigns, Check: s.hub.Campaigns().Check, Store: s.hub.Store(), Limits: o.Limits,
		WebSocket: own.webSocket, Users: people, AdminToken: token, Text: o.Text, Log: o.Log,
		Identity: s.About.Hub, Version: s.About.Version, URL: joinURL, Pin: joinPin,
		Revoke: func(ctx context.Context, agent, person string) error {
			err := admission.Revoke(ctx, own.system, agent, person)
			if err == nil || measure.KindOf(err) == measure.KindUnreachable {
				s.hub.Agents.Revoke(agent, measure.Fail(measure.KindRefused, "hub.revoked", nil))
			}
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	s.answer(forwarded(o.Proxies, pages))
	return s, nil
}

// lock makes sure that the folder has one hub at a time. It ends with the process.
func (s *Service) lock() error {
	f, err := os.OpenFile(filepath.Join(s.o.Folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return measure.Fail(measure.KindStore, "hub.folder", measure.Figures{"folder": s.o.Folder, "cause": err})
	}
	s.closing = append(s.closing, func() { _ = f.Close() })
	if free, err := process.LockFile(f); err != nil || !free {
		return measure.Fail(measure.KindRefused, "hub.running", measure.Figures{"folder": s.o.Folder})
	}
	return nil
}

// Port is that of HTTPS.
func (s *Service) Port() string {
	_, port, _ := net.SplitHostPort(s.listener.Addr().String())
	return port
}

// watchTurn calls stop when another hub serves, and reports whether it did.
func (s *Service) watchTurn(ctx context.Context, stop func()) (lost bool) {
	if s.turn == nil {
		return false
	}
	select {
	case <-s.turn.Lost():
		s.hub.Abandon()
		stop()
		return true
	case <-ctx.Done():
		return false
	}
}

// reached is host:port by which others reach a listener.
func (s *Service) reached(a net.Addr) string {
	_, port, _ := net.SplitHostPort(a.String())
	return net.JoinHostPort(s.o.Names[0], port)
}

// connection is the hub's own connections to the broker.
type connection struct {
	hub, system *nats.Conn
	webSocket   http.Handler
}

// connectBroker starts the hub's own broker, unless there are others, and connects to it.
func (s *Service) connectBroker(ctx context.Context, admission *enrol.Service, authority *enrol.Authority, config *tls.Config) (c connection, err error) {
	at := []nats.Option{nats.Name("soku-hub"), nats.MaxReconnects(-1), nats.Timeout(10 * time.Second)}
	url := ""
	if len(s.o.Brokers) == 0 {
		jwts, err := admission.AccountJWTs(ctx)
		if err != nil {
			return c, err
		}
		operator, err := authority.OperatorJWT()
		if err != nil {
			return c, err
		}
		b, err := broker.Start(ctx, broker.Options{
			Listen: s.o.NATS, TLS: config, Operator: operator, SystemAccount: authority.SystemAccount(), Accounts: jwts,
			Folder: filepath.Join(s.o.Folder, "broker"), Log: s.o.Log,
		})
		if err != nil {
			return c, err
		}
		s.closing = append(s.closing, b.Close)
		c.webSocket = b.WebSocket()
		at = append(at, nats.InProcessServer(b))
		_, port, _ := net.SplitHostPort(b.Address())
		admission.NATS = []string{"tls://" + net.JoinHostPort(s.o.Names[0], port)}
	} else {
		admission.NATS = s.o.Brokers
		url = strings.Join(s.o.Brokers, ",")
		at = append(at, nats.Secure(trusting(config.Certificates[0])))
	}
	connect := func(as func() (nats.Option, error), more ...nats.Option) (*nats.Conn, error) {
		who, err := as()
		if err != nil {
			return nil, err
		}
		conn, err := nats.Connect(url, append(append(at, who), more...)...)
		if err != nil {
			return nil, measure.Fail(measure.KindUnreachable, "hub.broker", measure.Figures{"address": cmp.Or(url, s.o.NATS), "cause": err})
		}
		s.closing = append(s.closing, conn.Close)
		return conn, nil
	}
	if c.hub, err = connect(authority.Hub); err != nil {
		return c, err
	}
	pushed := func(system *nats.Conn) {
		if err := admission.Push(ctx, system); err != nil {
			s.o.Log.Warn("the broker does not know whom the hub has revoked", "error", err)
		}
	}
	if c.system, err = connect(authority.System, nats.ReconnectHandler(pushed)); err != nil {
		return c, err
	}
	pushed(c.system)
	return c, nil
}

// trusting is how brokers of their own prove who they are: a public authority vouches for them, or they have the hub's certificate.
func trusting(own tls.Certificate) *tls.Config {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	if leaf, err := x509.ParseCertificate(own.Certificate[0]); err == nil {
		roots.AddCert(leaf)
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}
}

// openHub opens the parts that need a broker.
func (s *Service) openHub(ctx context.Context, own connection, admission *enrol.Service) (err error) {
	conflicts, err := hub.OpenConflicts(filepath.Join(s.o.Folder, "conflicts"))
	if err != nil {
		return err
	}
	ordered, err := campaigns.Ordered(s.journals, time.Now().Add(-fleet.Forget))
	if err != nil {
		return err
	}
	names := sync.Map{} // by which agents joined, of those that connected: a name is asked for with each result
	expected := func(agent, result string) bool {
		former := ordered[result]
		if len(former.Agents) == 0 {
			return false
		}
		name, known := names.Load(agent)
		if !known {
			a, err := admission.Registry.Agent(context.WithoutCancel(ctx), agent)
			if err != nil {
				return false
			}
			name = a.Name
		}
		return slices.ContainsFunc(former.Agents, func(want string) bool { return name == want || strings.HasPrefix(agent, want) })
	}
	s.hub, err = hub.New(hub.Config{
		Conn: own.hub, Store: s.o.Store, Sink: hub.InStore{Store: s.o.Store, Conflicts: conflicts}, Identity: admission.Authority.ID(), Version: version.String(),
		Labels: func(agent string) map[string]string {
			a, _ := admission.Registry.Agent(context.WithoutCancel(ctx), agent)
			return a.Labels
		},
		Admitted: func(agent string) *measure.Error {
			a, err := admission.Registry.Admitted(context.WithoutCancel(ctx), agent)
			if err == nil {
				names.Store(agent, a.Name)
			}
			return measure.AsError(err, measure.KindInternal)
		},
		Expected: expected,
		Claimed: func(agent, result string) bool {
			return s.claims(ordered[result]) && expected(agent, result)
		},
		Serves: func() bool { return s.turn == nil || s.turn.Holds() },
		Log:    s.o.Log,
	})
	if err != nil {
		return err
	}
	s.closing = append(s.closing, s.hub.Close)
	if err := s.knowAgents(ctx, admission.Registry); err != nil {
		return err
	}
	if err := own.hub.Publish(fleet.Everyone, []byte("{}")); err != nil { // asks for a hello: brokers of their own stay connected
		return measure.Fail(measure.KindUnreachable, "hub.broker", measure.Figures{"address": s.o.NATS, "cause": err})
	}
	host := conduct.ThisHost()
	host.Root, host.Agents = false, s.hub.Campaigns()
	all := campaigns.New(campaigns.Config{
		ByLabel:   s.hub.Campaigns().ByLabel,
		Conductor: conduct.Conductor{Host: host, Store: s.hub.Store(), Journals: s.journals}, Limits: s.o.Limits, Log: s.o.Log, Patience: s.o.Patience,
	})
	s.campaigns = all
	s.ready.Store(all)
	s.closing = append(s.closing, s.campaigns.Close)
	return nil
}

// claims reports whether a campaign takes the trial of a result over, or may, as before it is known which campaigns go on.
func (s *Service) claims(f campaigns.Former) bool {
	all := s.ready.Load()
	return f.Left && (all == nil || all.Claims(f))
}

// knowAgents tells the hub who was admitted before: campaigns that go on wait for these.
func (s *Service) knowAgents(ctx context.Context, registry *enrol.Registry) error {
	const atATime = 1000
	for after := ""; ; {
		page, err := registry.Agents(ctx, after, atATime)
		if err != nil {
			return err
		}
		for _, a := range page {
			if after = a.ID; a.RevokedAt.IsZero() {
				s.hub.Agents.Know(a.ID, a.Name, a.Labels, a.SeenAt)
			}
		}
		if len(page) < atATime {
			return nil
		}
	}
}

// takeOverEvery is how often campaigns are looked for that another hub left.
const takeOverEvery = 5 * time.Second

// Serve serves until ctx ends, and then also closes the further listeners. It returns an error of kind unreachable if a
// listener fails, or refused if another hub serves in its place.
func (s *Service) Serve(ctx context.Context, more ...net.Listener) (err error) {
	var work panics.Group
	lost := false
	defer func() {
		if work.Wait(); lost {
			err = measure.Fail(measure.KindRefused, "hub.turn_lost", nil)
		}
	}()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	work.Go(func() { lost = s.watchTurn(ctx, stop) })
	work.Go(func() {
		tick := time.NewTicker(takeOverEvery)
		defer tick.Stop()
		for {
			if _, err := s.campaigns.TakeOver(ctx); err != nil && ctx.Err() == nil {
				s.o.Log.Warn("campaigns that were left cannot be read", "error", err)
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	})
	work.Go(func() {
		<-ctx.Done()
		quick, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if s.server.Shutdown(quick) != nil {
			_ = s.server.Close() // those who follow a campaign
		}
	})
	failed := make(chan error, 1+len(more))
	for _, l := range append(more, s.listener) {
		work.Go(func() {
			err := s.serveOn(l)
			if !errors.Is(err, http.ErrServerClosed) {
				failed <- measure.Fail(measure.KindUnreachable, "hub.listen", measure.Figures{"address": l.Addr().String(), "cause": err})
			}
			stop()
		})
	}
	work.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// Await waits until an agent of each name is connected. It returns the cause of ctx when that ends.
func (s *Service) Await(ctx context.Context, names ...string) error {
	watcher := s.hub.Agents.Watch()
	defer watcher.Stop()
	for {
		missing := slices.ContainsFunc(names, func(name string) bool {
			a, err := s.hub.Agents.Find(name)
			return err != nil || a.State != hub.Connected
		})
		if !missing {
			return nil
		}
		select {
		case <-watcher.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Close interrupts campaigns and closes all, the last first.
func (s *Service) Close() {
	for len(s.closing) > 0 {
		last := len(s.closing) - 1
		s.closing[last]()
		s.closing = s.closing[:last]
	}
}

// audit logs who was admitted, revoked or refused.
func (s *Service) audit(e enrol.Event) {
	attributes := []any{"by", e.By, "agent", e.Agent, "name", e.Name, "token", e.Token}
	if e.Error != nil {
		s.o.Log.Warn(string(e.Action), append(attributes, "error", e.Error.Error())...)
		return
	}
	s.o.Log.Info(string(e.Action), attributes...)
}

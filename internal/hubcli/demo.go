package hubcli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/cli"
	"soku/internal/hub/service"
	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/text"
	"soku/internal/web"
)

type demoFlags struct {
	data, listen string
	loopback     bool
	json         bool
}

func newDemoCommand(sys *cli.System) *cobra.Command {
	f := &demoFlags{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a hub, its page and two agents on this host",
		Long: `Runs a hub, its page and two agents until it is interrupted. As root on Linux the
agents are hosts of an emulated network, in network namespaces; otherwise they
measure over loopback. The page has a plan that is ready to start.

Nothing is left behind: the results are in a temporary folder, unless --data
names one. Other commands ask this hub where SOKU_DATA is that folder.`,
		Example: `  soku-hub demo                            then open the address that it prints
  soku-hub demo --data ~/soku-demo         keep results and users for the next time
  soku-hub demo --listen :7660             the page also for other hosts
  sudo soku-hub demo                       an emulated network instead of loopback`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context(), sys) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.data, "data", "", "folder that keeps results and users (default a temporary one)")
	flags.StringVar(&f.listen, "listen", "127.0.0.1:7660", "address and port of the page")
	flags.BoolVar(&f.loopback, "loopback", false, "measure over loopback, also as root")
	flags.BoolVar(&f.json, "json", false, "print what runs as JSON once it does")
	return cmd
}

// demoRuns is what a demo says of itself once it runs.
type demoRuns struct {
	URL     string   `json:"url"`
	Pin     string   `json:"pin"`
	Welcome string   `json:"welcome,omitempty"` // link for the first admin; empty: there are users
	Data    string   `json:"data"`
	Agents  []string `json:"agents"`
	Lab     string   `json:"lab,omitempty"` // emulated network of the agents; empty: loopback
}

// demoAgents are the names of the agents, and of their hosts in the emulated network.
var demoAgents = []string{"west", "east"}

// demoNetwork is the emulated network, but for its name.
//
//go:embed demo.yaml
var demoNetwork string

func (f *demoFlags) run(ctx context.Context, sys *cli.System) (err error) {
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return measure.Fail(measure.KindUsage, "hubcli.demo.listen", measure.Figures{"address": f.listen})
	}
	data, clean, err := f.folder(sys)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clean()) }()
	st, err := sys.OpenStore(ctx, filepath.Join(data, "soku.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	names := []string{host}
	if a := net.ParseIP(host); host == "" || a != nil && a.IsUnspecified() {
		if names, err = (&serveFlags{}).reached(sys); err != nil {
			return err
		}
	}
	s, err := openService(ctx, sys, service.Options{
		Folder: filepath.Join(data, "hub"), Listen: f.listen, NATS: net.JoinHostPort(host, "0"), Names: names, Store: st, Patience: time.Minute,
	}, slog.LevelError)
	if err != nil {
		return err
	}
	defer s.Close()
	network, err := f.network(ctx, sys, s.Port())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, network.close(context.WithoutCancel(ctx))) }()
	return f.serve(ctx, sys, s, network, data)
}

// serve runs hub and agents until ctx ends or one of them does.
func (f *demoFlags) serve(ctx context.Context, sys *cli.System, s *service.Service, network *demoHosts, data string) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	work := panics.Group{Stop: func() { stop(nil) }}
	work.Go(func() { stop(s.Serve(ctx, network.listeners...)) })
	begin := func() error {
		token, err := f.token(ctx, sys, s, data)
		if err != nil {
			return err
		}
		for _, name := range demoAgents {
			work.Go(func() {
				if err := network.agent(ctx, name, s.About, token, data); ctx.Err() == nil {
					stop(err)
				}
			})
		}
		if err := s.Await(ctx, demoAgents...); err != nil {
			return err
		}
		return f.say(sys, demoRuns{URL: s.About.URL, Pin: string(s.About.Pin), Welcome: s.Welcome, Data: data, Agents: demoAgents, Lab: network.name()})
	}
	if err := begin(); err != nil {
		stop(err)
	}
	work.Wait()
	if err := context.Cause(ctx); measure.KindOf(err) != measure.KindInterrupted && !errors.Is(err, context.Canceled) {
		return err
	}
	return nil // by a person
}

// token is a file with a token by which the agents join.
func (f *demoFlags) token(ctx context.Context, sys *cli.System, s *service.Service, data string) (string, error) {
	own := asking{hub: s.About.URL, pin: string(s.About.Pin), tokenFile: s.AdminToken}
	c, err := own.client(sys)
	if err != nil {
		return "", err
	}
	var token web.Token
	if err := c.ask(ctx, "POST", "/api/v1/tokens", web.TokenOrder{Uses: len(demoAgents)}, &token); err != nil {
		return "", err
	}
	file := filepath.Join(data, "join-token")
	if err := sys.WriteFile(file, []byte(token.Secret), 0o600); err != nil {
		return "", measure.Fail(measure.KindStore, "hub.folder", measure.Figures{"folder": data, "cause": err})
	}
	return file, nil
}

func (f *demoFlags) say(sys *cli.System, runs demoRuns) error {
	if f.json {
		return printJSON(sys, runs)
	}
	lines := []string{
		sys.Catalogue.Sentence("hub.demo", text.Args{"URL": runs.URL}),
		sys.Catalogue.Sentence("hub.demo.pin", text.Args{"Pin": runs.Pin}),
	}
	if runs.Welcome != "" {
		lines = append(lines, sys.Catalogue.Sentence("hub.demo.welcome", text.Args{"Welcome": runs.Welcome}))
	}
	return say(sys, strings.Join(append(lines,
		sys.Catalogue.Sentence("hub.demo.agents", text.Args{"Agents": runs.Agents, "Lab": runs.Lab}),
		sys.Catalogue.Sentence("hub.demo.end", text.Args{"Data": f.data}),
	), "\n"))
}

// folder is where the demo keeps its files, for their owner alone. clean removes a temporary one.
func (f *demoFlags) folder(sys *cli.System) (dir string, clean func() error, err error) {
	clean = func() error { return nil }
	if f.data != "" {
		if dir, err = filepath.Abs(f.data); err == nil {
			err = sys.MkdirAll(dir, 0o700)
		}
	} else if dir, err = os.MkdirTemp("", "soku-hub-demo-"); err == nil {
		clean = func() error { return os.RemoveAll(dir) }
	}
	if err != nil {
		return "", nil, measure.Fail(measure.KindStore, "hub.folder", measure.Figures{"folder": f.data, "cause": err})
	}
	return dir, clean, nil
}

// network builds the emulated network where that is possible. Its name has the port of the hub, which
// one process has at a time: what a demo left that was killed is removed.
func (f *demoFlags) network(ctx context.Context, sys *cli.System, port string) (*demoHosts, error) {
	self, err := sys.Executable()
	if err != nil {
		return nil, measure.Fail(measure.KindInternal, "agent.self", measure.Figures{"cause": err})
	}
	d := &demoHosts{sys: sys, self: self}
	if f.loopback || !sys.Root {
		return d, nil
	}
	t, err := lab.Parse("demo.yaml", fmt.Appendf(nil, "lab: hub-demo-%s\n%s", port, demoNetwork))
	if err != nil {
		return nil, err
	}
	d.lab, err = lab.Up(ctx, t, lab.Options{RunDir: lab.RunDir(sys.Getenv), Executable: self, Owner: "soku-hub demo"})
	switch {
	case measure.KindOf(err) == measure.KindPermission: // in a container, or not Linux
		_, err = fmt.Fprintln(sys.Stderr, sys.Catalogue.Sentence("hub.demo.no_lab", text.Args{"Cause": err}))
		return d, err
	case err != nil:
		return nil, err
	}
	for _, host := range demoAgents {
		l, err := d.lab.Listen(ctx, host, net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			return nil, errors.Join(err, d.close(context.WithoutCancel(ctx)))
		}
		d.listeners = append(d.listeners, l)
	}
	return d, nil
}

package lab

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
)

// ServerPort is where the servers of a lab listen, TCP and UDP.
const ServerPort = 7658

// Up builds the lab and starts its servers. If it fails, or ctx ends before it is done, it
// removes everything that it created. A lab that exists already is an error of kind usage;
// without root the kind is permission.
func Up(ctx context.Context, t *Topology, o Options) (*Lab, error) {
	l := &Lab{Topology: t, Dir: o.dir(t.Name), options: o}
	if os.Geteuid() != 0 {
		return nil, measure.Fail(measure.KindPermission, "lab.build.needs_root", measure.Figures{"lab": t.Name})
	}
	if o.Owner != "" {
		if s, err := readState(l.Dir); err == nil && s.Owner == o.Owner {
			if err := Down(ctx, t.Name, o); err != nil {
				return nil, err
			}
		}
	}
	if err := l.claim(); err != nil {
		return nil, err
	}
	err := l.build(ctx)
	if err == nil {
		return l, nil
	}
	left := remove(context.WithoutCancel(ctx), t.Name, o)
	l.collect()
	if cause := context.Cause(ctx); cause != nil {
		return nil, measure.AsError(cause, measure.KindInterrupted)
	}
	failures := []error{fail("lab.build", measure.Figures{"lab": t.Name, "cause": err})}
	for _, err := range left {
		failures = append(failures, fail("lab.remove_built", measure.Figures{"lab": t.Name, "cause": err}))
	}
	return nil, errors.Join(failures...)
}

// claim creates the state folder, which only one lab of a name can do.
func (l *Lab) claim() error {
	t := l.Topology
	if err := os.MkdirAll(filepath.Dir(l.Dir), 0o755); err != nil {
		return fail("lab.make_folder", measure.Figures{"lab": t.Name, "cause": err})
	}
	taken := measure.Fail(measure.KindUsage, "lab.up_already", measure.Figures{"lab": t.Name})
	if s, err := readState(l.Dir); err == nil && s.Owner != "" {
		taken = measure.Fail(measure.KindUsage, "lab.up_for", measure.Figures{"lab": t.Name, "owner": s.Owner})
	}
	names, err := namespacesOf(t.Name)
	if err != nil {
		return fail("lab.look_for", measure.Figures{"lab": t.Name, "cause": err})
	}
	if len(names) > 0 {
		return taken
	}
	if err := os.Mkdir(l.Dir, 0o755); errors.Is(err, os.ErrExist) {
		return taken
	} else if err != nil {
		return fail("lab.make_folder", measure.Figures{"lab": t.Name, "cause": err})
	}
	if err := os.RemoveAll(l.options.disks(t.Name)); err != nil { // what a restart of the machine left
		return fail("lab.make_folder", measure.Figures{"lab": t.Name, "cause": err})
	}
	l.state = state{Schema: stateSchema, Name: t.Name, Owner: l.options.Owner, File: t.File, Topology: string(t.Source), StartedAt: time.Now().UTC()}
	for _, n := range t.Nodes {
		l.state.Namespaces = append(l.state.Namespaces, NamespaceName(t.Name, n.Name))
	}
	return nil
}

func (o Options) say(step string, figures measure.Figures) {
	if o.Progress != nil {
		o.Progress(step, figures)
	}
}

// builder of one lab: the open namespaces, one per node, and the files of the delay line.
type assembly struct {
	lab       *Lab
	spaces    []*space
	lineFiles []*os.File
}

func (l *Lab) build(ctx context.Context) error {
	a := &assembly{lab: l}
	defer a.close()
	steps := []struct {
		name string
		do   func(context.Context) error
	}{
		{"state", func(context.Context) error { return l.save() }},
		{"nodes", a.nodes},
		{"disks", a.disks},
		{"links", a.links},
		{"routes", a.routes},
		{"rules", a.rules},
		{"delay line", a.delayLine},
		{"servers", a.servers},
	}
	for _, s := range steps {
		if l.options.before != nil {
			if err := l.options.before(s.name); err != nil {
				return err
			}
		}
		if err := cmp.Or(s.do(ctx), ctx.Err()); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.Complete = true
	return l.save()
}

func (a *assembly) close() {
	for _, s := range a.spaces {
		s.close()
	}
	for _, f := range a.lineFiles {
		f.Close()
	}
}

// baseline are the settings that every node gets before its devices, so that the devices
// inherit them. A node's own sysctl entries are written later and override them.
var baseline = []Sysctl{
	{"net.ipv6.conf.default.addr_gen_mode", "1"}, // no link-local addresses: both ends have one hardware address
	{"net.ipv6.conf.default.accept_ra", "0"},
	{"net.ipv4.conf.all.rp_filter", "0"}, // answers may return over another equal-cost path
	{"net.ipv4.conf.default.rp_filter", "0"},
	{"net.ipv4.fib_multipath_hash_policy", "1"}, // by addresses and ports
	{"net.ipv6.fib_multipath_hash_policy", "1"},
	{"net.ipv4.tcp_no_metrics_save", "1"}, // a trial must not use TCP metrics of the previous one
	{"net.ipv4.ping_group_range", "0 2147483647"},
}

func (a *assembly) nodes(ctx context.Context) error {
	t := a.lab.Topology
	a.lab.options.say("nodes", measure.Figures{"N": len(t.Nodes)})
	for _, n := range t.Nodes {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := createNamespace(NamespaceName(t.Name, n.Name)); err != nil {
			return fail("lab.build_node", measure.Figures{"node": n.Name, "cause": err})
		}
		s, err := openSpace(t.Name, n)
		if err != nil {
			return err
		}
		a.spaces = append(a.spaces, s)
		forward := "0"
		if n.Router {
			forward = "1"
		}
		all := append([]Sysctl{{"net.ipv4.ip_forward", forward}, {"net.ipv6.conf.all.forwarding", forward}}, baseline...)
		if !t.hasIPv6() { // otherwise every device sends multicast reports for a while
			all = append(all, Sysctl{"net.ipv6.conf.default.disable_ipv6", "1"})
		}
		if err := setSysctls(s, append(all, n.Sysctl...)); err != nil {
			return fail("lab.build_node", measure.Figures{"node": n.Name, "cause": err})
		}
		if err := ownAddresses(s); err != nil {
			return fail("lab.build_node", measure.Figures{"node": n.Name, "cause": err})
		}
	}
	return nil
}

// hasIPv6 reports whether any node has an IPv6 address.
func (t *Topology) hasIPv6() bool {
	return slices.ContainsFunc(t.Nodes, func(n *Node) bool {
		return slices.ContainsFunc(t.Addresses(n.Name), func(a Address) bool { return a.Addr.Is6() })
	})
}

const congestionKey = "net.ipv4.tcp_congestion_control"

// setSysctls writes under /proc/sys, which shows a thread its own namespace.
func setSysctls(s *space, settings []Sysctl) error {
	return inside(s.name, func() error {
		for _, c := range settings {
			path := "/proc/sys/" + strings.ReplaceAll(c.Key, ".", "/")
			err := os.WriteFile(path, []byte(c.Value), 0)
			if errors.Is(err, os.ErrNotExist) && strings.HasPrefix(c.Key, "net.ipv6.") {
				continue // a kernel without IPv6
			}
			if errors.Is(err, os.ErrPermission) && c.Key == congestionKey {
				return congestionNotAllowed(c.Value)
			}
			if err != nil {
				return fail("lab.node.sysctl", measure.Figures{"sysctl": c.Key, "value": c.Value, "cause": err})
			}
		}
		return nil
	})
}

// congestionNotAllowed is the error of a default congestion control that the kernel refuses
// to a namespace, even for root. A socket of root may still select it.
func congestionNotAllowed(name string) error {
	allowed, _ := os.ReadFile("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
	return measure.Fail(measure.KindPermission, "lab.congestion_not_allowed", measure.Figures{
		"sysctl": congestionKey, "congestion": name, "allowed": strings.TrimSpace(string(allowed)),
	})
}

func ownAddresses(s *space) error {
	lo, err := s.nl.LinkByName("lo")
	if err != nil {
		return err
	}
	if err := s.nl.LinkSetUp(lo); err != nil {
		return fail("lab.link.up", measure.Figures{"interface": "lo", "cause": err})
	}
	for _, a := range s.node.Own {
		if err := addAddress(s, lo, a.Addr, a.Addr.BitLen()); err != nil {
			return fail("lab.link.address", measure.Figures{"address": a.Addr.String(), "interface": "lo", "cause": err})
		}
	}
	return nil
}

func (a *assembly) ends(l *Link) [2]*space {
	return [2]*space{a.spaces[l.Ends[0].Node.index], a.spaces[l.Ends[1].Node.index]}
}

func (a *assembly) links(ctx context.Context) error {
	t := a.lab.Topology
	a.lab.options.say("links", measure.Figures{"N": len(t.Links)})
	for _, l := range t.Links {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := a.link(ctx, l); err != nil {
			return fail("lab.build_link", measure.Figures{"link": l.Name, "cause": err})
		}
	}
	return nil
}

func (a *assembly) link(ctx context.Context, l *Link) error {
	at := a.ends(l)
	if l.delayed() {
		for e := range l.Ends {
			tap, err := openTap(at[e], l.Ends[e].Iface, !l.perPacket(e))
			if err != nil {
				return err
			}
			a.lineFiles = append(a.lineFiles, tap)
			stamps, err := openStamps(at[e], l.Ends[e].Iface)
			if err != nil {
				return err
			}
			a.lineFiles = append(a.lineFiles, stamps)
		}
		a.lab.addLines(l)
	} else if err := addVeth(l, at); err != nil {
		return err
	}
	for e := range l.Ends {
		if err := setUp(l, e, at[e]); err != nil {
			return err
		}
		if err := shape(l, e, at[e]); err != nil {
			return err
		}
	}
	return awaitCarrier(ctx, l, at[0])
}

func (a *assembly) routes(context.Context) error {
	for _, s := range a.spaces {
		if err := addRoutes(a.lab.Topology, s); err != nil {
			return fail("lab.build_node", measure.Figures{"node": s.node.Name, "cause": err})
		}
	}
	return nil
}

func (a *assembly) rules(context.Context) error {
	for _, s := range a.spaces {
		if err := addRules(a.lab.Topology, s); err != nil {
			return err
		}
	}
	return nil
}

func (a *assembly) servers(ctx context.Context) error {
	for _, n := range a.lab.Topology.Nodes {
		if !n.Server {
			continue
		}
		a.lab.options.say("server", measure.Figures{"node": n.Name})
		program := a.lab.options.Executable
		argv := []string{"lab", "enter", NamespaceName(a.lab.Topology.Name, n.Name), "--", program, "server", "--max-duration", "0"}
		if folder := a.lab.DiskFolder(n.Name); folder != "" {
			argv = append(argv, "--copy-max", "0", "--copy-root", folder)
		}
		cmd := exec.CommandContext(context.WithoutCancel(ctx), program, argv...)
		if err := a.lab.start(roleServer, n.Name, cmd); err != nil {
			return fail("lab.start_server", measure.Figures{"node": n.Name, "cause": err})
		}
	}
	for _, n := range a.lab.Topology.Nodes {
		if n.Server {
			if err := a.lab.awaitServer(ctx, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// serverTimeout is how long a server may take until it listens.
const serverTimeout = 10 * time.Second

// awaitServer returns when the server of a node accepts connections.
func (l *Lab) awaitServer(ctx context.Context, n *Node) error {
	var p process
	l.mu.Lock()
	for _, q := range l.state.Processes {
		if q.Node == n.Name && q.Role == roleServer {
			p = q
		}
	}
	l.mu.Unlock()
	logfile := filepath.Join(l.Dir, "server-"+n.Name+".log")
	for deadline := time.Now().Add(serverTimeout); ; {
		if inside(NamespaceName(l.Topology.Name, n.Name), dialSelf) == nil {
			return nil
		}
		if !p.alive() {
			return measure.Fail(measure.KindInternal, "lab.server_ended", measure.Figures{"node": n.Name, "last_line": lastLine(logfile)})
		}
		if time.Now().After(deadline) {
			return measure.Fail(measure.KindInternal, "lab.server_silent", measure.Figures{"node": n.Name, "port": ServerPort, "log": logfile})
		}
		if !sock.Pause(ctx, 20*time.Millisecond) {
			return ctx.Err()
		}
	}
}

// lastLine returns the last line of a program's log, or an empty string if there is none.
func lastLine(path string) string {
	data, _ := os.ReadFile(path)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	return lines[len(lines)-1]
}

func dialSelf() error {
	// A socket belongs to the namespace of the thread that creates it; this form of
	// dialling creates it on the calling thread.
	addr := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: ServerPort}
	c, err := net.DialTCP("tcp4", nil, addr)
	if err == nil {
		c.Close()
	}
	return err
}

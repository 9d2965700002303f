package truth

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/test/built"
)

const cutPath = `
hosts:
  client: {disk: }
  server: {server: true, disk: }
routers:
  gateway:
links: [{from: client, to: gateway}, {from: gateway, to: server, rate: 100M}]
`

// copied copies 8 MiB in a direction, calls cut when the sink has the first MiB of it and
// uncut after a while, and returns the result of the copy, all of whose files were verified.
func copied(t *testing.T, l *lab.Lab, direction string, cut, uncut func(), after time.Duration) *measure.Result {
	t.Helper()
	sink := l.DiskFolder(map[string]string{"forward": "server", "reverse": "client"}[direction])
	addr, err := l.Topology.Address("server", "")
	if err != nil {
		t.Fatal(err)
	}
	cmd := l.Command(t.Context(), "client", built.Program(t), "copy", addr.String(), "--json", "--no-save", "--disk", l.DiskFolder("client"),
		"--direction", direction, "-P", "2", "--files", "4", "--file-size", "2Mi", "--sync", "off")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for size := int64(0); size < 1<<20; time.Sleep(time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(sink, ".soku-copy-*", "all", "0", "0"))
		for _, f := range files {
			if info, err := os.Stat(f); err == nil {
				size = info.Size()
			}
		}
		select {
		case err := <-ended:
			t.Fatalf("the copy ended before its connections were cut: %v %s", err, errs.String())
		default:
		}
	}
	cut()
	time.Sleep(after)
	uncut()
	if err := <-ended; err != nil {
		t.Fatalf("%s: %v %s", direction, err, errs.String())
	}
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Copy.Verified != 4 || r.Summary.ReceivedBytes != 8<<20 {
		t.Errorf("%s: %d files verified, %d bytes", direction, r.Copy.Verified, r.Summary.ReceivedBytes)
	}
	for _, host := range []string{"client", "server"} {
		if left, err := os.ReadDir(l.DiskFolder(host)); err != nil || len(left) > 0 {
			t.Errorf("the copy left %v on %s, %v", left, host, err)
		}
	}
	return &r
}

// in runs f with the namespace of a node.
func in(t *testing.T, l *lab.Lab, node string, f func(ns netns.NsHandle) error) {
	t.Helper()
	if err := f(namespaceOf(t, l, node)); err != nil {
		t.Fatal(err)
	}
}

// gateway returns what sets the links of the router down or up.
func gateway(t *testing.T, l *lab.Lab, how func(*netlink.Handle, netlink.Link) error) func() {
	return func() {
		in(t, l, "gateway", func(ns netns.NsHandle) error {
			h, err := netlink.NewHandleAt(ns)
			if err != nil {
				return err
			}
			defer h.Close()
			links, err := h.LinkList()
			if err != nil {
				return err
			}
			for _, link := range links {
				if link.Attrs().Flags&unix.IFF_LOOPBACK == 0 {
					if err := how(h, link); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
}

// resets returns what makes the router answer packets of TCP that match with a reset, and what
// ends that.
func resets(t *testing.T, l *lab.Lab, match ...expr.Any) (begin, end func()) {
	rules := func(f func(c *nftables.Conn, table *nftables.Table)) func() {
		return func() {
			in(t, l, "gateway", func(ns netns.NsHandle) error {
				c, err := nftables.New(nftables.WithNetNSFd(int(ns)))
				if err != nil {
					return err
				}
				f(c, &nftables.Table{Family: nftables.TableFamilyIPv4, Name: "resets"})
				return c.Flush()
			})
		}
	}
	all := append([]expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
	}, match...)
	return rules(func(c *nftables.Conn, table *nftables.Table) {
		c.AddTable(table)
		chain := c.AddChain(&nftables.Chain{Name: "forward", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: append(all, &expr.Reject{Type: unix.NFT_REJECT_TCP_RST})})
	}), rules(func(c *nftables.Conn, table *nftables.Table) { c.DelTable(table) })
}

// Control and data have one path. Their packets are sent again when it is back. Links of a
// host would lose their default route with it.
func TestACopyOutlivesAPathThatIsDownForASecond(t *testing.T) {
	t.Parallel()
	l := network(t, cutPath)
	r := copied(t, l, "forward", gateway(t, l, (*netlink.Handle).LinkSetDown), gateway(t, l, (*netlink.Handle).LinkSetUp), time.Second)
	if r.Summary.DurationNs < measure.Duration(time.Second) {
		t.Errorf("took %v; the time of the cut is in it", r.Summary.DurationNs)
	}
}

// Both ends give all connections up before the path is back.
func TestACopyOutlivesAPathThatIsDownForLongerThanItsConnections(t *testing.T) {
	t.Parallel()
	l := network(t, cutPath)
	const down = 10500 * time.Millisecond
	r := copied(t, l, "forward", gateway(t, l, (*netlink.Handle).LinkSetDown), gateway(t, l, (*netlink.Handle).LinkSetUp), down)
	if len(r.Copy.Cuts) < 2 || len(r.Findings.With(finding.ControlCut)) != 1 || r.Copy.CutNs(measure.StageAll) < int64(down-time.Second) {
		t.Errorf("cuts %+v, findings %+v", r.Copy.Cuts, r.Findings)
	}
	t.Logf("%v, cut for %v, %+v, %+v", r.Summary.DurationNs, time.Duration(r.Copy.CutNs(measure.StageAll)), r.Copy.Cuts, r.Findings.With(finding.ControlCut))
}

// A gateway that has lost its state answers every packet of both ends with a reset. Who sends
// nothing learns of it by its probes.
func TestACopyGoesOnWhenAGatewayResetsAllConnections(t *testing.T) {
	t.Parallel()
	l := network(t, cutPath)
	begin, end := resets(t, l)
	r := copied(t, l, "forward", begin, end, 300*time.Millisecond)
	if len(r.Copy.Cuts) < 2 || len(r.Findings.With(finding.CopyCut)) != 1 || len(r.Findings.With(finding.ControlCut)) != 1 {
		t.Errorf("cuts %+v, findings %+v", r.Copy.Cuts, r.Findings)
	}
	t.Logf("%v, cut for %v, %+v, %+v", r.Summary.DurationNs, time.Duration(r.Copy.CutNs(measure.StageAll)), r.Copy.Cuts, r.Findings.With(finding.ControlCut))
}

// A firewall answers full packets of the client or of the server with a reset: those of the
// data connections. Only the end that sent them learns of it.
func TestACopyGoesOnWhenAFirewallResetsItsConnections(t *testing.T) {
	t.Parallel()
	l := network(t, cutPath)
	for direction, portAt := range map[string]uint32{"forward": 2, "reverse": 0} {
		begin, end := resets(t, l,
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: portAt, Len: 2},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binary.BigEndian.AppendUint16(nil, 7658)},
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: 2, Len: 2}, // length of the packet
			&expr.Cmp{Op: expr.CmpOpGt, Register: 1, Data: binary.BigEndian.AppendUint16(nil, 1300)},
		)
		r := copied(t, l, direction, begin, end, 300*time.Millisecond)
		if len(r.Copy.Cuts) < 2 || len(r.Findings.With(finding.CopyCut)) != 1 {
			t.Errorf("%s: cuts %+v, findings %+v", direction, r.Copy.Cuts, r.Findings)
		}
		t.Logf("%s: %v, cut for %v, %+v", direction, r.Summary.DurationNs, time.Duration(r.Copy.CutNs(measure.StageAll)), r.Copy.Cuts)
	}
}

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"soku/internal/lab"
)

// gateway is the router that limits packets, connections or flows, and server the link on
// which it does so.
const gateway, server = "gateway", "server"

// traffic runs soku on a host of the lab: "TEST HOST FLAGS", where HOST is a node. It begins
// before the trial, and is stopped after it.
func traffic(from, command string) disturbance {
	return func(ctx context.Context, l *lab.Lab, program string) (func(), error) {
		words := strings.Fields(command)
		addr, err := l.Topology.Address(words[1], "")
		if err != nil {
			return nil, err
		}
		words[1] = addr.String()
		ctx, cancel := context.WithCancel(ctx)
		cmd := l.Command(ctx, from, append(append([]string{program}, words...), "-t", "30", "--no-save", "--json-stream")...)
		out, err := cmd.StdoutPipe()
		if err != nil {
			cancel()
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			cancel()
			return nil, err
		}
		first := make(chan error, 1)
		go func() {
			_, err := out.Read(make([]byte, 1)) // an interval: it moves packets
			first <- err
			_, _ = io.Copy(io.Discard, out)
		}()
		stop := func() { cancel(); _ = cmd.Wait() }
		select {
		case err = <-first:
		case <-time.After(10 * time.Second):
			err = context.DeadlineExceeded
		}
		if err != nil {
			stop()
			return nil, fmt.Errorf("%s: %w", command, err)
		}
		return stop, nil
	}
}

// spinning runs processes that keep a processor busy.
func spinning(processes int) disturbance {
	return func(ctx context.Context, _ *lab.Lab, _ string) (func(), error) {
		ctx, cancel := context.WithCancel(ctx)
		var all []*exec.Cmd
		for range processes {
			cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
			cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
			if err := cmd.Start(); err != nil {
				cancel()
				return nil, err
			}
			all = append(all, cmd)
		}
		return func() {
			cancel()
			for _, cmd := range all {
				_ = cmd.Wait()
			}
		}, nil
	}
}

// rules adds nftables rules to what the gateway forwards. They end with the lab.
func rules(l *lab.Lab, list ...[]expr.Any) error {
	ns, err := netns.GetFromName(lab.NamespaceName(l.Topology.Name, gateway))
	if err != nil {
		return err
	}
	defer ns.Close()
	c, err := nftables.New(nftables.WithNetNSFd(int(ns)))
	if err != nil {
		return err
	}
	table := c.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "limits"})
	chain := c.AddChain(&nftables.Chain{Name: "forward", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityMangle})
	for _, r := range list {
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: r})
	}
	return c.Flush()
}

func beyond(perSecond float64) []expr.Any {
	return []expr.Any{
		&expr.Limit{Type: expr.LimitTypePkts, Rate: uint64(perSecond), Unit: expr.LimitTimeSecond, Burst: uint32(max(perSecond/20, 16)), Over: true},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}
}

// packetLimit limits the packets of any size that pass to the server in a second.
func packetLimit(perSecond float64) disturbance {
	return func(_ context.Context, l *lab.Lab, _ string) (func(), error) {
		device := toServer(l)
		name := make([]byte, unix.IFNAMSIZ)
		copy(name, device)
		return func() {}, rules(l, append([]expr.Any{
			&expr.Meta{Key: expr.MetaKeyOIFNAME, Register: 1},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: name},
		}, beyond(perSecond)...))
	}
}

// connectionLimit limits the SYNs that pass in a second.
func connectionLimit(perSecond float64) disturbance {
	return func(_ context.Context, l *lab.Lab, _ string) (func(), error) {
		return func() {}, rules(l, append([]expr.Any{
			&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 13, Len: 1}, // flags
			&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 1, Mask: []byte{0x12}, Xor: []byte{0}},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{0x02}}, // SYN without ACK
		}, beyond(perSecond)...))
	}
}

// flows is how many flows have a class of their own; later ones begin again with the first.
const flows = 32

// flowLimit gives each flow to the server a shaper of its own on the gateway: nftables numbers
// connections, and the number chooses the class of htb.
func flowLimit(bps float64) disturbance {
	return func(_ context.Context, l *lab.Lab, _ string) (func(), error) {
		ns, err := netns.GetFromName(lab.NamespaceName(l.Topology.Name, gateway))
		if err != nil {
			return nil, err
		}
		defer ns.Close()
		h, err := netlink.NewHandleAt(ns, unix.NETLINK_ROUTE)
		if err != nil {
			return nil, err
		}
		defer h.Close()
		dev, err := h.LinkByName(toServer(l))
		if err != nil {
			return nil, err
		}
		index := dev.Attrs().Index
		if err := h.QdiscAdd(netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT})); err != nil {
			return nil, err
		}
		for i := range uint16(flows) {
			class := netlink.MakeHandle(1, 0x10+i)
			burst := uint32(max(bps/8*0.004, 6000))
			err := h.ClassAdd(netlink.NewHtbClass(
				netlink.ClassAttrs{LinkIndex: index, Handle: class, Parent: netlink.MakeHandle(1, 0)},
				netlink.HtbClassAttrs{Rate: uint64(bps), Ceil: uint64(bps), Buffer: burst, Cbuffer: burst, Quantum: 60000}))
			if err != nil {
				return nil, err
			}
			err = h.QdiscAdd(&netlink.Tbf{
				QdiscAttrs: netlink.QdiscAttrs{LinkIndex: index, Handle: netlink.MakeHandle(0x10+i, 0), Parent: class},
				Rate:       200e9 / 8, Limit: uint32(max(bps/8*0.04, 40000)), Buffer: netlink.Xmittime(200e9/8, 16<<20),
			})
			if err != nil {
				return nil, err
			}
		}
		word := func(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }
		return func() {}, rules(l,
			[]expr.Any{
				&expr.Ct{Register: 1, Key: expr.CtKeySTATE},
				&expr.Bitwise{SourceRegister: 1, DestRegister: 1, Len: 4, Mask: word(expr.CtStateBitNEW), Xor: word(0)},
				&expr.Cmp{Op: expr.CmpOpNeq, Register: 1, Data: word(0)},
				&expr.Numgen{Register: 1, Modulus: flows, Type: unix.NFT_NG_INCREMENTAL, Offset: netlink.MakeHandle(1, 0x10)},
				&expr.Ct{Register: 1, SourceRegister: true, Key: expr.CtKeyMARK},
			},
			[]expr.Any{
				&expr.Ct{Register: 1, Key: expr.CtKeyMARK},
				&expr.Meta{Key: expr.MetaKeyPRIORITY, SourceRegister: true, Register: 1},
			})
	}
}

// toServer is the gateway's device on the link to the server.
func toServer(l *lab.Lab) string {
	for _, k := range l.Topology.Links {
		for e := range k.Ends {
			if k.Ends[e].Node.Name == gateway && k.Ends[1-e].Node.Name == server {
				return k.Ends[e].Iface
			}
		}
	}
	return ""
}

package truth

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"soku/internal/doctor"
	"soku/internal/lab"
	"soku/internal/measure"
	"soku/test/built"
)

// guarded has a server behind a router that drops TCP 9000, and a link that carries less than others.
const guarded = `
hosts:
  client:
  server: {server: true}
routers:
  r1: {firewall: {block: [tcp/9000]}}
  r2:
links:
  - {from: client, to: r1, delay: 1ms}
  - {from: r1, to: r2}
  - {from: r2, to: server, mtu: 1400}
`

func TestDoctorFindsWhatIsWrongOnAPath(t *testing.T) {
	t.Parallel()
	l := network(t, guarded)
	server := target(t, l, false)
	drop(t, l, "r2", false, 3, 4)
	prohibit(t, l, "r1", 9001)
	for name, c := range map[string]struct {
		host, code, key, want string
		ends                  int
	}{
		"black hole": {server, "path_mtu", "limit", measure.LimitBlackHole, 3},
		"filtered":   {server + ":9000", "port", "trouble", "filtered", 2},
		"prohibited": {server + ":9001", "port", "trouble", "prohibited", 2},
		"refused":    {server + ":9002", "port", "trouble", "refused", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := examine(t, l, c.host)
			if len(d.Ends) != c.ends {
				t.Fatalf("%d ends: %+v", len(d.Ends), d.Ends)
			}
			for _, f := range d.Ends[1].Findings {
				if f.Code == c.code && f.Figures[c.key] == c.want && f.Severity == doctor.Problem && f.Confidence == measure.High {
					return
				}
			}
			t.Errorf("found %+v, not looked at %v", d.Ends[1].Findings, d.Ends[1].NotLooked)
		})
	}
}

// examine runs soku doctor on the client.
func examine(t *testing.T, l *lab.Lab, host string) (d doctor.Document) {
	t.Helper()
	cmd := l.Command(t.Context(), "client", built.Program(t), "doctor", host, "--json")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	failed := cmd.Run()
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatalf("%v, %v: %s", failed, err, errs.String())
	}
	return d
}

// prohibit has a router refuse what goes to a TCP port by an ICMP error (administratively prohibited).
func prohibit(t *testing.T, l *lab.Lab, node string, port uint16) {
	t.Helper()
	ns := namespaceOf(t, l, node)
	c, err := nftables.New(nftables.WithNetNSFd(int(ns)))
	if err != nil {
		t.Fatal(err)
	}
	table := c.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: "prohibit"})
	chain := c.AddChain(&nftables.Chain{Name: "forward", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
	c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 2, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binary.BigEndian.AppendUint16(nil, port)},
		&expr.Reject{Type: unix.NFT_REJECT_ICMPX_UNREACH, Code: unix.NFT_REJECT_ICMPX_ADMIN_PROHIBITED},
	}})
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
}

package truth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"soku/internal/lab"
	"soku/internal/measure"
	"soku/test/built"
)

// Tests of routes mostly wait for answers that do not come, each in a network of its
// own: they run concurrently, after those that measure rates and times.

// Nodes have the kernel's own limits on ICMP errors: over IPv4 a burst of six to a host and then
// one a second.

// chain is a path of three routers.
const chain = `
ipv6: true
hosts:
  client:
  server:
routers:
  r1:
  r2:
  r3:
links:
  - {from: client, to: r1}
  - {from: r1, to: r2, delay: 5ms}
  - {from: r2, to: r3, OPTIONS}
  - {from: r3, to: server}
`

// target is the address of the server in one family.
func target(t *testing.T, l *lab.Lab, v6 bool) string {
	t.Helper()
	return addressOf(t, l, "server", v6, 0)
}

// addressOf is the i-th address of a node in a family, in the order of its links.
func addressOf(t *testing.T, l *lab.Lab, node string, v6 bool, i int) string {
	t.Helper()
	for _, a := range l.Topology.Addresses(node) {
		if a.Addr.Is6() == v6 {
			if i == 0 {
				return a.Addr.String()
			}
			i--
		}
	}
	t.Fatalf("%s has no such address", node)
	return ""
}

// probe runs trace or mtu from the client; with user, as a user without privileges.
func probe(t *testing.T, l *lab.Lab, user bool, test, to string, flags ...string) (*measure.Result, string) {
	t.Helper()
	args := append([]string{built.Program(t), test, to, "--json", "--no-save"}, flags...)
	if user {
		args = asUser(t, args)
	}
	return decode(t, l, args)
}

// asUser makes a command one of a user without privileges.
func asUser(t *testing.T, args []string) []string {
	t.Helper()
	// Only root can read the folder of the program.
	if err := os.Chmod(filepath.Dir(built.Program(t)), 0o755); err != nil {
		t.Fatal(err)
	}
	home := "SOKU_DATA=" + filepath.Join(os.TempDir(), "none")
	return append([]string{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "env", home}, args...)
}

// drop has a node drop its own ICMP messages of this type and code.
func drop(t *testing.T, l *lab.Lab, node string, v6 bool, typ, code byte) {
	t.Helper()
	ns := namespaceOf(t, l, node)
	c, err := nftables.New(nftables.WithNetNSFd(int(ns)))
	if err != nil {
		t.Fatal(err)
	}
	protocol := byte(unix.IPPROTO_ICMP)
	if v6 {
		protocol = unix.IPPROTO_ICMPV6
	}
	table := c.AddTable(&nftables.Table{Family: nftables.TableFamilyINet, Name: fmt.Sprintf("silence-%d-%d", protocol, typ)})
	chain := c.AddChain(&nftables.Chain{Name: "output", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookOutput, Priority: nftables.ChainPriorityFilter})
	c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{protocol}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: 0, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{typ, code}},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}})
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
}

// decode runs a command on the client and reads the result that it prints, whatever its exit
// status.
func decode(t *testing.T, l *lab.Lab, args []string) (*measure.Result, string) {
	t.Helper()
	r, text, err := found(t.Context(), l, args)
	if err != nil {
		t.Fatal(err)
	}
	return r, text
}

// errNoPath is a result without a route and a path MTU.
var errNoPath = errors.New("no route and no path MTU in the result")

// found runs a command on the client and reads the result that it prints.
func found(ctx context.Context, l *lab.Lab, args []string) (*measure.Result, string, error) {
	cmd := l.Command(ctx, "client", args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	// The command dies with the thread that starts it, and labs of other tests discard threads.
	runtime.LockOSThread()
	failed := cmd.Run()
	runtime.UnlockOSThread()
	var r measure.Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		return nil, "", fmt.Errorf("%v: %w: %s", args, errors.Join(failed, err), errs.String())
	}
	if r.Trace == nil && r.PathMTU == nil {
		return nil, "", fmt.Errorf("%v: %w: %s", args, errors.Join(failed, errNoPath), errs.String())
	}
	return &r, errs.String(), nil
}

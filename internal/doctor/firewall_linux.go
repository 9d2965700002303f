package doctor

import (
	"bytes"
	"encoding/binary"
	"os"
	"slices"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

// mostChains bounds whose rules are counted.
const mostChains = 1000

// readFirewall counts the rules in the network namespace of the calling thread; nil and a reason
// where they cannot be read.
func readFirewall(port int) (*Firewall, Reason) {
	c, err := nftables.New()
	if err != nil {
		return nil, rightsOr(err)
	}
	tables, err := c.ListTables()
	if err != nil {
		return nil, rightsOr(err)
	}
	f := &Firewall{Tables: len(tables), Legacy: legacyTables()}
	chains, err := c.ListChains()
	if err != nil {
		return nil, rightsOr(err)
	}
	f.Chains = len(chains)
	for _, chain := range chains[:min(len(chains), mostChains)] {
		rules, err := c.GetRules(chain.Table, chain)
		if err != nil {
			return nil, rightsOr(err)
		}
		f.Rules += len(rules)
		for _, r := range rules {
			if port > 0 && comparesPort(r.Exprs, port) {
				f.Port++
			}
		}
	}
	return f, ""
}

// legacyTables returns the tables of iptables in kernels that have it in addition to nftables.
func legacyTables() []string {
	all := []string{}
	for _, file := range []string{"/proc/net/ip_tables_names", "/proc/net/ip6_tables_names"} {
		b, _ := os.ReadFile(file)
		for _, name := range strings.Fields(string(b)) {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// comparesPort reports whether a rule compares the destination port of TCP or UDP, bytes 2 and 3 of
// the header, with this one, or with a range that it is in.
func comparesPort(rule []expr.Any, port int) bool {
	want, loaded := binary.BigEndian.AppendUint16(nil, uint16(port)), false
	for _, e := range rule {
		switch e := e.(type) {
		case *expr.Payload:
			loaded = e.Base == expr.PayloadBaseTransportHeader && e.Offset == 2 && e.Len == 2
		case *expr.Cmp:
			if loaded && bytes.Equal(e.Data, want) {
				return true
			}
		case *expr.Range:
			if loaded && bytes.Compare(e.FromData, want) <= 0 && bytes.Compare(want, e.ToData) <= 0 {
				return true
			}
		}
	}
	return false
}

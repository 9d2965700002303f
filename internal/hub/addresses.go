package hub

import (
	"cmp"
	"net/netip"
	"slices"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// mostAddresses is how many addresses of an agent are tried.
const mostAddresses = 4

// Addresses are those by which a client may reach an agent, the best first, at most [mostAddresses]: what its owner announced, then
// interfaces in a network of the client, then those of a family that both have. The client is one or empty. An error has kind
// not_found or usage, or unreachable for an agent that is away and was not heard since the hub started.
func (c Campaigns) Addresses(client, name string) ([]string, error) {
	a, err := c.hub.Agents.Find(name)
	if err == nil && len(a.Hello.Addresses) == 0 {
		kind := measure.KindNotFound
		if a.State == Away {
			kind = measure.KindUnreachable
		}
		err = measure.Fail(kind, "hub.agent.no_address", measure.Figures{"agent": a.Name})
	}
	if err != nil {
		return nil, err
	}
	from, _ := c.hub.Agents.Find(client) // of one that is not known only the order is lost
	var out []string
	for _, address := range inOrder(a.Hello.Addresses, from.Hello.Addresses) {
		out = append(out, address.Address)
	}
	return out[:min(len(out), mostAddresses)], nil
}

// inOrder are the addresses of an agent, the best for a client with the other addresses first.
func inOrder(all, client []fleet.Address) []fleet.Address {
	networks, families := map[netip.Prefix]bool{}, map[bool]bool{}
	for _, a := range client {
		if addr, err := netip.ParseAddr(a.Address); err == nil {
			families[addr.Is4()] = true
			networks[networkOf(a)] = true
		}
	}
	rank := func(a fleet.Address) int {
		addr, err := netip.ParseAddr(a.Address)
		network := networkOf(a)
		switch {
		case a.Asked:
			return 0
		case network.IsValid() && networks[network]:
			return 1
		case err != nil || families[addr.Is4()]:
			return 2
		}
		return 3
	}
	return slices.SortedStableFunc(slices.Values(all), func(a, b fleet.Address) int { return cmp.Compare(rank(a), rank(b)) })
}

// networkOf is the network of an interface, or not valid.
func networkOf(a fleet.Address) netip.Prefix {
	addr, err := netip.ParseAddr(a.Address)
	if err != nil || a.Bits <= 0 || a.Bits >= addr.BitLen() {
		return netip.Prefix{}
	}
	return netip.PrefixFrom(addr.WithZone(""), a.Bits).Masked()
}

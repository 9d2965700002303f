package probe

import (
	"errors"
	"net/netip"
	"syscall"

	"soku/internal/measure"
)

// SendError explains why the system refused to send to target.
func SendError(what string, target netip.Addr, err error) error {
	switch {
	case errors.Is(err, syscall.EMSGSIZE):
		return measure.Errorf(measure.KindUsage, "%s %s: the packet is longer than the interface carries: %w", what, target, err).WithHint("use a smaller --size")
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return measure.Errorf(measure.KindPermission, "%s %s: the system forbids sending to it: %w", what, target, err).
			WithHint("a broadcast address or a local firewall rule; see: nft list ruleset")
	}
	return measure.Errorf(measure.KindUnreachable, "%s %s: %w", what, target, err).WithHint("check the address and the routes to it: ip route get %s", target)
}

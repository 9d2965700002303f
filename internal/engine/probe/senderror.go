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
		return measure.Fail(measure.KindUsage, "probe.too_long", measure.Figures{"test": what, "target": target.String(), "cause": err})
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		return measure.Fail(measure.KindPermission, "probe.forbidden", measure.Figures{
			"test": what, "target": target.String(), "cause": err,
		})
	}
	return measure.Fail(measure.KindUnreachable, "probe.send", measure.Figures{
		"test": what, "target": target.String(), "cause": err,
	})
}

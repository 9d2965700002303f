package lab

import (
	"context"
	"net"
)

// Listen opens a TCP listener of this process on a host of the lab, at an address such as 127.0.0.1:7660. The
// caller closes it before the lab goes down.
func (l *Lab) Listen(ctx context.Context, host, address string) (listener net.Listener, err error) {
	err = inside(NamespaceName(l.Topology.Name, host), func() (err error) {
		listener, err = new(net.ListenConfig).Listen(ctx, "tcp", address) // a literal address: nothing is resolved by another thread
		return err
	})
	return listener, err
}

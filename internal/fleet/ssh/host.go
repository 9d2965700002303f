package ssh

import "context"

// Host is a host that is prepared when it is needed, and again when its connection was lost.
// It is safe for concurrent use.
type Host struct {
	client  Client
	order   Order
	turn    chan struct{} // held while session is used
	session *Session      // nil: none yet
}

// NewHost returns a host on which nothing was done yet.
func NewHost(c Client, o Order) *Host {
	return &Host{client: c, order: o, turn: make(chan struct{}, 1)}
}

// Session returns the host's session; it opens one where there is none or the connection was
// lost. The error is that of [Open], or the cause of ctx.
func (h *Host) Session(ctx context.Context) (*Session, error) {
	select {
	case h.turn <- struct{}{}:
		defer func() { <-h.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if h.session != nil {
		select {
		case <-h.session.Done():
			h.session.Close()
			h.session = nil
		default:
			return h.session, nil
		}
	}
	s, err := Open(ctx, h.client, h.order)
	if err != nil {
		return nil, err
	}
	h.session = s
	return s, nil
}

// Close ends the session, if there is one.
func (h *Host) Close() {
	h.turn <- struct{}{}
	defer func() { <-h.turn }()
	if h.session != nil {
		h.session.Close()
		h.session = nil
	}
}

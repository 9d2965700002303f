package native

import (
	"context"
	"net/http"

	"soku/internal/wire"
)

// Ask asks a server what it serves. It creates no session and takes at most as long as opening a
// connection and [Silence]. Of the request it uses how to connect, the token and TLS. Errors are
// those of [Open].
func Ask(ctx context.Context, addr string, r wire.Request) (Info, error) {
	var info Info
	c := control{addr: addr, options: r.Options, token: r.Token, tls: r.TLS}
	err := c.once(ctx, http.MethodGet, InfoPath, nil, &info)
	return info, err
}

// AskQueue asks a server which sessions measure and wait, as [Ask] does.
func AskQueue(ctx context.Context, addr string, r wire.Request) (Queue, error) {
	var queue Queue
	c := control{addr: addr, options: r.Options, token: r.Token, tls: r.TLS}
	err := c.once(ctx, http.MethodGet, QueuePath, nil, &queue)
	return queue, err
}

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
	return ask[Info](ctx, addr, r, InfoPath)
}

// AskQueue asks a server which sessions measure and wait, as [Ask] does.
func AskQueue(ctx context.Context, addr string, r wire.Request) (Queue, error) {
	return ask[Queue](ctx, addr, r, QueuePath)
}

func ask[T any](ctx context.Context, addr string, r wire.Request, path string) (answer T, err error) {
	c := control{addr: addr, options: r.Options, token: r.Token, tls: r.TLS}
	err = c.once(ctx, http.MethodGet, path, nil, &answer)
	return answer, err
}

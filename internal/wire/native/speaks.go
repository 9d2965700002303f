package native

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"soku/internal/measure"
	"soku/internal/sock"
	"soku/internal/wire"
)

// speaksTimeout is how long a soku server may take to answer.
const speaksTimeout = 1500 * time.Millisecond

// Speaks reports whether a soku server of any version answers at addr ("host:port").
// It requests only the server's name, and waits at most 1.5 s for it. It fails if the
// connection cannot be opened.
func Speaks(ctx context.Context, addr string, o measure.Options) (bool, error) {
	c, err := sock.Dialer(o).DialContext(ctx, "tcp", addr)
	if err != nil {
		return false, explainDial(ctx, "tcp", addr, err)
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	_ = c.SetDeadline(time.Now().Add(speaksTimeout))
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", InfoPath, addr); err != nil {
		return false, wire.Ended(ctx)
	}
	answer, err := http.ReadResponse(bufio.NewReader(io.LimitReader(c, MaxHeader)), nil)
	if err != nil {
		return false, wire.Ended(ctx)
	}
	_ = answer.Body.Close()
	return answer.Header.Get(ProtocolHeader) != "", nil
}

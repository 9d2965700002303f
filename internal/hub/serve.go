package hub

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
)

// serveFor is how long an agent runs a server that is not ended, such as of a hub that was killed.
const serveFor = 26 * time.Hour

// Serve has an agent run a server, which is entered with its token. An agent of the version before takes no grant: its server
// has no certificate, and serves all who have the token. end ends the server and must be called;
// it takes at most as long as an answer. An error is that of the agent, or has kind unreachable if it does not answer.
func (h *Hub) Serve(ctx context.Context, agent string, s endpoint.Server) (at endpoint.Listening, end func(), err error) {
	name := rand.Text()
	end = sync.OnceFunc(func() {
		if err := h.command(h.ctx, agent, fleet.DownServe, fleet.Serve{Name: name}); err != nil {
			h.cfg.Log.Warn("a server was not ended", "agent", agent, "cause", err)
		}
	})
	served, err := ask[fleet.Served](ctx, h, agent, fleet.DownServe, fleet.Serve{Name: name, Server: &s, Until: time.Now().Add(serveFor)})
	if err == nil && served.Error != nil {
		err = served.Error
	}
	if err == nil && (served.Port < 1 || served.Port > 65535) {
		err = measure.Fail(measure.KindFile, "hub.serve.port", measure.Figures{"port": served.Port, "agent": h.Agents.name(agent)})
	}
	if err != nil {
		end() // it may run all the same
		return at, nil, err
	}
	return served.Listening, end, nil
}

package web

import (
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/text"
)

// Wait is for whom a hub waits that does not serve.
type Wait struct {
	Since time.Time
	Hub   string    // that waits
	For   string    // hub that serves; empty: the one that waits takes its place now
	URL   string    // of the hub that serves; empty: not known
	Until time.Time // when its lease is over, unless it says again that it serves
}

// askAgain is after how many seconds a hub that waits is asked again.
const askAgain = 5

// NewWaiting returns the handler of a hub that waits for its turn: every answer is that it does not serve now, to programs as an
// error and to people as a page. of is called for each page. An error is a defect of the program's own templates.
func NewWaiting(words *text.Catalogue, log *slog.Logger, of func() Wait) (http.Handler, error) {
	mux := http.NewServeMux()
	p, err := Config{Text: words, Log: log}.load(mux)
	if err != nil {
		return nil, err
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", strconv.Itoa(askAgain))
		now := of()
		if strings.HasPrefix(r.URL.Path, "/api/") || r.URL.Path == fleet.PathNATS {
			fail(w, measure.Fail(measure.KindUnreachable, "web.waits", measure.Figures{"hub": now.For, "url": now.URL}), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Refresh", strconv.Itoa(askAgain))
		p.show(w, http.StatusServiceUnavailable, "waiting", view{Title: p.Text.Sentence("web.waiting.title", nil), Page: now})
	})
	return secured(mux), nil
}

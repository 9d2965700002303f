package daemon

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nkeys"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// DefaultPort is the port of a hub's HTTPS server.
const DefaultPort = "7660"

// ParseHub is the address of a hub as people write it, with the scheme and the port that they left
// out. Several, separated by commas, are of hubs of which one serves at a time. An error has kind usage.
func ParseHub(text string) (string, error) {
	var all []string
	for one := range strings.SplitSeq(text, ",") {
		url, err := parseHub(strings.TrimSpace(one))
		if err != nil {
			return "", err
		}
		all = append(all, url)
	}
	return strings.Join(all, addressSeparator), nil
}

const addressSeparator = ","

func parseHub(text string) (string, error) {
	if !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
		return "", measure.Fail(measure.KindUsage, "daemon.hub.address", measure.Figures{"address": text, "port": DefaultPort})
	}
	if u.Port() == "" {
		u.Host += ":" + DefaultPort
	}
	return "https://" + u.Host, nil
}

// hub is the HTTPS server of a hub. It is safe for concurrent use.
type hub struct {
	urls   []string     // of hubs of which one serves
	at     atomic.Int32 // the one that answered last
	key    nkeys.KeyPair
	id     string
	client *http.Client
	clock  func(hub, own time.Time) // gets both clocks at each nonce
}

// Times of requests.
const (
	httpTimeout   = 30 * time.Second
	uploadTimeout = 10 * time.Minute
)

func newHub(url string, pin fleet.Pin, s *state, clock func(hub, own time.Time)) *hub {
	return &hub{urls: strings.Split(url, addressSeparator), key: s.key, id: s.id, clock: clock, client: &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, TLSClientConfig: pin.Client(), TLSHandshakeTimeout: 10 * time.Second,
			ResponseHeaderTimeout: httpTimeout, IdleConnTimeout: 10 * time.Second, MaxResponseHeaderBytes: fleet.MaxState,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// url is that of the hub that answered last.
func (h *hub) url() string { return h.urls[h.at.Load()] }

func (h *hub) close() { h.client.CloseIdleConnections() }

// signed fetches a nonce from the first hub that answers, and returns it with its signature.
func (h *hub) signed(ctx context.Context) (nonce, signature string, err error) {
	var before time.Time
	var n fleet.Nonce
	for range h.urls {
		before = time.Now()
		if n, err = post[fleet.Nonce](ctx, h, fleet.PathNonce, nil); measure.KindOf(err) != measure.KindUnreachable || ctx.Err() != nil {
			break
		}
		h.at.Store((h.at.Load() + 1) % int32(len(h.urls)))
	}
	if err != nil {
		return "", "", err
	}
	h.clock(time.Unix(0, n.UnixNs), before.Add(time.Since(before)/2))
	raw, err := h.key.Sign(fleet.ToSign(n.Nonce))
	return n.Nonce, base64.RawURLEncoding.EncodeToString(raw), err
}

// join asks for admission; the members of j that prove the identity are filled in.
func (h *hub) join(ctx context.Context, j fleet.Join) (_ fleet.Joined, err error) {
	if j.Nonce, j.Signature, err = h.signed(ctx); err != nil {
		return fleet.Joined{}, err
	}
	j.Agent = h.id
	return joined(post[fleet.Joined](ctx, h, fleet.PathJoin, j))
}

// renew asks for the permission again.
func (h *hub) renew(ctx context.Context) (fleet.Joined, error) {
	nonce, signature, err := h.signed(ctx)
	if err != nil {
		return fleet.Joined{}, err
	}
	return joined(post[fleet.Joined](ctx, h, fleet.PathRenew, fleet.Renew{Agent: h.id, Nonce: nonce, Signature: signature}))
}

// joined checks that an admission can be used.
func joined(j fleet.Joined, err error) (fleet.Joined, error) {
	if err == nil && (j.JWT == "" || len(j.NATS) == 0) {
		err = measure.Fail(measure.KindUnreachable, "daemon.hub.other", measure.Figures{"status": http.StatusOK})
	}
	return j, err
}

// send posts a document of size bytes.
func (h *hub) send(ctx context.Context, result, sum string, document io.Reader, size int64) (fleet.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, uploadTimeout)
	defer cancel()
	nonce, signature, err := h.signed(ctx)
	if err != nil {
		return fleet.Receipt{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url()+fleet.PathResults, document)
	if err != nil {
		return fleet.Receipt{}, err
	}
	r.ContentLength = size
	r.Header.Set("Content-Type", "application/zstd")
	for key, value := range map[string]string{
		fleet.HeaderAgent: h.id, fleet.HeaderNonce: nonce, fleet.HeaderSignature: signature,
		fleet.HeaderResult: result, fleet.HeaderSHA256: sum,
	} {
		r.Header.Set(key, value)
	}
	return do[fleet.Receipt](h, r)
}

// post sends v as JSON, or nothing for nil, and reads the answer.
func post[T any](ctx context.Context, h *hub, path string, v any) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, httpTimeout)
	defer cancel()
	var zero T
	body := []byte{}
	if v != nil {
		var err error
		if body, err = json.Marshal(v); err != nil {
			return zero, err
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url()+path, bytes.NewReader(body))
	if err != nil {
		return zero, err
	}
	r.Header.Set("Content-Type", "application/json")
	return do[T](h, r)
}

// do sends a request and reads the answer. A hub that refuses is an error of kind refused; one
// that does not answer, or answers what no hub does, of kind unreachable.
func do[T any](h *hub, r *http.Request) (T, error) {
	var zero T
	answer, err := h.client.Do(r)
	if err != nil {
		return zero, h.unreachable(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, fleet.MaxState+1))
	if err != nil {
		return zero, h.unreachable(err)
	}
	if answer.StatusCode < http.StatusBadRequest {
		v, err := fleet.Decode[T](body, fleet.MaxState)
		if err != nil {
			return zero, measure.Fail(measure.KindUnreachable, "daemon.hub.other", measure.Figures{"status": answer.StatusCode}).WithCause(err)
		}
		return v, nil
	}
	failed, err := fleet.Decode[fleet.Answer](body, fleet.MaxState)
	if err != nil || failed.Error == nil || failed.Error.Message == "" && failed.Error.Code == "" {
		return zero, measure.Fail(measure.KindUnreachable, "daemon.hub.other", measure.Figures{"status": answer.StatusCode})
	}
	if answer.StatusCode >= http.StatusInternalServerError || slices.Contains(passing, answer.StatusCode) {
		return zero, measure.Fail(measure.KindUnreachable, "daemon.hub.busy", measure.Figures{"cause": failed.Error})
	}
	refused := measure.Fail(measure.KindRefused, "daemon.hub.refused", measure.Figures{"cause": failed.Error})
	if refused.Hint == "" {
		refused = refused.WithHintCode("daemon.join_again", nil)
	}
	return zero, refused
}

// passing are statuses below 500 of failures that pass.
var passing = []int{http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests}

// unreachable is the failure of a request that got no answer: of kind refused if the hub is not the
// one that it has to be.
func (h *hub) unreachable(err error) error {
	var known *measure.Error
	if errors.As(err, &known) { // of the pin
		return known
	}
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) {
		return measure.Fail(measure.KindRefused, "daemon.hub.certificate", measure.Figures{"hub": h.url(), "cause": certificate.Err})
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return measure.Fail(measure.KindUnreachable, "daemon.hub.unreachable", measure.Figures{"hub": h.url(), "cause": err})
}

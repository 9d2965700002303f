package hubcli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"soku/internal/cli"
	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/web"
)

// aboutFile is where a hub that serves says to commands on its host how it is reached.
const aboutFile = "hub.json"

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 64 << 20

// asking are the flags of a command that asks a hub.
type asking struct {
	hub, pin, tokenFile, folder string
	json                        bool
}

func (f *asking) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.hub, "hub", "", "URL of the hub (default SOKU_HUB, or the hub that runs on this host)")
	flags.StringVar(&f.pin, "pin", "", "SHA-256 of the hub's certificate (default SOKU_HUB_PIN)")
	flags.StringVar(&f.tokenFile, "token-file", "", "file with a token of the hub (default SOKU_HUB_TOKEN, or admin-token in the folder of the hub)")
	flags.StringVar(&f.folder, "folder", "", "folder of the hub that runs on this host (default hub in the data folder, SOKU_DATA)")
	flags.BoolVar(&f.json, "json", false, "print JSON")
}

// client asks a hub over HTTPS.
type client struct {
	base  string
	token string
	http  *http.Client
}

// client is how the hub of the flags is asked.
func (f *asking) client(sys *cli.System) (*client, error) {
	base, pin := cmp.Or(f.hub, sys.Getenv("SOKU_HUB")), cmp.Or(f.pin, sys.Getenv("SOKU_HUB_PIN"))
	token := strings.TrimSpace(sys.Getenv("SOKU_HUB_TOKEN"))
	if base == "" {
		about, err := f.ofThisHost(sys)
		if err != nil {
			return nil, err
		}
		base, pin = about.URL, cmp.Or(pin, string(about.Pin))
	}
	if pin != "" {
		parsed, err := fleet.ParsePin(pin)
		if err != nil {
			return nil, err
		}
		pin = string(parsed)
	}
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return nil, measure.Fail(measure.KindUsage, "hubcli.url", measure.Figures{"url": base})
	}
	if f.tokenFile != "" || token == "" {
		file := cmp.Or(f.tokenFile, filepath.Join(folder(sys, f.folder), "admin-token"))
		text, err := sys.ReadFile(file)
		if err != nil {
			return nil, measure.Fail(measure.KindFile, "hubcli.token", measure.Figures{"cause": err})
		}
		token = strings.TrimSpace(string(text))
	}
	return &client{base: strings.TrimRight(base, "/"), token: token, http: &http.Client{
		Timeout:       longestAsk,
		Transport:     &http.Transport{TLSClientConfig: fleet.Pin(pin).Client(), Proxy: http.ProxyFromEnvironment},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func (f *asking) ofThisHost(sys *cli.System) (about web.About, err error) {
	file := filepath.Join(folder(sys, f.folder), aboutFile)
	text, err := sys.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return about, measure.Fail(measure.KindUnreachable, "hubcli.no_hub", measure.Figures{"file": file})
	}
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	if err != nil {
		return about, measure.Fail(measure.KindFile, "hubcli.about", measure.Figures{"file": file, "cause": err})
	}
	return about, nil
}

// ask sends a request and reads the answer, unless that is nil. body is JSON, or bytes as they are, or nil.
func (c *client) ask(ctx context.Context, method, path string, body, answer any) error {
	var sent io.Reader
	switch b := body.(type) {
	case nil:
	case []byte:
		sent = bytes.NewReader(b)
	default:
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, sent)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+c.token)
	got, err := c.http.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return measure.Fail(measure.KindUnreachable, "hubcli.ask", measure.Figures{"url": c.base, "cause": errors.Unwrap(err)})
	}
	defer got.Body.Close()
	text, err := io.ReadAll(io.LimitReader(got.Body, maxAnswer))
	if err != nil {
		return measure.Fail(measure.KindUnreachable, "hubcli.ask", measure.Figures{"url": c.base, "cause": err})
	}
	if got.StatusCode >= http.StatusBadRequest {
		var failure struct {
			Error *measure.Error `json:"error"`
		}
		if json.Unmarshal(text, &failure) != nil || failure.Error == nil {
			return measure.Fail(measure.KindBroken, "hubcli.answer", measure.Figures{"url": c.base, "status": got.Status})
		}
		printable.Strings(failure.Error, maxText)
		return failure.Error
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(text, answer); err != nil {
		return measure.Fail(measure.KindBroken, "hubcli.answer", measure.Figures{"url": c.base, "status": err.Error()})
	}
	printable.Strings(answer, maxText)
	return nil
}

const (
	maxText    = 4 << 10          // characters of a text in an answer
	askedWait  = 40 * time.Second // for an answer: a state may be waited for
	longestAsk = 5 * time.Minute  // for the answer to a start: hosts are checked before the first trial
)

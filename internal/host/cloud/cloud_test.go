package cloud

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/measure"
)

// recording is what a service answers to the requests that it should get, made by the
// documentation of each: no other path is known to it, and without the header it refuses.
type recording struct {
	Header       map[string]string `json:"header"`
	AnswerHeader map[string]string `json:"answer_header"`
	Token        *struct{ Path, Header, Value string }
	Answers      map[string]string `json:"answers"`

	mu    sync.Mutex
	asked []string
}

func load(t *testing.T, provider string) *recording {
	t.Helper()
	data, err := os.ReadFile("testdata/" + provider + ".json")
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{}
	if err := json.Unmarshal(data, r); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *recording) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	r.mu.Lock()
	r.asked = append(r.asked, q.Method+" "+q.URL.String())
	r.mu.Unlock()
	for name, value := range r.AnswerHeader {
		w.Header().Set(name, value)
	}
	if t := r.Token; t != nil && q.Method == http.MethodPut && q.URL.Path == t.Path && q.Header.Get(t.Header) != "" {
		_, _ = w.Write([]byte(t.Value))
		return
	}
	for name, value := range r.Header {
		if q.Header.Get(name) != value {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
	}
	text, ok := r.Answers[q.URL.String()]
	if !ok || q.Method != http.MethodGet {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	_, _ = w.Write([]byte(text))
}

func serve(t *testing.T, h http.Handler) (address string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// answers are what the recordings say.
var answers = map[string]Answer{
	Azure: {Cloud: measure.Cloud{
		Provider: Azure, InstanceType: "Standard_D8s_v5", InstanceID: "02aab8a4-74ef-476e-8182-f6d2ba4166a6",
		Region: "westeurope", Zone: "2", PhysicalZone: "westeurope-az3", Placement: "f67c14ab-e92c-408c-ae2d-da15866ec79a",
	}},
	AWS: {Cloud: measure.Cloud{
		Provider: AWS, InstanceType: "c6in.4xlarge", InstanceID: "i-0abcdef1234567890",
		Region: "us-east-1", Zone: "us-east-1a", PhysicalZone: "use1-az6", Placement: "spread-1/3",
	}},
	GCP: {Cloud: measure.Cloud{
		Provider: GCP, InstanceType: "c3-standard-8", InstanceID: "4520031799277581759",
		Region: "europe-west4", Zone: "europe-west4-b", Placement: "/CLUSTER/RACK/HOST",
	}},
	Akamai: {Cloud: measure.Cloud{
		Provider: Akamai, InstanceType: "g6-dedicated-8", InstanceID: "12345678", Region: "us-iad",
		Placement: "a631b16d14534d84e2830da16d1b28a1d08d24df",
	}},
	OpenStack: {
		Cloud:  measure.Cloud{Provider: OpenStack, InstanceType: "m1.large", InstanceID: "i-00000a2c", Zone: "nova"},
		Direct: map[string]bool{"fa:16:3e:aa:bb:cc": false, "fa:16:3e:00:00:01": true},
	},
}

func TestEachServiceSaysWhatTheMachineIs(t *testing.T) {
	for provider, want := range answers {
		t.Run(provider, func(t *testing.T) {
			r := load(t, provider)
			if got := Ask(t.Context(), provider, serve(t, r)); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
			most := 8
			if provider == Azure {
				most = 5 // a second
			}
			if len(r.asked) > most {
				t.Errorf("%d requests", len(r.asked))
			}
			for _, asked := range r.asked {
				for _, secret := range []string{"user", "identity", "credential", "security", "keys", "custom", "meta_data.json", "service-accounts", "recursive"} {
					if strings.Contains(strings.ToLower(asked), secret) {
						t.Errorf("asked for %s", asked)
					}
				}
			}
		})
	}
}

func TestAServiceThatHangsTakesNoLongerThanTheLimit(t *testing.T) {
	for provider := range services {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0") // the kernel accepts, no server answers
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			ctx, cancel := context.WithTimeout(t.Context(), 20*askTime)
			defer cancel()
			got := Ask(ctx, provider, l.Addr().String())
			if ctx.Err() != nil {
				t.Error("it waited for the caller's limit instead of its own")
			}
			got.Direct = nil
			if want := (Answer{Cloud: measure.Cloud{Provider: provider}}); !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestHostileServicesSayNothing(t *testing.T) {
	long := func(text string) []byte { return []byte(text + strings.Repeat(" ", mostBytes)) }
	for name, h := range map[string]http.HandlerFunc{
		"refuses": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"too long": func(w http.ResponseWriter, q *http.Request) {
			w.Header().Set("Metadata-Flavor", "Google")
			switch {
			case q.Method == http.MethodPut:
				_, _ = w.Write([]byte("token"))
			case strings.HasSuffix(q.URL.Path, "/compute"), strings.HasSuffix(q.URL.Path, "/instance"):
				_, _ = w.Write(long(`{"vmSize":"m1","type":"m1"}`))
			default:
				_, _ = w.Write(long("m1"))
			}
		},
		"a portal": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>log in</html>")) },
		"control characters": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Metadata-Flavor", "Google")
			_, _ = w.Write([]byte("m\x1b]0;evil\x07"))
		},
		"several lines": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Metadata-Flavor", "Google")
			_, _ = w.Write([]byte("m1\nm2"))
		},
		"goes on for ever": func(w http.ResponseWriter, q *http.Request) {
			for q.Context().Err() == nil {
				if _, err := w.Write([]byte("a")); err != nil {
					return
				}
				_ = http.NewResponseController(w).Flush()
				time.Sleep(time.Millisecond)
			}
		},
		"a header without end": func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("a", 1<<20)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := serve(t, h)
			var work sync.WaitGroup
			defer work.Wait()
			for provider := range services {
				work.Go(func() {
					got := Ask(t.Context(), provider, address)
					if len(got.Direct) == 0 {
						got.Direct = nil
					}
					if want := (Answer{Cloud: measure.Cloud{Provider: provider}}); !reflect.DeepEqual(got, want) {
						t.Errorf("%s: got %+v", provider, got)
					}
				})
			}
		})
	}
}

func TestWhatDoesNotCallItselfGoogleIsNotAsked(t *testing.T) {
	var asked atomic.Int64
	got := Ask(t.Context(), GCP, serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("m1"))
	})))
	if want := (Answer{Cloud: measure.Cloud{Provider: GCP}}); !reflect.DeepEqual(got, want) || asked.Load() != 1 {
		t.Errorf("got %+v in %d requests", got, asked.Load())
	}
}

func TestAnEndlessAnswerIsNotReadToItsEnd(t *testing.T) {
	const buffers = 32 << 20 // of two sockets, and much more
	var written atomic.Int64
	done := make(chan struct{})
	address := serve(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		defer close(done)
		for chunk := bytes.Repeat([]byte(" "), 1<<16); written.Load() <= buffers; {
			n, err := w.Write(chunk)
			if written.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	c := newClient(address)
	if body := c.get(t.Context(), "/"); body != nil {
		t.Errorf("got %d bytes", len(body))
	}
	<-done
	if n := written.Load(); n > buffers {
		t.Errorf("%d bytes were taken", n)
	}
}

func TestNobodyIsFollowedElsewhere(t *testing.T) {
	elsewhere := load(t, Akamai)
	there := serve(t, elsewhere)
	here := serve(t, http.RedirectHandler("http://"+there+"/v1/token", http.StatusTemporaryRedirect))
	Ask(t.Context(), Akamai, here)
	if len(elsewhere.asked) != 0 {
		t.Errorf("asked elsewhere: %q", elsewhere.asked)
	}
}

func TestProxiesAreNotAsked(t *testing.T) {
	proxy := load(t, Azure)
	t.Setenv("HTTP_PROXY", "http://"+serve(t, proxy))
	t.Setenv("http_proxy", os.Getenv("HTTP_PROXY"))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	Ask(ctx, Azure, "192.0.2.1") // not local: a client that knows proxies would use one
	if len(proxy.asked) != 0 {
		t.Errorf("asked the proxy: %q", proxy.asked)
	}
}

func TestOnlyTheCloudOfTheFirmwareIsAsked(t *testing.T) {
	for _, c := range []struct {
		firmware Firmware
		want     string
	}{
		{Firmware{}, ""},
		{Firmware{Vendor: "Microsoft Corporation", Product: "Virtual Machine"}, ""}, // Hyper-V elsewhere
		{Firmware{Vendor: "Microsoft Corporation", Product: "Virtual Machine", AssetTag: AzureTag}, Azure},
		{Firmware{Vendor: "Amazon EC2", Product: "c6in.4xlarge"}, AWS},
		{Firmware{Vendor: "Xen", BIOS: "4.11.amazon"}, AWS},
		{Firmware{Vendor: "Xen", BIOS: "4.11"}, ""},
		{Firmware{Vendor: "Google", Product: "Google Compute Engine"}, GCP},
		{Firmware{Vendor: "Google", Product: "Pixelbook"}, ""},
		{Firmware{Vendor: "Linode"}, Akamai},
		{Firmware{Vendor: "Akamai"}, Akamai},
		{Firmware{Vendor: "OpenStack Foundation", Product: "OpenStack Nova"}, OpenStack},
		{Firmware{Vendor: "RDO", Product: "OpenStack Compute"}, OpenStack},
		{Firmware{AssetTag: "OpenTelekomCloud"}, OpenStack},
		{Firmware{Vendor: "QEMU", Product: "Standard PC"}, ""},
	} {
		if got := ProviderOf(c.firmware); got != c.want {
			t.Errorf("%+v: %q, want %q", c.firmware, got, c.want)
		}
	}
}

func TestOneProcessAsksOnce(t *testing.T) {
	r := load(t, Akamai)
	setting := Akamai + "@" + serve(t, r)
	m := NewMetadata()
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			if got := m.of(t.Context(), Firmware{}, setting); !reflect.DeepEqual(got, answers[Akamai]) {
				t.Errorf("got %+v", got)
			}
		})
	}
	work.Wait()
	m.at = m.at.Add(-2 * retryAfter)
	m.of(t.Context(), Firmware{}, setting)
	if want := []string{"PUT /v1/token", "GET /v1/instance"}; !slices.Equal(r.asked, want) {
		t.Errorf("asked %q", r.asked)
	}
}

func TestAServiceThatDoesNotAnswerIsAskedAgainAfterAMinute(t *testing.T) {
	r := load(t, Akamai)
	token := r.Token
	r.Token = nil
	setting := Akamai + "@" + serve(t, r)
	m := NewMetadata()
	m.of(t.Context(), Firmware{}, setting)
	m.of(t.Context(), Firmware{}, setting)
	if len(r.asked) != 1 {
		t.Errorf("at once: asked %q", r.asked)
	}
	r.Token, m.at = token, m.at.Add(-retryAfter)
	if got := m.of(t.Context(), Firmware{}, setting); !got.complete() {
		t.Errorf("later: got %+v", got)
	}
}

func TestTheSettingTakesTheFirmwaresPlace(t *testing.T) {
	r := load(t, Azure)
	address := serve(t, r)
	machine := Firmware{AssetTag: AzureTag}
	for setting, want := range map[string]Answer{
		"azure@" + address: answers[Azure],
		"off":              {},
		"elsewhere@x":      {},
	} {
		if got := NewMetadata().of(t.Context(), machine, setting); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v", setting, got)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	for provider := range services {
		data, err := os.ReadFile("testdata/" + provider + ".json")
		if err != nil {
			f.Fatal(err)
		}
		var r recording
		if err := json.Unmarshal(data, &r); err != nil {
			f.Fatal(err)
		}
		for _, text := range r.Answers {
			f.Add([]byte(text))
		}
	}
	f.Add([]byte(`{"id":-1e999,"type":{"type":[]},"links":[{},null],"vmSize":"` + strings.Repeat("v", 2*mostText) + `"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		texts := []string{word(string(body)), last(word(string(body)))}
		for _, c := range []measure.Cloud{azureInstance(body), akamaiInstance(body)} {
			texts = append(texts, c.InstanceType, c.InstanceID, c.Region, c.Zone, c.Placement)
		}
		links := openStackLinks(body)
		for address := range links {
			texts = append(texts, address)
		}
		for _, text := range texts {
			if len(text) > mostText || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%q is no word", text)
			}
		}
		if len(links) > mostLinks {
			t.Errorf("%d links", len(links))
		}
	})
}

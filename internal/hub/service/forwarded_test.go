package service

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestProxiesSayFromWhomARequestCame(t *testing.T) {
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/30"), netip.MustParsePrefix("::1/128")}
	for _, c := range []struct {
		name, peer string
		forwarded  []string
		want       string
	}{
		{"by a proxy", "10.0.0.1:4000", []string{"192.0.2.7"}, "192.0.2.7:0"},
		{"by a proxy, IPv6", "[::1]:4000", []string{"2001:db8::7"}, "[2001:db8::7]:0"},
		{"by two proxies", "10.0.0.1:4000", []string{"192.0.2.7, 10.0.0.2"}, "192.0.2.7:0"},
		{"by two proxies, a field each", "10.0.0.1:4000", []string{"192.0.2.7", "10.0.0.2"}, "192.0.2.7:0"},
		{"the client wrote another address", "10.0.0.1:4000", []string{"198.51.100.1, 192.0.2.7"}, "192.0.2.7:0"},
		{"the client is no proxy", "192.0.2.9:4000", []string{"192.0.2.7"}, "192.0.2.9:4000"},
		{"a proxy of its own accord", "10.0.0.1:4000", nil, "10.0.0.1:4000"},
		{"no address", "10.0.0.1:4000", []string{"192.0.2.7, unknown"}, "10.0.0.1:4000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			r.RemoteAddr, r.Header["X-Forwarded-For"] = c.peer, c.forwarded
			got := ""
			forwarded(proxies, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.RemoteAddr })).ServeHTTP(httptest.NewRecorder(), r)
			if got != c.want {
				t.Errorf("%s, not %s", got, c.want)
			}
		})
	}
}

package hubcli

import (
	"fmt"
	"strings"
	"testing"

	"soku/internal/measure"
)

func TestFlagsOfAHubBehindAProxy(t *testing.T) {
	pin := strings.Repeat("0a", 32)
	for _, c := range []struct {
		name, want string
		f          serveFlags
	}{
		{"none", " []", serveFlags{}},
		{"URL without a port", "https://hub.example.net:443 []", serveFlags{url: "https://hub.example.net/"}},
		{"URL with a port", "https://hub.example.net:7660 []", serveFlags{url: "https://hub.example.net:7660"}},
		{"IPv6", "https://[2001:db8::1]:443 []", serveFlags{url: "https://[2001:db8::1]"}},
		{"pin", "https://hub:1" + " " + pin + "[]", serveFlags{url: "https://hub:1", urlPin: strings.ToUpper(pin)}},
		{"proxies", " [10.0.0.2/32 10.1.0.0/16 ::1/128]", serveFlags{proxies: []string{"10.0.0.2", "10.1.2.3/16", "::1"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			address, pin, proxies, err := c.f.behind()
			if got := fmt.Sprintf("%s %s%v", address, pin, proxies); err != nil || got != c.want {
				t.Errorf("%q %v, not %q", got, err, c.want)
			}
		})
	}
	for name, f := range map[string]serveFlags{
		"http": {url: "http://hub"}, "a path": {url: "https://hub/soku"}, "a user": {url: "https://a@hub"}, "no host": {url: "https://"},
		"a short pin": {url: "https://hub", urlPin: "0a"}, "a pin of no URL": {urlPin: pin}, "a proxy's name": {proxies: []string{"proxy"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, _, err := f.behind(); measure.KindOf(err) != measure.KindUsage {
				t.Errorf("%v", err)
			}
		})
	}
}

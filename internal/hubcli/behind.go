package hubcli

import (
	"net"
	"net/netip"
	"net/url"
	"strings"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// behind reads the flags of a hub behind a reverse proxy. The URL has a port, because agents take
// another one than browsers for a URL without.
func (f *serveFlags) behind() (address string, pin fleet.Pin, proxies []netip.Prefix, err error) {
	if f.url != "" {
		u, err := url.Parse(f.url)
		if err != nil || u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.User != nil {
			return "", "", nil, measure.Fail(measure.KindUsage, "hubcli.url", measure.Figures{"url": f.url})
		}
		if address = "https://" + u.Host; u.Port() == "" {
			address = "https://" + net.JoinHostPort(u.Hostname(), "443")
		}
	}
	if f.urlPin != "" {
		if pin, err = fleet.ParsePin(f.urlPin); err != nil {
			return "", "", nil, err
		}
		if f.url == "" {
			return "", "", nil, measure.Fail(measure.KindUsage, "hubcli.url_pin", nil)
		}
	}
	for _, text := range f.proxies {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, err := netip.ParseAddr(text)
			if err != nil {
				return "", "", nil, measure.Fail(measure.KindUsage, "hubcli.proxy", measure.Figures{"proxy": text})
			}
			p = netip.PrefixFrom(a.WithZone(""), a.BitLen())
		}
		proxies = append(proxies, p.Masked())
	}
	return address, pin, proxies, nil
}

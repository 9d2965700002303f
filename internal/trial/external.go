package trial

import (
	"context"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"soku/internal/engine/connect"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/measure/option"
	"soku/internal/wire/native"
)

// external reads a host that is written as a URL, as the test of connections takes
// it: connections go to the port of the URL, and no server of ours is asked. Nothing
// is requested of what answers. A text that is no URL is returned as it is.
func external(text string, test measure.Test, o measure.Options) (string, measure.Options, error) {
	if !strings.Contains(text, "://") {
		return text, o, nil
	}
	if spec := option.SpecOf(test); spec == nil || !spec.Has("to_port") {
		return "", o, measure.Fail(measure.KindUsage, "trial.url", measure.Figures{"test": test, "url": text})
	}
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" {
		return "", o, measure.Fail(measure.KindUsage, "trial.url.syntax", measure.Figures{"url": text})
	}
	port := map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	switch {
	case u.Port() != "":
		port = u.Port()
	case port == "":
		return "", o, measure.Fail(measure.KindUsage, "trial.url.no_port", measure.Figures{"url": text, "scheme": u.Scheme, "host": u.Hostname()})
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 {
		return "", o, measure.Fail(measure.KindUsage, "trial.url.port", measure.Figures{"port": port, "url": text})
	}
	if asked := connect.OptionsOf(o).ToPort; asked != 0 && asked != n {
		return "", o, measure.Fail(measure.KindUsage, "trial.url.to_port", measure.Figures{"port": asked, "url": text})
	}
	measure.EditOwn(&o, func(own *connect.Options) { own.ToPort = n })
	return u.Hostname(), o, nil
}

// whoListens makes a test of connections to a port of its own that was written behind
// the host one of whatever listens there, unless that is a soku server: host:port is
// how any service is named. What only a soku server can do is left to one.
func whoListens(ctx context.Context, s Spec, t target, o measure.Options, r *measure.Result) (measure.Options, error) {
	own := connect.OptionsOf(o)
	ours := t.explicit == 0 || t.explicit == option.DefaultPort || o.Via != option.ViaSoku || own.ToPort != 0 ||
		o.Size > 0 || own.Entry != "auto" || s.Token != "" || s.TLS != nil
	if !option.SpecOf(s.Test).Has("to_port") || ours {
		return o, nil
	}
	at := netip.AddrPortFrom(t.addr, uint16(t.explicit))
	soku, err := native.Speaks(ctx, at.String(), o)
	if err != nil || soku {
		return o, err
	}
	asked := s.Options
	measure.EditOwn(&asked, func(own *connect.Options) { own.ToPort = t.explicit })
	o, err = option.Effective(asked, s.Test)
	if err == nil {
		r.Findings.Add(finding.NoSokuServer, "", measure.Figures{"address": at.String(), "connections_per_second": o.RequestRate})
	}
	return o, err
}

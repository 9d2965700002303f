package server

import (
	"sync"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
)

// GrantLasts is how long after a grant was made its session may begin. A trial that waits for others, or for the turn of its hosts, is
// no reason for more: the grant is made when both hosts are free, and the session begins before the trial waits for the
// instant at which all start.
const GrantLasts = time.Minute

// CodeGrantLate is the code of the error of a client that came later than [GrantLasts].
const CodeGrantLate = "server.grant.late"

// Grant is the permission for one session: its test, and the most that it may ask for. 0 does not limit.
type Grant struct {
	Test        measure.Test     `json:"test"`
	Duration    measure.Duration `json:"duration_ns,omitempty"` // omitted start included
	Bytes       int64            `json:"bytes,omitempty"`       // of payload
	Rate        measure.Rate     `json:"rate_bps,omitempty"`
	Requests    float64          `json:"requests_per_second,omitempty"`
	Connections int              `json:"connections,omitempty"`
}

// GrantFor is the grant for a session of these options and no more. An error has kind usage if they are none of the test.
func GrantFor(test measure.Test, o measure.Options) (Grant, error) {
	o, err := option.Effective(o, test)
	if err != nil {
		return Grant{}, err
	}
	g := Grant{Test: test, Rate: o.Rate, Requests: o.RequestRate, Connections: max(option.DataConnections(o, test), o.Streams)}
	spec := option.SpecOf(test)
	if length, known := spec.Length(o); known {
		g.Duration = length
	}
	if bytes, known := spec.Payload(o); known {
		g.Bytes = bytes
	}
	return g, nil
}

// exceeds is the first bound that a grant has beyond those of granted, or empty.
func (g Grant) exceeds(granted Grant) string {
	for _, b := range []struct {
		name        string
		asked, most float64
	}{
		{"duration", float64(g.Duration), float64(granted.Duration)},
		{"bytes", float64(g.Bytes), float64(granted.Bytes)},
		{"rate", float64(g.Rate), float64(granted.Rate)},
		{"requests", g.Requests, granted.Requests},
		{"connections", float64(g.Connections), float64(granted.Connections)},
	} {
		if b.most > 0 && (b.asked <= 0 || b.asked > b.most) {
			return b.name
		}
	}
	return ""
}

// WithGrant is the access of the one client that has the secret of a grant: for one session, which begins within [GrantLasts] from
// now. A session that is refused leaves the grant as it is. Later requests are those of the session.
func WithGrant(secret string, granted Grant, now func() time.Time) Access {
	proof, until := WithToken(secret), now().Add(GrantLasts)
	var mu sync.Mutex
	used := false
	return func(a Ask) *measure.Error {
		if err := proof(a); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		switch {
		case !used && now().After(until):
			return measure.Fail(measure.KindRefused, CodeGrantLate, measure.Figures{"limit_ns": GrantLasts})
		case a.Session == nil:
			return nil
		case used:
			return measure.Fail(measure.KindRefused, "server.grant.used", nil)
		case a.Session.Test != granted.Test:
			return measure.Fail(measure.KindRefused, "server.grant.test", measure.Figures{"test": a.Session.Test, "granted": granted.Test})
		}
		asked, err := GrantFor(a.Session.Test, a.Session.Options)
		if err != nil {
			return measure.AsError(err, measure.KindUsage)
		}
		if what := asked.exceeds(granted); what != "" {
			return measure.Fail(measure.KindRefused, "server.grant.more", measure.Figures{"what": what})
		}
		used = true
		return nil
	}
}

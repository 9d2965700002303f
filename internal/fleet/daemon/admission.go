package daemon

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"time"

	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/text"
)

// permit sees that there is a permission that the broker can take: it joins the hub, or renews the
// permission if that is due or now says so. A refusal is final, but for the first one: the hub may
// have begun again between its nonce and the answer to it.
func (d *daemon) permit(ctx context.Context, now bool) error {
	m := d.state.membership()
	if m.JWT != "" && !now && time.Now().Before(m.RenewAt) {
		return nil
	}
	var err error
	for range 2 {
		if err = d.permitOnce(ctx, m); err == nil {
			d.complaints.over("hub")
			return nil
		}
		if measure.KindOf(err) != measure.KindRefused {
			break
		}
		if !sleep(ctx, d.times.retry) {
			return err
		}
	}
	switch measure.KindOf(err) {
	case measure.KindRefused, measure.KindStore:
		return final{err}
	}
	if ctx.Err() == nil {
		d.complain("hub", err)
	}
	if m.JWT != "" && !now { // until the broker refuses it
		return nil
	}
	return err
}

// permitOnce renews the permission, also one that is lost, for which the key is enough; an agent that is not known to the hub,
// and has a token, joins.
func (d *daemon) permitOnce(ctx context.Context, m membership) error {
	if m.JWT != "" || d.state.lost {
		j, err := d.https.renew(ctx)
		if err == nil {
			return d.admitted(j, "")
		}
		if measure.KindOf(err) != measure.KindRefused || d.Token == "" || isPin(err) {
			return err
		}
	}
	j, err := d.https.join(ctx, fleet.Join{
		Token: d.Token, Name: d.name(), Platform: platform, Program: d.Version, Version: fleet.Version,
	})
	if err != nil {
		return err
	}
	return d.admitted(j, d.Catalogue.Sentence("daemon.joined", text.Args{"Hub": m.URL, "Name": d.name(), "Agent": d.state.id, "Labels": labels(j.Labels)}))
}

// isPin reports whether the error is that another server answered than the hub.
func isPin(err error) bool {
	var e *measure.Error
	return errors.As(err, &e) && e.Code != "daemon.hub.refused"
}

// admitted remembers a permission, and says the sentence if there is one.
func (d *daemon) admitted(j fleet.Joined, sentence string) error {
	m := d.state.membership()
	m.Hub, m.JWT, m.NATS, m.Labels, m.Certificates = j.Hub, j.JWT, j.NATS, j.Labels, j.Certificates
	m.RenewAt = time.Now().Add(renewAfter(j.JWT))
	if err := d.state.remember(m); err != nil {
		return err
	}
	if sentence != "" {
		d.say(sentence)
	}
	return nil
}

// platform is that of the program, as in linux/amd64.
const platform = runtime.GOOS + "/" + runtime.GOARCH

// name is what people call the agent.
func (d *daemon) name() string { return cmp.Or(d.state.membership().Name, d.Host) }

// labels are in order, as in site=berlin.
func labels(m map[string]string) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, key+"="+m[key])
	}
	return out
}

// compareClocks logs both clocks when they differ by more than [fleet.ClockOff]: certificates may seem
// invalid then.
func (d *daemon) compareClocks(hub, own time.Time) {
	if off := own.Sub(hub).Abs(); off > fleet.ClockOff {
		d.complaints.once("clock", "off", d.Catalogue.Sentence("daemon.clock", text.Args{
			"Own": own.UTC().Format(time.RFC3339), "Hub": hub.UTC().Format(time.RFC3339),
		}))
		return
	}
	d.complaints.over("clock")
}

package hub_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"soku/internal/fleet"
	"soku/internal/hub"
	"soku/internal/measure"
)

func TestAnAgentThatConnectsIsKnown(t *testing.T) {
	b := newBroker(t)
	h := b.hub(func(c *hub.Config) {
		c.Labels = func(string) map[string]string { return map[string]string{"zone": "west"} }
	})
	w := h.Agents.Watch()
	defer w.Stop()
	begin := time.Now()
	one := b.host(1, func(h *host) { h.name, h.ahead = "one\x1b[2J", time.Minute })
	if welcome := one.hello(); welcome.Hub != "the hub" || welcome.Version != fleet.Version || welcome.Error != nil || welcome.BeatNs != (silence/3).Nanoseconds() {
		t.Errorf("%+v", welcome)
	}
	compared := func() bool {
		a, err := h.Agents.Find(one.id)
		return err == nil && !a.ClockAt.Before(begin) && a.Clock.Offset != 0
	}
	until(t, "its clock is compared", w, compared)
	a, _ := h.Agents.Find(one.id[:8])
	if a.State != hub.Connected || strings.ContainsRune(a.Name, 0x1b) || a.Labels["zone"] != "west" || a.Hello.Platform != "linux/amd64" {
		t.Errorf("%+v", a)
	}
	if off := a.Clock.Offset - time.Minute; off.Abs() > a.Clock.Uncertainty+time.Millisecond {
		t.Errorf("offset %v ± %v", a.Clock.Offset, a.Clock.Uncertainty)
	}
}

func TestAnAgentGoesAwayAndComesBack(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	w := h.Agents.Watch()
	defer w.Stop()
	one := b.host(1, nil)
	state := func(want hub.State) func() bool {
		return func() bool { a, err := h.Agents.Find(one.id); return err == nil && a.State == want }
	}
	until(t, "it is connected", w, state(hub.Connected))
	one.close()
	until(t, "it is away", w, state(hub.Away))
	if changed := w.Changed(); len(changed) != 1 || changed[0].State != hub.Away {
		t.Errorf("%+v", changed)
	}
	one.publish(fleet.UpBeat, one.beat())
	until(t, "it is back", w, state(hub.Connected))
}

func TestTwoProcessesWithOneKeyAreToldToLeave(t *testing.T) {
	b := newBroker(t)
	h := b.hub(nil)
	w := h.Agents.Watch()
	defer w.Stop()
	first := b.host(1, nil)
	second := b.host(1, func(h *host) { h.instance = "second" })
	until(t, "it is a clone", w, func() bool {
		a, _ := h.Agents.Find(first.id)
		return a.State == hub.Cloned && a.Error != nil && a.Error.Code == "hub.agent.cloned"
	})
	for _, one := range []*host{first, second} {
		if why := one.toldToLeave(); why == nil || why.Code != "hub.agent.cloned" {
			t.Error(why)
		}
	}
	if welcome := second.hello(); welcome.Error == nil {
		t.Error("the clone is welcome")
	}
	first.close()
	until(t, "one is left", w, func() bool { a, _ := h.Agents.Find(first.id); return a.State == hub.Connected })
}

func TestARevokedAgentIsNotWelcome(t *testing.T) {
	b := newBroker(t)
	h := b.hub(func(c *hub.Config) {
		c.Admitted = func(id string) *measure.Error {
			if id == identity(2) {
				return measure.TextError(measure.KindRefused, "not wanted", "")
			}
			return nil
		}
	})
	one, two := b.host(1, nil), b.host(2, nil)
	h.Agents.Revoke(one.id, measure.TextError(measure.KindRefused, "revoked", ""))
	for _, of := range []*host{one, two} {
		of.toldToLeave()
		if a, _ := h.Agents.Find(of.id); a.State != hub.Revoked {
			t.Errorf("%+v", a)
		}
	}
	if one.hello().Error == nil || two.hello().Error == nil {
		t.Error("they are welcome")
	}
	h.Agents.Readmit(one.id)
	if one.hello().Error != nil {
		t.Error("it may not come again")
	}
}

// A store that is busy for a moment must not end agents until their owners start them again.
func TestAnAgentIsNotRevokedWhenItsAdmissionCannotBeRead(t *testing.T) {
	b := newBroker(t)
	var busy atomic.Bool
	h := b.hub(func(c *hub.Config) {
		c.Admitted = func(string) *measure.Error {
			if busy.Load() {
				return measure.TextError(measure.KindStore, "the store is locked", "")
			}
			return nil
		}
	})
	one := b.host(1, nil)
	busy.Store(true)
	one.publish(fleet.UpHello, fleet.Hello{Version: fleet.Version, Instance: one.instance, Name: one.name})
	if _, err := h.Ask(t.Context(), one.id); err != nil { // its answer follows the hello
		t.Fatal(err)
	}
	if a, _ := h.Agents.Find(one.id); a.State != hub.Connected || len(one.left) != 0 {
		t.Errorf("%+v", a)
	}
	busy.Store(false)
	if why := one.hello().Error; why != nil {
		t.Error(why)
	}
}

func TestAgentsAreSelected(t *testing.T) {
	b := newBroker(t)
	h := b.hub(func(c *hub.Config) {
		c.Labels = func(id string) map[string]string {
			return map[string]string{"zone": map[bool]string{true: "west", false: "east"}[id < identity(3)], "os": "linux"}
		}
	})
	for i, name := range []string{"b", "a", "twin", "twin"} {
		b.host(i+1, func(h *host) { h.name = name })
	}
	for expression, want := range map[string]string{
		"": "[a b twin twin]", "zone=west": "[a b]", "zone=west, os=linux": "[a b]", "a": "[a]", identity(1): "[b]", identity(2)[:5]: "[a]",
		"zone=north": "hub.agent.unknown", "c": "hub.agent.unknown", "=": "hub.agent.expression", "zone=west,x": "hub.agent.expression",
		"twin": "hub.agent.ambiguous", "U": "hub.agent.ambiguous",
	} {
		all, err := h.Agents.List(expression)
		names := []string{}
		for _, a := range all {
			names = append(names, a.Name)
		}
		got := fmt.Sprint(names)
		if err != nil {
			got = measure.AsError(err, "").Code
		}
		if got != want {
			t.Errorf("%q: %s, want %s", expression, got, want)
		}
	}
	h.Agents.Revoke(identity(1), measure.Fail(measure.KindRefused, "hub.agent.cloned", nil))
	if west, err := h.Campaigns().ByLabel("", "zone=west"); err != nil || len(west) != 1 || west[0].Name != "a" || west[0].ID != identity(2) {
		t.Errorf("without the one that is revoked: %+v, %v", west, err)
	}
	if _, err := h.Campaigns().ByLabel("", "zone=north"); err == nil || !strings.Contains(err.Error(), "no agent has zone=north; labels that agents have: os=linux, zone=east, zone=west") {
		t.Error(err)
	}
	_, err := h.Agents.Find("twin")
	if text := err.Error(); !strings.Contains(text, identity(3)) || !strings.Contains(text, identity(4)) {
		t.Error(text)
	}
}

func TestAThousandAgents(t *testing.T) {
	b := newBroker(t)
	h := b.hub(func(c *hub.Config) { c.Silence = 15 * time.Second; c.Answers = 10 * time.Second })
	const hosts = 1000
	conns := make([]*host, 8) // connections that the agents share
	for i := range conns {
		conns[i] = &host{t: t, conn: b.connect()}
	}
	begin := time.Now()
	var all sync.WaitGroup
	for n, c := range conns {
		all.Go(func() {
			for i := n; i < hosts; i += len(conns) {
				one := &host{t: t, conn: c.conn, id: identity(i), instance: "first", name: fmt.Sprintf("host-%04d", i), trials: map[string]*running{}}
				if _, err := one.conn.Subscribe("soku.v1.down."+one.id+".>", one.obey); err != nil {
					t.Error(err)
				}
				one.hello()
			}
		})
	}
	all.Wait()
	joined := time.Since(begin)
	begin = time.Now()
	const lists = 100
	for range lists {
		if found, err := h.Agents.List(""); len(found) != hosts || err != nil {
			t.Fatal(len(found), err)
		}
	}
	list := time.Since(begin) / lists
	begin = time.Now()
	for i := range lists {
		if a, err := h.Agents.Find(fmt.Sprintf("host-%04d", i*7)); err != nil || a.ID != identity(i*7) {
			t.Fatal(a, err)
		}
	}
	find := time.Since(begin) / lists
	trips := make([]time.Duration, hosts)
	var asked sync.WaitGroup
	next := make(chan int)
	for range 16 {
		asked.Go(func() {
			for i := range next {
				at := time.Now()
				if beat, err := h.Ask(t.Context(), identity(i)); err != nil || beat.Instance != "first" {
					t.Error(beat, err)
				}
				trips[i] = time.Since(at)
			}
		})
	}
	begin = time.Now()
	for i := range hosts {
		next <- i
	}
	close(next)
	asked.Wait()
	took := time.Since(begin)
	slices.Sort(trips)
	t.Logf("%d hellos in %v; list %v, find %v; asked all in %v, 16 simultaneously: median %v, p99 %v", hosts, joined, list, find, took, trips[hosts/2], trips[hosts*99/100])
	if joined > 20*time.Second || list > 100*time.Millisecond || trips[hosts/2] > time.Second {
		t.Error("too slow")
	}
}

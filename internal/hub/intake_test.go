package hub_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/hub"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/store"
	"soku/internal/store/memory"
	"soku/internal/store/sqlite"
)

// ordered is a result that was ordered before the hub was started.
func ordered(id string) *measure.Result {
	s := spec()
	s.Result = id
	return document(s)
}

// all expects every result from the first agent.
func all(c *hub.Config) { c.Expected = func(agent, _ string) bool { return agent == identity(1) } }

func TestADocumentIsKeptOnce(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	h := b.hub(func(c *hub.Config) { all(c); c.Store = results })
	one := b.host(1, nil)
	r := ordered("r1")
	for range 2 {
		if got := one.deliver(r); !got.Kept || got.Conflict || got.Error != nil || got.Result != "r1" {
			t.Errorf("%+v", got)
		}
	}
	got := stored(t, results, "r1")
	if got.Summary.GoodputBps != 1e9 || len(got.Findings.With(finding.ArrivedLate)) != 1 {
		t.Errorf("%+v", got)
	}
	h.Close()
	b.hub(func(c *hub.Config) { c.Store = results }) // which has ordered no result
	if got := one.deliver(r); !got.Kept || got.Error != nil {
		t.Errorf("after a restart: %+v", got)
	}
	r.Summary.GoodputBps = 2e9
	if got := one.deliver(r); got.Kept || got.Conflict || got.Error.Code != "hub.result.not_ordered" {
		t.Errorf("another document that was not ordered: %+v", got)
	}
}

func TestWhatCannotBeTakenIsRefused(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	b.hub(func(c *hub.Config) { all(c); c.Store = results })
	one, two := b.host(1, nil), b.host(2, nil)
	good := pack(encoded(ordered("r1")))
	code := func(r fleet.Receipt) string {
		if r.Kept || r.Conflict || r.Error == nil {
			return "taken"
		}
		return cmp.Or(r.Error.Code, r.Error.Message)
	}
	for name, c := range map[string]struct{ got, want string }{
		"of another agent":    {code(two.deliverBytes("r1", good)), "hub.result.not_ordered"},
		"of another identity": {code(one.deliverBytes("r2", good)), "hub.result.other"},
		"no identity":         {code(one.deliverBytes("", good)), "hub.result.identity"},
		"a path":              {code(one.deliverBytes("../r1", good)), "hub.result.identity"},
		"junk":                {code(one.deliverBytes("r1", []byte("junk"))), "hub.result.syntax"},
		"no JSON":             {code(one.deliverBytes("r1", pack([]byte("junk")))), "hub.result.syntax"},
		"of another schema":   {code(one.deliverBytes("r1", pack([]byte(`{"schema":"soku.result/9","id":"r1"}`)))), "hub.result.syntax"},
		"cut off":             {code(one.deliverBytes("r1", good[:len(good)-4])), "hub.result.syntax"},
		"a bomb":              {code(one.deliverBytes("r1", pack(make([]byte, 300<<20)))), "fleet.message.long"},
		"a bomb of two parts": {code(one.deliverBytes("r1", append(pack(bytes.Repeat([]byte(" "), 1000)), pack(append(encoded(ordered("r1")), bytes.Repeat([]byte(" "), 10<<20)...))...))), "hub.result.syntax"},
		"many values":         {code(one.deliverBytes("r1", pack([]byte("["+strings.Repeat("0,", 2_000_000)+"0]")))), "hub.result.values"},
		"another sum": {code(request[fleet.Receipt](one, fleet.UpResult, good, nats.Header{fleet.HeaderResult: {"r1"}, fleet.HeaderSHA256: {sum(nil)}})),
			"hub.result.sum"},
		"no sum": {code(request[fleet.Receipt](one, fleet.UpResult, good, nats.Header{fleet.HeaderResult: {"r1"}})), "hub.result.sum"},
		"long":   {code(request[fleet.Receipt](one, fleet.UpResult, make([]byte, fleet.MaxMessage+1), nats.Header{fleet.HeaderResult: {"r1"}})), "fleet.message.long"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	if n, err := results.Count(t.Context(), store.Query{}); n != 0 || err != nil {
		t.Error(n, err)
	}
}

func TestAnotherDocumentOfAnIdentityIsPutAside(t *testing.T) {
	b := newBroker(t)
	results, folder := memory.New(), t.TempDir()
	conflicts, err := hub.OpenConflicts(filepath.Join(folder, "conflicts"))
	if err != nil {
		t.Fatal(err)
	}
	b.hub(func(c *hub.Config) {
		all(c)
		c.Store, c.Sink = results, hub.InStore{Store: results, Conflicts: conflicts}
	})
	one := b.host(1, nil)
	if got := one.deliver(ordered("r1")); !got.Kept {
		t.Fatalf("%+v", got)
	}
	other := ordered("r1")
	other.Summary.GoodputBps = 2e9
	for range 2 {
		if got := one.deliver(other); got.Kept || !got.Conflict || got.Error != nil {
			t.Errorf("%+v", got)
		}
	}
	if got := stored(t, results, "r1").Summary.GoodputBps; got != 1e9 {
		t.Error(got)
	}
	files, err := os.ReadDir(filepath.Join(folder, "conflicts"))
	if len(files) != 1 || err != nil {
		t.Fatal(files, err)
	}
	kept, err := os.ReadFile(filepath.Join(folder, "conflicts", files[0].Name()))
	if !bytes.Equal(kept, pack(encoded(other))) || err != nil {
		t.Error(files[0].Name(), err)
	}
}

// A campaign adds to a result after its trial, which makes no other document of it.
func TestADocumentThatACampaignHasKeptIsTheSame(t *testing.T) {
	r := ordered("r1")
	added := ordered("r1")
	skew := int64(5)
	added.Trial.Group = &measure.Group{ID: "g", Trials: 2, StartSkewNs: &skew}
	added.Findings.Add(finding.RepeatsLost, "", measure.Figures{"result": "r0"})
	added.Error = measure.TextError(measure.KindBroken, "another trial of the group failed", "")
	if !hub.SameMeasured(added, r) {
		t.Error("it is another one")
	}
	for name, change := range map[string]func(){
		"a figure":  func() { r.Summary.GoodputBps++ },
		"a finding": func() { r.Findings.Add(finding.HostBusy, "client", measure.Figures{"wake_up_ns": 1}) },
	} {
		r = ordered("r1")
		if change(); hub.SameMeasured(added, r) {
			t.Errorf("%s is not seen", name)
		}
	}
}

// recorder is a sink that can be made to fail.
type recorder struct {
	hub.InStore
	mu      sync.Mutex
	batches []int
	first   chan struct{} // closed when the first batch has come
	hold    chan struct{} // the first batch waits for it
	fail    error
}

func (r *recorder) Keep(ctx context.Context, batch []*hub.Arrival) {
	r.mu.Lock()
	r.batches = append(r.batches, len(batch))
	n, fail := len(r.batches), r.fail
	r.mu.Unlock()
	if n == 1 && r.first != nil {
		close(r.first)
		<-r.hold
	}
	if fail != nil {
		for _, a := range batch {
			a.Err = fail
		}
		return
	}
	r.InStore.Keep(ctx, batch)
}

func TestDeliveriesAreCommittedTogether(t *testing.T) {
	b := newBroker(t)
	results, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer results.Close()
	sink := &recorder{InStore: hub.InStore{Store: results}, first: make(chan struct{}), hold: make(chan struct{})}
	b.hub(func(c *hub.Config) {
		c.Store, c.Sink, c.Expected, c.Answers = results, sink, func(string, string) bool { return true }, 10*time.Second
	})
	const hosts = 20
	var deliveries sync.WaitGroup
	for i := range hosts {
		one := b.host(i, nil)
		deliveries.Go(func() {
			id := fmt.Sprintf("r%d", i)
			if got := one.deliver(ordered(id)); !got.Kept {
				t.Errorf("%+v", got)
			}
			if got := one.deliver(ordered(id)); !got.Kept {
				t.Errorf("again: %+v", got)
			}
		})
	}
	receive(t, sink.first)
	close(sink.hold)
	deliveries.Wait()
	n, err := results.Count(t.Context(), store.Query{})
	if n != hosts || err != nil {
		t.Error(n, err)
	}
	if len(sink.batches) >= 2*hosts {
		t.Errorf("batches of %v", sink.batches)
	}
	t.Logf("batches of %v", sink.batches)
}

func TestADocumentThatIsNotKeptStaysWithItsAgent(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	sink := &recorder{InStore: hub.InStore{Store: results}, fail: errors.New("the disk is full")}
	b.hub(func(c *hub.Config) { all(c); c.Store, c.Sink = results, sink })
	one := b.host(1, nil)
	if got := one.deliver(ordered("r1")); got.Kept || got.Conflict || got.Error.Message != "the disk is full" {
		t.Errorf("%+v", got)
	}
	sink.mu.Lock()
	sink.fail = nil
	sink.mu.Unlock()
	if got := one.deliver(ordered("r1")); !got.Kept {
		t.Errorf("%+v", got)
	}
}

func TestASinkThatPanicsKeepsNothing(t *testing.T) {
	b := newBroker(t)
	b.hub(func(c *hub.Config) { all(c); c.Sink = panics{} })
	one := b.host(1, nil)
	for range 2 {
		if got := one.deliver(ordered("r1")); got.Kept || got.Error == nil {
			t.Errorf("%+v", got)
		}
	}
}

type panics struct{}

func (panics) Keep(context.Context, []*hub.Arrival) { panic("glass") }

func TestALargeDocumentComesByAnotherWay(t *testing.T) {
	b := newBroker(t)
	results := memory.New()
	h := b.hub(func(c *hub.Config) { all(c); c.Store = results })
	r := pack(encoded(ordered("r1")))
	if got := h.Take(t.Context(), identity(1), "r1", sum(r), r); !got.Kept {
		t.Errorf("%+v", got)
	}
	if got := h.Take(t.Context(), identity(2), "r2", sum(r), r); got.Error == nil || got.Error.Kind != measure.KindRefused {
		t.Errorf("%+v", got)
	}
}

// The reply of a request is a subject that the agent chooses: it must not be an order to another one.
func TestTheHubAnswersOnlyTheAgentThatAsked(t *testing.T) {
	b := newBroker(t)
	h := b.hub(all)
	one, two := b.host(1, nil), b.host(2, nil)
	for _, reply := range []string{fleet.Down(two.id, fleet.DownLeave), fleet.Down(two.id, fleet.DownAnswer, "x"), fleet.Up(two.id, fleet.UpBeat), fleet.Everyone} {
		if err := one.conn.PublishMsg(&nats.Msg{Subject: fleet.Up(one.id, fleet.UpHello), Reply: reply, Data: encoded(fleet.Hello{Instance: "first"})}); err != nil {
			t.Fatal(err)
		}
	}
	one.hello()
	if err := two.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Ask(t.Context(), two.id); err != nil { // an answer from it: it has handled what came before
		t.Fatal(err)
	}
	select {
	case why := <-two.left:
		t.Error(why)
	default:
	}
}

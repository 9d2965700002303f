package scale_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/fleet/enrol"
	"soku/test/tier"
)

const (
	atOnce   = 50               // agents that join at a time
	watched  = 10 * time.Second // for the use of processors
	commands = 2000
	waits    = 2 * time.Minute // for what takes seconds
)

func TestAHubWorksForManyAgents(t *testing.T) {
	tier.SpendsSeconds(t)
	n := many(t, "SOKU_SCALE", 100, 20_000)
	h := newHub(t)
	note := newTable(t, fmt.Sprint(n, " agents"))
	note("memory of the hub without agents", "%.0f MB", h.memory())

	all, back, everyone := make([]*agent, n), make(chan *agent, 2*n), make(chan *agent, n)
	tokens := tokensFor(t, h, n)
	began := time.Now()
	each(t, n, func(i int) (err error) {
		if all[i], err = newAgent(i); err != nil {
			return err
		}
		all[i].back, all[i].everyone = back, everyone
		return all[i].join(h, tokens[i/enrol.MaxTokenUses])
	})
	note("all joined over HTTPS", "%.1f s", time.Since(began).Seconds())
	began = time.Now()
	each(t, n, func(i int) error {
		if err := all[i].connect(h); err != nil {
			return err
		}
		return all[i].hello()
	})
	note("all connected and greeted", "%.1f s", time.Since(began).Seconds())
	note("memory of the hub with all connected", "%.0f MB", h.memory())

	stop := make(chan struct{})
	var working sync.WaitGroup
	for _, a := range all {
		working.Go(func() { a.work(stop) })
	}
	end := sync.OnceFunc(func() { close(stop); working.Wait() })
	defer end()
	used := h.processor()
	time.Sleep(watched)
	note("processor time of the hub, with a beat each 5 s and a sample each second of every agent", "%.0f %% of one", 100*(h.processor()-used).Seconds()/watched.Seconds())
	note("memory of the hub meanwhile", "%.0f MB", h.memory())

	person := h.connect()
	if s, err := person.SubscribeSync(fleet.Up(all[0].id, fleet.UpTrial, "*")); err != nil {
		t.Fatal(err)
	} else if _, err := s.NextMsg(waits); err != nil || s.Unsubscribe() != nil {
		t.Errorf("no sample arrives: %v", err)
	}
	took := command(t, person, all)
	note("command to an agent and its answer, meanwhile, median", "%.2f ms", took[len(took)/2].Seconds()*1e3)
	note("the same, p99", "%.2f ms", took[len(took)*99/100].Seconds()*1e3)

	for len(everyone) > 0 { // of the start of the hub
		<-everyone
	}
	began = time.Now()
	if err := person.Publish(fleet.Everyone+".test", []byte("{}")); err != nil {
		t.Fatal(err)
	}
	await(t, everyone, all, "has a message to all")
	note("a message to all reaches the last", "%.0f ms", time.Since(began).Seconds()*1e3)

	last := all[n-1]
	began = time.Now()
	var done struct{}
	if err := h.post("/api/v1/agents/"+last.id+"/revoke", h.admin(), struct{}{}, &done); err != nil {
		t.Fatal(err)
	}
	select {
	case <-last.cut:
		note("an agent that is revoked is cut off after", "%.0f ms", time.Since(began).Seconds()*1e3)
	case <-time.After(waits):
		t.Error("an agent that is revoked stays connected")
	}
	end()
	last.conn.Close()
	all = all[:n-1]
	person.Close()

	h.kill()
	began = time.Now()
	h.start()
	note("the hub serves again after kill -9", "%.1f s", time.Since(began).Seconds())
	await(t, back, all, "is back")
	note("all are connected again", "%.1f s", time.Since(began).Seconds())
	each(t, len(all), func(i int) error { return all[i].hello() })
	note("all have greeted again", "%.1f s", time.Since(began).Seconds())
}

// tokensFor are tokens for n agents.
func tokensFor(t *testing.T, h *hub, n int) (secrets []string) {
	t.Helper()
	for range (n + enrol.MaxTokenUses - 1) / enrol.MaxTokenUses {
		var token struct {
			Secret string `json:"secret"`
		}
		if err := h.post("/api/v1/tokens", h.admin(), map[string]int{"uses": enrol.MaxTokenUses}, &token); err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, token.Secret)
	}
	return secrets
}

// command asks agents for their state, one after another, and returns how long each took, in ascending order.
func command(t *testing.T, hub *nats.Conn, all []*agent) (took []time.Duration) {
	t.Helper()
	answers, err := hub.SubscribeSync(fleet.AllUp(fleet.UpAnswer, "scale"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range commands {
		a := all[i*7919%len(all)] // not in the order in which they connected
		began := time.Now()
		if err := hub.PublishRequest(fleet.Down(a.id, fleet.DownAsk), fleet.Up(a.id, fleet.UpAnswer, "scale"), nil); err != nil {
			t.Fatal(err)
		}
		m, err := answers.NextMsg(waits)
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
		if sender, _, _ := fleet.Sender(m.Subject); sender != a.id {
			t.Fatalf("%s answers for %s", sender, a.id)
		}
	}
	slices.Sort(took)
	return took
}

// await waits for each of the agents.
func await(t *testing.T, from <-chan *agent, all []*agent, what string) {
	t.Helper()
	missing, late := map[*agent]bool{}, time.After(waits)
	for _, a := range all {
		missing[a] = true
	}
	for len(missing) > 0 {
		select {
		case a := <-from:
			delete(missing, a)
		case <-late:
			t.Fatalf("of %d agents %d: none of them %s", len(all), len(missing), what)
		}
	}
}

// each calls work with 0 to n-1, some at a time.
func each(t *testing.T, n int, work func(i int) error) {
	t.Helper()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				if err := work(i); err != nil {
					t.Errorf("agent %d: %v", i, err)
					return
				}
			}
		})
	}
	workers.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

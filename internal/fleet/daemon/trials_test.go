package daemon

import (
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"soku/internal/agent"
	"soku/internal/engine/filecopy"
	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/server"
)

// startServer runs a soku server on loopback until the test ends.
func startServer(t *testing.T) string {
	t.Helper()
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", MaxClients: 10, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	return s.Addr().String()
}

// aTrial is an order of a TCP test of a low rate.
func aTrial(address string, duration time.Duration) fleet.TrialOrder {
	o := option.Defaults(measure.TestTCP)
	o.Duration, o.Interval, o.Rate, o.Series = measure.Duration(duration), measure.Duration(100*time.Millisecond), 8e6, measure.SeriesOff
	return fleet.TrialOrder{Spec: agent.Spec{
		Schema: agent.Schema, Test: measure.TestTCP, Options: o, Host: address, Result: measure.NewResultID(time.Now()),
		Client: measure.Endpoint{Name: "a"}, Server: measure.Endpoint{Name: "b"}, Trial: measure.Trial{Campaign: "c", Levels: []measure.Level{}, Round: 2},
	}}
}

// agentOf is an agent that is connected to the hub.
func agentOf(t *testing.T, h *testHub, change func(*Config)) (a *running, id string, c Config) {
	t.Helper()
	c = h.config(t.TempDir())
	if change != nil {
		change(&c)
	}
	a = run(t, c)
	await(t, "a greeting", h.hellos, nil)
	await(t, "a beat", h.beats, nil)
	return a, identity(t, c.Folder), c
}

func (h *testHub) orderTrial(id string, o fleet.TrialOrder) {
	h.t.Helper()
	if got := order[fleet.Answer](h, id, fleet.DownTrial, o); got.Error != nil {
		h.t.Fatal(got.Error)
	}
}

func (h *testHub) awaitReport(result string, wanted func(fleet.TrialReport) bool) fleet.TrialReport {
	h.t.Helper()
	return await(h.t, "a report", h.reports, func(r report) bool { return r.result == result && wanted(r.TrialReport) }).TrialReport
}

func started(r fleet.TrialReport) bool { return r.Started }
func ready(r fleet.TrialReport) bool   { return r.Ready }
func ended(r fleet.TrialReport) bool   { return r.Ended }

func (h *testHub) awaitResult(id string) delivered {
	h.t.Helper()
	return await(h.t, "a result", h.results, func(d delivered) bool { return d.result == id })
}

func spoolFiles(t *testing.T, c Config) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(c.Folder, spoolName))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestATrialIsRunAndItsResultIsDeliveredOnce(t *testing.T) {
	h := newTestHub(t)
	address := startServer(t)
	a, id, c := agentOf(t, h, nil)
	o := aTrial(address, 300*time.Millisecond)
	h.orderTrial(id, o)
	h.orderTrial(id, o)
	h.awaitReport(o.Spec.Result, started)
	h.awaitReport(o.Spec.Result, ended)
	d := h.awaitResult(o.Spec.Result)
	r := d.decode(t)
	if r.Error != nil || r.ID != o.Spec.Result || r.Trial == nil || r.Trial.Round != 2 || moved(&r) == 0 || d.agent != id || d.over != "nats" {
		t.Errorf("%v, %+v over %s", r.Error, r.Summary, d.over)
	}
	await(t, "a beat without results", h.beats, func(b fleet.Beat) bool { return b.Spooled == 0 && len(b.Running) == 0 })
	h.orderTrial(id, o) // also when the hub has it
	if b := order[fleet.Beat](h, id, fleet.DownAsk, []byte(nil)); len(b.Running) > 0 || len(h.results) > 0 || len(spoolFiles(t, c)) > 0 {
		t.Errorf("%+v, %d more results, %v", b, len(h.results), spoolFiles(t, c))
	}
	a.end()
}

func TestATrialRunsAgainInThePlaceOfAResultThatItsCampaignDoesNotKeep(t *testing.T) {
	h := newTestHub(t)
	h.receipt = func(d delivered) *fleet.Receipt {
		return &fleet.Receipt{Result: d.result, Error: &measure.Error{Kind: measure.KindStore, Message: "left to its campaign"}}
	}
	a, id, c := agentOf(t, h, nil)
	o := aTrial("127.0.0.1:1", 100*time.Millisecond) // no server
	h.orderTrial(id, o)
	first := h.awaitResult(o.Spec.Result)
	if r := first.decode(t); r.Error == nil {
		t.Fatal("it has not failed")
	}
	again := o
	again.Spec.Host = startServer(t)
	again.Again = strings.Repeat("0", 64) // another document
	h.orderTrial(id, again)
	if d := h.awaitResult(o.Spec.Result); d.sum != first.sum {
		t.Error("it has run again")
	}
	again.Again = first.sum
	h.orderTrial(id, again)
	h.orderTrial(id, again) // one that arrives twice
	d := await(t, "a result", h.results, func(d delivered) bool { return d.sum != first.sum })
	if r := d.decode(t); r.Error != nil || r.ID != o.Spec.Result || len(spoolFiles(t, c)) != 1 {
		t.Errorf("%+v, spooled %q", r.Error, spoolFiles(t, c))
	}
	a.end()
}

func TestAResultIsKeptUntilTheHubHasIt(t *testing.T) {
	h := newTestHub(t)
	h.receipt = func(delivered) *fleet.Receipt { return nil }
	a, id, c := agentOf(t, h, nil)
	o := aTrial(startServer(t), 100*time.Millisecond)
	h.orderTrial(id, o)
	first := h.awaitResult(o.Spec.Result)
	h.edit(func(h *testHub) {
		h.receipt = func(d delivered) *fleet.Receipt {
			return &fleet.Receipt{Result: d.result, Error: &measure.Error{Kind: measure.KindStore, Message: "the disk is full"}}
		}
	})
	h.stopBroker()
	h.startBroker()
	if hello := await(t, "a greeting", h.hellos, nil); !slices.Contains(hello.Spooled, o.Spec.Result) {
		t.Errorf("%+v", hello)
	}
	h.awaitResult(o.Spec.Result)
	await(t, "a line", a.lines, func(line string) bool { return strings.Contains(line, "the disk is full") })
	if len(spoolFiles(t, c)) != 1 {
		t.Error("the result was deleted")
	}
	h.edit(func(h *testHub) {
		h.receipt = func(d delivered) *fleet.Receipt { return &fleet.Receipt{Result: d.result, Conflict: true} }
	})
	again := h.awaitResult(o.Spec.Result)
	if string(again.document) != string(first.document) {
		t.Error("the document has changed")
	}
	await(t, "an empty spool", h.beats, func(b fleet.Beat) bool { return b.Spooled == 0 })
	await(t, "a line", a.lines, func(line string) bool { return strings.Contains(line, "conflict") })
	a.end()
}

func TestATrialGoesOnWhileTheBrokerIsAway(t *testing.T) {
	h := newTestHub(t)
	a, id, _ := agentOf(t, h, nil)
	o := aTrial(startServer(t), time.Second)
	h.orderTrial(id, o)
	h.awaitReport(o.Spec.Result, started)
	h.stopBroker()
	h.startBroker()
	hello := await(t, "a greeting", h.hellos, nil)
	if !slices.Contains(hello.Running, o.Spec.Result) && !slices.Contains(hello.Spooled, o.Spec.Result) {
		t.Errorf("%+v", hello)
	}
	if len(hello.Running) > 0 {
		h.awaitReport(o.Spec.Result, started)
	}
	for _, want := range []string{"joined", "connected", "lost", "connected"} {
		await(t, want, a.lines, func(line string) bool { return strings.Contains(line, want) })
	}
	if r := h.awaitResult(o.Spec.Result).decode(t); r.Error != nil || moved(&r) < 800_000 {
		t.Errorf("%v, %d bytes", r.Error, moved(&r))
	}
	a.end()
}

// The process ends as by a loss of power: the trial has no result, and what was spooled is sent by
// the next process.
func TestAfterAKillOnlyTheRunningTrialIsLost(t *testing.T) {
	h := newTestHub(t)
	h.receipt = func(delivered) *fleet.Receipt { return nil }
	c := h.config(t.TempDir())
	address := startServer(t)
	cmd := must(childCommand(t.Context(), "agent", c.Folder, c.Hub, string(c.Pin)))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	await(t, "a greeting", h.hellos, nil)
	await(t, "a beat", h.beats, nil)
	id := identity(t, c.Folder)
	done, lost := aTrial(address, 100*time.Millisecond), aTrial(address, time.Minute)
	h.orderTrial(id, done)
	h.awaitResult(done.Spec.Result)
	h.orderTrial(id, lost)
	h.awaitReport(lost.Spec.Result, started)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	h.edit(func(h *testHub) {
		h.receipt = func(d delivered) *fleet.Receipt { return &fleet.Receipt{Result: d.result, Kept: true} }
	})
	run(t, c)
	hello := await(t, "a greeting", h.hellos, nil)
	if !slices.Equal(hello.Spooled, []string{done.Spec.Result}) || len(hello.Running) > 0 {
		t.Errorf("%+v", hello)
	}
	h.awaitResult(done.Spec.Result)
	await(t, "an empty spool", h.beats, func(b fleet.Beat) bool { return b.Spooled == 0 && b.Instance == hello.Instance })
}

// The next process sends the spool; a result that is too large for a message goes by HTTPS.
func TestASpoolIsSentAfterARestart(t *testing.T) {
	h := newTestHub(t)
	c := h.config(t.TempDir())
	s, err := openState(c.Folder)
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	large := make([]byte, fleet.MaxMessage+1)
	for i, document := range [][]byte{[]byte("b"), large, []byte("a")} {
		name := filepath.Join(c.Folder, spoolName, string(rune('c'-i))+spoolExt)
		if err := os.WriteFile(name, document, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, time.Time{}, time.Now().Add(time.Duration(i-10)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"x.zst.0000.part", "no result!.zst"} {
		if err := os.WriteFile(filepath.Join(c.Folder, spoolName, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	a := run(t, c)
	hello := await(t, "a greeting", h.hellos, nil)
	if !slices.Equal(hello.Spooled, []string{"c", "b", "a"}) {
		t.Errorf("the order is %v", hello.Spooled)
	}
	over := map[string]string{}
	for range 3 {
		d := await(t, "a result", h.results, nil)
		over[d.result] = d.over
	}
	if over["b"] != "https" || over["a"] != "nats" || over["c"] != "nats" {
		t.Error(over)
	}
	await(t, "an empty spool", h.beats, func(b fleet.Beat) bool { return b.Spooled == 0 })
	if left := spoolFiles(t, c); !slices.Equal(left, []string{"no result!.zst"}) {
		t.Error(left)
	}
	a.end()
}

func TestAFullSpoolRefusesTrials(t *testing.T) {
	h := newTestHub(t)
	h.receipt = func(delivered) *fleet.Receipt { return nil }
	_, id, _ := agentOf(t, h, func(c *Config) { c.Policy.Spool = 1 })
	address := startServer(t)
	o := aTrial(address, 100*time.Millisecond)
	h.orderTrial(id, o)
	h.awaitResult(o.Spec.Result)
	await(t, "a beat that says full", h.beats, func(b fleet.Beat) bool { return b.Full && b.Spooled == 1 && b.SpooledBytes > 100 })
	if got := order[fleet.Answer](h, id, fleet.DownTrial, aTrial(address, time.Second)); got.Error == nil || got.Error.Code != "daemon.spool.full" {
		t.Error(got.Error)
	}
	h.orderTrial(id, o) // it is there
	h.edit(func(h *testHub) {
		h.receipt = func(d delivered) *fleet.Receipt { return &fleet.Receipt{Result: d.result, Kept: true} }
	})
	await(t, "a beat that says room", h.beats, func(b fleet.Beat) bool { return !b.Full })
}

// Another order of the same trial may pass while the name of the far end is resolved.
func TestWhatChangedWhileAnOrderWasCheckedCounts(t *testing.T) {
	for what, during := range map[string]func(*trials){
		"known":             func(s *trials) { _ = s.d.spool.remove("r") }, // the other one has run, and the hub has its result
		"daemon.order.many": func(s *trials) { s.fill() },
	} {
		s, err := openState(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		d := &daemon{state: s, spool: must(openSpool(filepath.Join(s.dir, spoolName), 0)), usage: must(openUsage(s, 1, time.Now))}
		ctx, stop := context.WithCancel(t.Context())
		d.trials = &trials{d: d, ctx: ctx, running: map[string]*trial{}}
		d.usage.now = func() time.Time { during(d.trials); return time.Now() } // asked between the two looks
		o := aTrial("192.0.2.1", time.Second)
		o.Spec.Result, o.Spec.Test, o.Spec.Options = "r", measure.TestTrace, option.Defaults(measure.TestTrace)
		run, err := d.trials.begin(ctx, o)
		code := ""
		if err != nil {
			code = measure.AsError(err, "").Code
		}
		if run == nil && err == nil {
			code = "known"
		}
		if code != what {
			t.Errorf("%q, not %q", code, what)
		}
		stop()
		s.close()
	}
}

// fill has as many trials run as may.
func (t *trials) fill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range mostTrials {
		t.running[strconv.Itoa(i)] = &trial{}
	}
}

func TestATrialIsStoppedWithTheErrorOfTheOrder(t *testing.T) {
	h := newTestHub(t)
	_, id, _ := agentOf(t, h, nil)
	o := aTrial(startServer(t), time.Minute)
	h.orderTrial(id, o)
	h.awaitReport(o.Spec.Result, started)
	stop := fleet.Stop{Result: o.Spec.Result, Error: &measure.Error{Kind: measure.KindInterrupted, Code: "test.stop", Message: "enough"}}
	if got := order[fleet.Answer](h, id, fleet.DownStop, stop); got.Error != nil {
		t.Error(got.Error)
	}
	if r := h.awaitResult(o.Spec.Result).decode(t); r.Error == nil || r.Error.Code != "test.stop" {
		t.Error(r.Error)
	}
	if got := order[fleet.Answer](h, id, fleet.DownStop, stop); got.Error != nil {
		t.Error(got.Error)
	}
	stop.Result = "another"
	if got := order[fleet.Answer](h, id, fleet.DownStop, stop); measure.KindOf(got.Error) != measure.KindNotFound {
		t.Error(got.Error)
	}
}

func TestTrialsStartAtTheTimeOfTheOrder(t *testing.T) {
	h := newTestHub(t)
	_, id, _ := agentOf(t, h, nil)
	o := aTrial(startServer(t), 200*time.Millisecond)
	o.Spec.AwaitStart = true
	h.orderTrial(id, o)
	h.awaitReport(o.Spec.Result, ready)
	far := fleet.Start{Result: o.Spec.Result, AtUnixNs: time.Now().Add(time.Hour).UnixNano()}
	if got := order[fleet.Answer](h, id, fleet.DownStart, far); got.Error == nil || got.Error.Code != "daemon.start.far" {
		t.Error(got.Error)
	}
	at := time.Now().Add(400 * time.Millisecond)
	for range 2 {
		if got := order[fleet.Answer](h, id, fleet.DownStart, fleet.Start{Result: o.Spec.Result, AtUnixNs: at.UnixNano()}); got.Error != nil {
			t.Error(got.Error)
		}
	}
	started := h.awaitReport(o.Spec.Result, started)
	now := time.Now()
	if stamp := time.Unix(0, started.StartedUnixNs); stamp.Before(at) || stamp.After(now) || started.StartDelayNs <= 0 {
		t.Errorf("started %v after the time, reports %v, %v after the order", now.Sub(at), stamp.Sub(at), time.Duration(started.StartDelayNs))
	}
	if r := h.awaitResult(o.Spec.Result).decode(t); r.Error != nil {
		t.Error(r.Error)
	}
}

// The end of an agent ends its trials as soku trial ends; their results are sent.
func TestAnAgentThatEndsSendsWhatItHas(t *testing.T) {
	h := newTestHub(t)
	a, id, c := agentOf(t, h, func(c *Config) { c.times.endResults = patience })
	o := aTrial(startServer(t), time.Minute)
	h.orderTrial(id, o)
	h.awaitReport(o.Spec.Result, started)
	a.end()
	if r := h.awaitResult(o.Spec.Result).decode(t); r.Error == nil || r.Error.Kind != measure.KindInterrupted {
		t.Error(r.Error)
	}
	if left := spoolFiles(t, c); len(left) > 0 {
		t.Error(left)
	}
}

// Neither role of a copy reads or writes files of the host unless its owner allows copies, and no other
// test has an option that names a file.
func TestNoFileIsReachedWithoutTheOwnersPermission(t *testing.T) {
	policy := Policy{Tests: measure.Tests()}
	for name, change := range map[string]func(*filecopy.Options){
		"to a server":       func(*filecopy.Options) {},
		"from a folder":     func(c *filecopy.Options) { c.Folder = "/etc" },
		"to a local folder": func(c *filecopy.Options) { c.To = "/tmp" },
		"only the disk":     func(c *filecopy.Options) { c.Stage = measure.StageRead },
		"only the network":  func(c *filecopy.Options) { c.Stage = measure.StageNetwork },
	} {
		s := agent.Spec{Test: measure.TestCopy, Options: option.Defaults(measure.TestCopy), Host: "192.0.2.1"}
		measure.EditOwn(&s.Options, change)
		if _, err := policy.admit(t.Context(), s); err == nil || measure.AsError(err, "").Code != "daemon.policy.copies" {
			t.Errorf("%s: %v", name, err)
		}
		for _, test := range measure.Tests() {
			s.Test = test
			if _, err := policy.admit(t.Context(), s); err == nil {
				t.Errorf("%s, as options of %s: admitted", name, test)
			}
		}
	}
	if _, err := policy.admitServer(endpoint.Server{Ports: []int{0}, Token: "t", CopyRoot: "."}); err == nil || measure.AsError(err, "").Code != "daemon.policy.copies" {
		t.Error(err)
	}
}

func TestAServerForOthersRunsUntilItIsEnded(t *testing.T) {
	h := newTestHub(t)
	a, id, _ := agentOf(t, h, func(c *Config) { c.Policy.Rate = 5e6 })
	serve := fleet.Serve{Name: "s", Until: time.Now().Add(time.Hour), Server: &endpoint.Server{Ports: []int{0}, Token: "secret"}}
	served := order[fleet.Served](h, id, fleet.DownServe, serve)
	if served.Error != nil || served.Port == 0 {
		t.Fatalf("%+v", served)
	}
	serve.Until = serve.Until.Add(time.Hour)
	if again := order[fleet.Served](h, id, fleet.DownServe, serve); again != served {
		t.Errorf("%+v, then %+v", served, again)
	}
	o := aTrial("127.0.0.1", 100*time.Millisecond)
	o.Spec.Access.Token, o.Spec.Options.Port = "secret", served.Port
	measured := func() *measure.Result { return agent.Local{Version: "test"}.Run(t.Context(), o.Spec, agent.Hooks{}) }
	if r := measured(); r.Error != nil || r.Options.Rate != 5e6 {
		t.Errorf("%v, rate %v", r.Error, r.Options.Rate)
	}
	serve.Server.CopyRoot = t.TempDir()
	if got := order[fleet.Served](h, id, fleet.DownServe, serve); got.Error == nil || got.Error.Code != "daemon.policy.copies" {
		t.Errorf("%+v", got)
	}
	serve.Server = nil
	if got := order[fleet.Served](h, id, fleet.DownServe, serve); got.Error != nil {
		t.Error(got.Error)
	}
	if r := measured(); r.Error == nil || r.Error.Kind != measure.KindUnreachable {
		t.Error(r.Error)
	}
	serve.Server, serve.Until = &endpoint.Server{Ports: []int{0}, Token: "secret"}, time.Now().Add(300*time.Millisecond)
	o.Spec.Options.Port = order[fleet.Served](h, id, fleet.DownServe, serve).Port
	for deadline := time.Now().Add(patience); ; {
		if r := measured(); r.Error != nil && r.Error.Kind == measure.KindUnreachable {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it does not end")
		}
	}
	a.end()
}

func TestAPolicyRefusesWhatItDoesNotAllow(t *testing.T) {
	tcp := aTrial("192.0.2.1", time.Second).Spec
	latency := agent.Spec{Test: measure.TestLatency, Options: option.Defaults(measure.TestLatency), Host: "192.0.2.1"}
	large := latency
	large.Options.Size = 60_000
	unlimited := tcp
	unlimited.Options.Rate = 0
	negative := option.Defaults(measure.TestTCP)
	negative.Streams = -1
	named := tcp
	named.Host = "localhost:77"
	copied := agent.Spec{Test: measure.TestCopy, Options: option.Defaults(measure.TestCopy), Host: "192.0.2.1"}
	traced := agent.Spec{Test: measure.TestTrace, Options: option.Defaults(measure.TestTrace), Host: "192.0.2.1"}
	slow := func(s agent.Spec) agent.Spec {
		s.Options.Interval = measure.Duration(time.Minute)
		return s
	}
	networks := func(texts ...string) (all []netip.Prefix) {
		for _, text := range texts {
			all = append(all, netip.MustParsePrefix(text))
		}
		return all
	}
	for name, c := range map[string]struct {
		policy Policy
		spec   agent.Spec
		code   string
		host   string
	}{
		"no limit":                 {Policy{}, unlimited, "", "192.0.2.1"},
		"a test that is allowed":   {Policy{Tests: []measure.Test{measure.TestTCP}}, tcp, "", "192.0.2.1"},
		"another test":             {Policy{Tests: []measure.Test{measure.TestTCP}}, latency, "daemon.policy.test", ""},
		"a copy":                   {Policy{}, copied, "daemon.policy.copies", ""},
		"a copy that is allowed":   {Policy{Copies: true}, copied, "", "192.0.2.1"},
		"a rate":                   {Policy{Rate: 8e6}, tcp, "", "192.0.2.1"},
		"a higher rate":            {Policy{Rate: 1e6}, tcp, "daemon.policy.rate", ""},
		"no rate":                  {Policy{Rate: 1e6}, unlimited, "daemon.policy.rate", ""},
		"small messages":           {Policy{Rate: 1e6}, latency, "", "192.0.2.1"},
		"large messages":           {Policy{Rate: 1e6}, large, "daemon.policy.rate", ""},
		"a duration":               {Policy{Duration: measure.Duration(time.Second)}, tcp, "", "192.0.2.1"},
		"a long interval":          {Policy{BytesPerDay: 1e9}, slow(tcp), "daemon.policy.interval", ""},
		"a long interval, no load": {Policy{BytesPerDay: 1e9}, slow(traced), "", "192.0.2.1"},
		"a longer duration":        {Policy{Duration: measure.Duration(time.Millisecond)}, tcp, "daemon.policy.duration", ""},
		"a network":                {Policy{To: networks("10.0.0.0/8", "192.0.2.0/24")}, tcp, "", "192.0.2.1"},
		"another network":          {Policy{To: networks("10.0.0.0/8", "::/0")}, tcp, "daemon.policy.to", ""},
		"a name in a network":      {Policy{To: networks("127.0.0.0/8", "::1/128")}, named, "", "127.0.0.1:77"},
		"a name elsewhere":         {Policy{To: networks("192.0.2.0/24")}, named, "daemon.policy.to", ""},
		"an option out of range":   {Policy{}, agent.Spec{Test: measure.TestTCP, Options: negative}, "option.out_of_range", ""},
		"a test that is not known": {Policy{}, agent.Spec{Test: "later"}, "daemon.order.test", ""},
	} {
		got, err := c.policy.admit(t.Context(), c.spec)
		e := measure.AsError(err, "")
		switch {
		case c.code == "" && (err != nil || got.Host != c.host && got.Host != "[::1]:77"):
			t.Errorf("%s: %v, %q", name, err, got.Host)
		case c.code != "" && (e == nil || e.Code != c.code):
			t.Errorf("%s: %v", name, err)
		}
	}
	h := newTestHub(t)
	_, id, _ := agentOf(t, h, func(c *Config) { c.Policy.Rate = 1e6 })
	if got := order[fleet.Answer](h, id, fleet.DownTrial, fleet.TrialOrder{Spec: tcp}); got.Error == nil || got.Error.Code != "daemon.policy.rate" {
		t.Error(got.Error)
	}
}

// The bytes of a day are those of all processes of the agent.
func TestTheBytesOfADayAreKeptOverARestart(t *testing.T) {
	h := newTestHub(t)
	address := startServer(t)
	limit := func(c *Config) { c.Policy.BytesPerDay = 300_000 }
	a, id, c := agentOf(t, h, limit)
	o := aTrial(address, time.Minute)
	o.Spec.Options.Duration = measure.Duration(200 * time.Millisecond) // 200 kB
	h.orderTrial(id, o)
	if r := h.awaitResult(o.Spec.Result).decode(t); r.Error != nil {
		t.Error(r.Error)
	}
	a.end()
	run(t, c)
	await(t, "a greeting", h.hellos, nil)
	again := aTrial(address, 200*time.Millisecond)
	if got := order[fleet.Answer](h, id, fleet.DownTrial, again); got.Error == nil || got.Error.Code != "daemon.policy.bytes" {
		t.Error(got.Error)
	}
	again.Spec.Options.Rate = 0 // of which nothing is known before
	h.orderTrial(id, again)
	if r := h.awaitResult(again.Spec.Result).decode(t); r.Error == nil || r.Error.Code != "daemon.policy.bytes" {
		t.Error(r.Error)
	}
}

// Messages are counted by their number, as the reports of such a trial have no bytes.
func TestMessagesCountForTheBytesOfADay(t *testing.T) {
	h := newTestHub(t)
	_, id, _ := agentOf(t, h, func(c *Config) { c.Policy.BytesPerDay = 1e6 })
	o := aTrial(startServer(t), time.Minute)
	o.Spec.Test, o.Spec.Options = measure.TestLatency, option.Defaults(measure.TestLatency)
	o.Spec.Options.Size, o.Spec.Options.Duration, o.Spec.Options.Interval = 60_000, measure.Duration(time.Minute), measure.Duration(100*time.Millisecond)
	h.orderTrial(id, o)
	if r := h.awaitResult(o.Spec.Result).decode(t); r.Error == nil || r.Error.Code != "daemon.policy.bytes" {
		t.Error(r.Error)
	}
}

func TestACountThatCannotBeReadIsAnError(t *testing.T) {
	s, err := openState(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if err := os.WriteFile(filepath.Join(s.dir, usageName), make([]byte, maxStateFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openUsage(s, 10, time.Now); measure.KindOf(err) != measure.KindStore {
		t.Error(err)
	}
}

func TestADayBeginsAtMidnight(t *testing.T) {
	s, err := openState(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	now := time.Date(2026, 1, 31, 23, 59, 59, 0, time.UTC)
	u, err := openUsage(s, 10, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	if err := u.add(9); err != nil {
		t.Error(err)
	}
	if err := u.add(-5); err != nil { // of a trial that broke off without figures
		t.Error(err)
	}
	if err := u.admit(2); err == nil {
		t.Error("admitted")
	}
	if err := u.add(1); err == nil {
		t.Error("goes on")
	}
	now = now.Add(time.Second)
	if err := u.admit(10); err != nil {
		t.Error(err)
	}
}

func TestProgressIsSentOnceASecondAndShort(t *testing.T) {
	var got []measure.Direction
	r := reports{publish: func(m fleet.TrialReport) { got = append(got, m.Progress.Direction) }}
	now := time.Now()
	for i := range 40 { // 4 s
		r.progress(measure.Progress{Direction: measure.Forward}, now.Add(time.Duration(i)*100*time.Millisecond))
		r.progress(measure.Progress{Direction: measure.Reverse}, now.Add(time.Duration(i)*100*time.Millisecond))
	}
	if len(got) < 3 || len(got) > 5 || !slices.Contains(got, measure.Forward) || !slices.Contains(got, measure.Reverse) {
		t.Error(got)
	}
	p := short(measure.Progress{Bytes: 7, Streams: make([]int64, 1000), RTT: &measure.Percentiles{}})
	if b, err := json.Marshal(p); err != nil || len(b) > progressBytes || p.Bytes != 7 || p.RTT == nil || p.Streams != nil {
		t.Errorf("%s, %v", b, err)
	}
}

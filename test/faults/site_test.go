package faults

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"soku/internal/hub/campaigns"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/postgres"
	"soku/internal/web"
	"soku/test/built"
	"soku/test/freeport"
	"soku/test/postgresql"
)

// site is all that measures with two hubs: PostgreSQL, three brokers, the hubs and three agents. All are real programs.
type site struct {
	t        *testing.T
	folder   string
	database *postgresql.Server
	address  string // of the database
	brokers  []*program
	hubs     []*program
	agents   []*program
	programs []*program // the hubs, agents and brokers

	host           string            // the address of hubs and brokers
	addresses      map[string]string // of agents, for trials; of the others the loopback address
	enter          func() error      // has the thread that starts agent c in its network namespace; nil: all have one
	serveFlags     []string          // of the hubs, more than all have
	hubProgram     string            // those that are built for all tests, unless others are prepared
	agentProgram   string            //
	clocks         map[string]string // files with what is added to the clock, by hub and agent
	databaseFolder string            // empty: that of the system for temporary files

	rounds   int
	duration time.Duration     // of a trial
	within   time.Duration     // until a campaign is as it is expected to be
	last     campaigns.State   // of the campaign that was checked last
	kept     []*measure.Result // and its results
	mayFail  int               // trials whose results cannot be kept, because the disk of their agent is full
	overlaps *overlaps
}

// newSite starts all. after is how long a program that was killed is not there; what is to be special about the site is prepared before.
func newSite(t *testing.T, after func() time.Duration, prepare ...func(*site)) *site {
	t.Helper()
	s := &site{t: t, folder: t.TempDir(), rounds: 4, duration: 300 * time.Millisecond, host: "127.0.0.1", within: 4 * time.Minute}
	for _, p := range prepare {
		p(s)
	}
	if s.hubProgram == "" {
		s.hubProgram, s.agentProgram = built.Hub(t), built.Program(t)
	}
	var err error
	if s.database, err = postgresql.StartIn(s.databaseFolder); errors.Is(err, postgresql.ErrMissing) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.database.Close)
	if s.address, err = s.database.Database(t.Context()); err != nil {
		t.Fatal(err)
	}
	port := freeport.Row(t, 9)
	local := func(i int) string { return fmt.Sprintf("%s:%d", s.host, port+i) }
	serve := func(i int, more ...string) []string {
		return append([]string{s.hubProgram, "serve", "--name", s.host, "--store", s.address, "--listen", local(i)}, slices.Concat(s.serveFlags, more)...)
	}
	// The first start makes the keys that the brokers and the second hub need.
	first := keep(t, "hub", s.data(0), nil, serve(0, "--listen-nats", local(2))...)
	first.await("agents join by")
	config := s.must(0, "nats-config")
	first.end()
	s.copyToSecond("keys/authority.json", "certificate.pem", "certificate.key")
	var urls, routes []string
	for i := range 3 {
		urls, routes = append(urls, "tls://"+local(3+i)), append(routes, fmt.Sprintf("%q", "nats-route://"+local(6+i)))
	}
	for i := range 3 {
		file := filepath.Join(s.folder, fmt.Sprintf("broker-%d.conf", i))
		folder := filepath.Join(s.folder, "hub-0", "hub")
		text := strings.ReplaceAll(config, "./soku-jwt", filepath.Join(s.folder, fmt.Sprintf("jwt-%d", i))) + fmt.Sprintf(`
server_name: broker-%d
listen: %q
tls { cert_file: %q, key_file: %q, timeout: 5 }
authorization { timeout: 5 }
cluster { name: soku, listen: %q, no_advertise: true, routes: [ %s ] }
`, i, local(3+i), filepath.Join(folder, "certificate.pem"), filepath.Join(folder, "certificate.key"), local(6+i), strings.Join(routes, ", "))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		s.brokers = append(s.brokers, keep(t, fmt.Sprintf("broker %d", i), []string{brokerConfig + "=" + file}, after, self))
	}
	for _, b := range s.brokers {
		b.await("the broker is ready")
	}
	brokers := strings.Join(urls, ",")
	for i, says := range []string{"agents join by", "another hub serves"} {
		s.hubs = append(s.hubs, keep(t, fmt.Sprintf("hub %d", i), s.data(i), after, serve(i, "--brokers", brokers)...))
		s.hubs[i].await(says)
	}
	s.join(after, "https://"+local(0)+",https://"+local(1))
	s.programs = slices.Concat(s.hubs, s.agents, s.brokers)
	return s
}

// copyToSecond copies files of the first hub to the second.
func (s *site) copyToSecond(names ...string) {
	s.t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(s.folder, "hub-0", "hub", name))
		copied := filepath.Join(s.folder, "hub-1", "hub", name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(copied), 0o700)
		}
		if err == nil {
			err = os.WriteFile(copied, text, 0o600)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *site) join(after func() time.Duration, hubs string) {
	s.t.Helper()
	var token web.Token
	if err := json.Unmarshal([]byte(s.must(0, "join", "--uses", "3", "--json")), &token); err != nil {
		s.t.Fatal(err)
	}
	words := strings.Fields(token.Command)[2:] // --hub URL --pin PIN --join TOKEN
	words[1] = hubs
	for _, name := range []string{"a", "b", "c"} {
		args := append([]string{s.agentProgram, "agent", "--name", name, "--state", filepath.Join(s.folder, name), "--address", "test=" + cmp.Or(s.addresses[name], "127.0.0.1")}, words...)
		enter := s.enter
		if name != "c" {
			enter = nil
		}
		s.agents = append(s.agents, keepIn(s.t, enter, "agent "+name, s.clock(name), after, args...))
	}
	for _, a := range s.agents {
		a.await("connected to")
	}
}

func (s *site) data(hub int) []string {
	name := fmt.Sprintf("hub-%d", hub)
	return append(s.clock(name), "SOKU_DATA="+filepath.Join(s.folder, name))
}

// clockVariable names the file with the seconds that are added to the clock of a program.
const clockVariable = "SOKU_TEST_CLOCK"

// clock is the environment that sets the clock of a hub or an agent.
func (s *site) clock(name string) []string {
	if s.clocks[name] == "" {
		return nil
	}
	return []string{clockVariable + "=" + s.clocks[name]}
}

// ask runs a command of a hub.
func (s *site) ask(hub int, args ...string) (string, error) {
	c := exec.CommandContext(s.t.Context(), s.hubProgram, args...)
	c.Env = append(os.Environ(), s.data(hub)...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, errs.String())
	}
	return string(out), err
}

func (s *site) must(hub int, args ...string) string {
	s.t.Helper()
	out, err := s.ask(hub, args...)
	if err != nil {
		s.t.Fatalf("soku-hub %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// begin starts a campaign of all pairs of agents, isolated: with three hosts one trial at a time.
func (s *site) begin() (campaign string) {
	s.t.Helper()
	file := filepath.Join(s.folder, "plan.yaml")
	text := fmt.Sprintf("campaign: faults\nendpoints: {a: {agent: a}, b: {agent: b}, c: {agent: c}}\npairs: {mesh: ['*']}\n"+
		"tests: {up: {test: tcp, duration: %s}}\nrounds: %d\n", s.duration, s.rounds)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	var state campaigns.State
	out, err := s.ask(0, "run", file, "--detach", "--json")
	for deadline := time.Now().Add(s.within); err != nil && time.Now().Before(deadline); time.Sleep(100 * time.Millisecond) {
		for hub := 0; hub < len(s.hubs) && err != nil; hub++ { // one serves
			out, err = s.ask(hub, "run", file, "--detach", "--json")
		}
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &state)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.overlaps = count(s.t, s.agents)
	return state.Campaign
}

// state waits until a campaign is as is wants it, at whichever hub serves.
func (s *site) state(campaign string, is func(campaigns.State) bool) campaigns.State {
	s.t.Helper()
	var last []campaigns.State
	var said [2]error
	for deadline := time.Now().Add(s.within); ; {
		for hub := range s.hubs {
			out, err := s.ask(hub, "campaigns", "--json")
			var now []campaigns.State // an element that is decoded again keeps fields that are absent
			if said[hub] = err; err != nil || json.Unmarshal([]byte(out), &now) != nil {
				continue
			}
			last = now
			for _, c := range last {
				if c.Campaign == campaign && is(c) {
					return c
				}
			}
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("campaign %s is not as expected: %+v, %v", campaign, last, said)
		}
		time.Sleep(100 * time.Millisecond) // there is no event between processes
	}
}

func ended(c campaigns.State) bool { return c.EndedAt != nil }

// check waits for the end of a campaign and compares what there is with what was to be measured.
func (s *site) check(campaign string) {
	s.t.Helper()
	last := s.state(campaign, func(c campaigns.State) bool { return ended(c) && c.Done == c.Total })
	if last.Total != 6*s.rounds || last.Skipped > 0 || last.Failed > s.mayFail {
		s.t.Errorf("%+v", last)
	}
	for began := time.Now(); s.spooled() > 0; time.Sleep(50 * time.Millisecond) {
		if time.Since(began) > 90*time.Second {
			s.t.Errorf("%d results are spooled", s.spooled())
			break
		}
	}
	st, err := postgres.Open(s.t.Context(), s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	results, late := map[string]int{}, 0
	s.last, s.kept = last, nil
	for r, err := range st.Results(s.t.Context(), store.Query{Campaign: campaign}, store.Whole) {
		if err != nil {
			s.t.Fatal(err)
		}
		if len(r.Findings.With("arrived_late")) > 0 {
			late++
			continue
		}
		if r.Error != nil && (s.mayFail == 0 || r.Error.Code != "daemon.spool.write") {
			s.t.Errorf("%s: %v", r.ID, r.Error)
		}
		s.kept = append(s.kept, r)
		results[fmt.Sprintf("%s > %s, round %d", r.Path.Client.Name, r.Path.Server.Name, r.Trial.Round)]++
	}
	for _, trial := range slices.Sorted(maps.Keys(results)) {
		if results[trial] != 1 {
			s.t.Errorf("%s: %d results", trial, results[trial])
		}
	}
	if len(results) != 6*s.rounds {
		s.t.Errorf("%d trials have results", len(results))
	}
	most := s.overlaps.end()
	if most != 1 {
		s.t.Errorf("at most %d isolated trials ran at once on three hosts", most)
	}
	s.t.Logf("%d trials, %d late results; events: %+v", len(results), late, last.Events)
}

// measures is the identity of the result of a trial whose packets move.
func (s *site) measures(campaign string) (result string) {
	s.t.Helper()
	s.state(campaign, func(c campaigns.State) bool {
		if c.Done < 1 || len(c.Running) != 1 || c.Running[0].Bps == 0 {
			return false
		}
		result = c.Running[0].Result
		return true
	})
	return result
}

// counts fails unless a result is in the store: its trial was not measured again.
func (s *site) counts(result string) {
	s.t.Helper()
	if _, err := s.ask(1, "show", result, "--json", "--store", s.address); err != nil {
		s.t.Error(err)
	}
}

// spooled is how many results wait at the agents.
func (s *site) spooled() int {
	files, _ := filepath.Glob(filepath.Join(s.folder, "?", "spool", "*.zst"))
	return len(files)
}

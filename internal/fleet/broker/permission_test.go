package broker_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
)

const waits = 10 * time.Second // for what happens within milliseconds

// parts are the tokens of subjects that are tried: each place of each subject of the protocol with what is there, with
// another's and with wildcards.
func parts(mine, others string) [][]string {
	return [][]string{
		{"soku", "*"}, {"v1", "v2", "*"}, {"up", "down", "all", "*"}, {mine, others, "*", ">", ""},
		{fleet.UpHello, fleet.UpResult, fleet.UpAnswer + ".word.1", fleet.DownTrial, fleet.DownLeave, "*", "*.*", ">", ""},
	}
}

// elsewhere are subjects of others than the protocol.
var elsewhere = []string{
	">", "*", "*.>", "*.*", "soku", "soku.>", "soku.v1.>", "_INBOX.>", "_INBOX.word", "_R_.word", "_GR_.word", "$SYS.>", "$SYS.ACCOUNT.>", "$SYS.REQ.SERVER.PING",
	"$SYS.REQ.CLAIMS.UPDATE", "$SYS.REQ.CLAIMS.DELETE", "$SYS.REQ.CLAIMS.LIST", "$SYS.REQ.ACCOUNT.PING.CONNZ", "$SYS.REQ.USER.INFO", "$SYS.SERVER.ACCOUNT.x.CONNS",
	"$JS.>", "$JS.API.INFO", "$KV.>", "$MQTT.>", "$G.>", "$LDS.x", "$NRG.x", "other.>", "x",
}

func subjects(mine, others string) []string {
	all := []string{""}
	for _, tokens := range parts(mine, others) {
		var longer []string
		for _, prefix := range all {
			for _, token := range tokens {
				switch {
				case prefix == "" || token == "" || strings.HasSuffix(prefix, ">"):
					longer = append(longer, prefix+token)
				default:
					longer = append(longer, prefix+"."+token)
				}
			}
		}
		all = longer
	}
	all = slices.DeleteFunc(append(all, elsewhere...), func(subject string) bool {
		wild := strings.Index(subject, ">")
		return wild >= 0 && wild < len(subject)-1
	})
	slices.Sort(all)
	return slices.Compact(all)
}

// belongs reports whether a subject is one of the agent's own: this is the rule in words of the protocol, apart from the code under test.
func belongs(subject, prefix string) bool {
	return strings.HasPrefix(subject, prefix+".") && len(subject) > len(prefix)+1
}

// denied reports whether the broker has refused what was just asked about a subject.
func (m *member) denied(t *testing.T, subject string) bool {
	t.Helper()
	if err := m.FlushTimeout(waits); err != nil {
		t.Fatalf("%s: %v", subject, err)
	}
	err := m.LastError()
	return errors.Is(err, nats.ErrPermissionViolation) && strings.Contains(err.Error(), `"`+subject+`"`)
}

func TestAnAgentSaysAndHearsWhatIsItsOwnAlone(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		a, b, hub := s.agent(t, time.Hour), s.agent(t, time.Hour), s.hub(t)
		first, second := must(t)(s.dial(t, 1, a.proves())), must(t)(s.dial(t, 2, b.proves()))
		heard, atHub := make(chan *nats.Msg, 1000), make(chan *nats.Msg, 1000)
		for _, subject := range fleet.MayHear(a.id) {
			if _, err := first.ChanSubscribe(subject, heard); err != nil || first.denied(t, subject) {
				t.Fatal(subject, err)
			}
		}
		if _, err := hub.ChanSubscribe(fleet.AllUp(">"), atHub); err != nil || hub.denied(t, fleet.AllUp(">")) {
			t.Fatal(err)
		}
		known(t, hub, fleet.Down(a.id, "x"), heard)
		known(t, second, fleet.Up(b.id, "x"), atHub)

		tried, allowed := subjects(b.id, a.id), 0
		for _, subject := range tried {
			for _, queue := range []string{"", "queue"} {
				sub, err := second.QueueSubscribeSync(subject, queue)
				if err != nil {
					t.Fatalf("%q: %v", subject, err)
				}
				want := subject == "soku.v1.all" || belongs(subject, "soku.v1.all") || belongs(subject, "soku.v1.down."+b.id)
				if got := !second.denied(t, subject); got != want {
					t.Errorf("it may hear %s (%s): %v", subject, queue, got)
				} else if got {
					allowed++
				}
				_ = sub.Unsubscribe()
			}
		}
		t.Logf("%d subjects, %d to hear", len(tried), allowed/2)
		if allowed < 10 {
			t.Error("it may hear nothing")
		}
		var said []string
		for _, subject := range tried {
			if strings.ContainsAny(subject, "*>") {
				continue
			}
			if err := second.Publish(subject, nil); err != nil {
				t.Fatalf("%q: %v", subject, err)
			}
			want := belongs(subject, "soku.v1.up."+b.id)
			if got := !second.denied(t, subject); got != want {
				t.Errorf("it may publish to %s: %v", subject, got)
			}
			if want {
				said = append(said, subject)
			}
		}
		for _, want := range said {
			m := next(atHub)
			if m == nil {
				t.Fatalf("the hub did not hear %s", want)
			}
			if sender, _, ok := fleet.Sender(m.Subject); m.Subject != want || sender != b.id || !ok {
				t.Errorf("the hub heard %s, want %s", m.Subject, want)
			}
		}
		if len(said) < 4 {
			t.Errorf("it may say %v", said)
		}
		// The message of the hub is the first that the other agent hears.
		if err := hub.Publish(fleet.Down(a.id, fleet.DownAsk), nil); err != nil {
			t.Fatal(err)
		}
		if m := next(heard); m == nil || m.Subject != fleet.Down(a.id, fleet.DownAsk) {
			t.Errorf("the other agent heard %+v", m)
		}
	})
}

// probe is the last token of messages that find out whether the brokers know who hears a subject.
const probe = "probe"

// known returns when what is published below a prefix arrives in a channel.
func known(t *testing.T, from *member, prefix string, at chan *nats.Msg) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < waits; {
		if err := from.Publish(prefix+"."+probe, nil); err != nil {
			t.Fatal(err)
		}
		select {
		case <-at:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatalf("%s does not arrive", prefix)
}

// next is the next message in a channel that is no probe, or nil if there is none.
func next(from chan *nats.Msg) *nats.Msg {
	late := time.After(waits)
	for {
		select {
		case m := <-from:
			if !strings.HasSuffix(m.Subject, probe) {
				return m
			}
		case <-late:
			return nil
		}
	}
}

// answered makes a request until somebody hears it.
func answered(ask func() (*nats.Msg, error)) (*nats.Msg, error) {
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		m, err := ask()
		if !errors.Is(err, nats.ErrNoResponders) || time.Since(begin) > waits {
			return m, err
		}
	}
}

func TestBothEndsAnswerRequests(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		a, b, hub := s.agent(t, time.Hour), s.agent(t, time.Hour), s.hub(t)
		first, second := must(t)(s.dial(t, 1, a.proves(), nats.CustomInboxPrefix(fleet.Down(a.id, fleet.DownAnswer)))), must(t)(s.dial(t, 2, b.proves()))

		// The agent asks, as the library does it.
		replies := make(chan string, 10)
		if _, err := hub.Subscribe(fleet.AllUp(fleet.UpHello), func(m *nats.Msg) {
			replies <- m.Reply
			if sender, _, ok := fleet.Sender(m.Subject); ok && fleet.MayReply(sender, m.Reply) {
				_ = m.Respond([]byte("welcome"))
			}
		}); err != nil {
			t.Fatal(err)
		}
		m, err := answered(func() (*nats.Msg, error) { return first.Request(fleet.Up(a.id, fleet.UpHello), nil, waits) })
		if err != nil || string(m.Data) != "welcome" {
			t.Fatal(err)
		}
		<-replies

		// The hub asks, and takes the answer below the agent's own subjects.
		if _, err := first.Subscribe(fleet.Down(a.id, fleet.DownAsk), func(m *nats.Msg) { _ = m.Respond([]byte("here")) }); err != nil {
			t.Fatal(err)
		}
		answers := make(chan *nats.Msg, 10)
		if _, err := hub.ChanSubscribe(fleet.AllUp(fleet.UpAnswer, ">"), answers); err != nil {
			t.Fatal(err)
		}
		known(t, first, fleet.Up(a.id, fleet.UpAnswer), answers)
		if err := first.FlushTimeout(waits); err != nil {
			t.Fatal(err)
		}
		for begin := time.Now(); ; {
			if err := hub.PublishRequest(fleet.Down(a.id, fleet.DownAsk), fleet.Up(a.id, fleet.UpAnswer, "word"), nil); err != nil {
				t.Fatal(err)
			}
			select {
			case m = <-answers:
			case <-time.After(20 * time.Millisecond):
				m = nil
			}
			if m != nil && m.Subject == fleet.Up(a.id, fleet.UpAnswer, "word") && string(m.Data) == "here" {
				break
			}
			if time.Since(begin) > waits {
				t.Fatal("no answer")
			}
		}

		// A broker lets an agent name any subject for an answer: the hub has to look.
		for _, subject := range []string{fleet.Down(a.id, fleet.DownLeave), fleet.Down(a.id, fleet.DownAnswer, "word"), fleet.Everyone} {
			if err := second.PublishRequest(fleet.Up(b.id, fleet.UpHello), subject, nil); err != nil || second.denied(t, subject) {
				t.Fatal(err)
			}
			if got := <-replies; got != subject || fleet.MayReply(b.id, got) {
				t.Errorf("the hub would answer at %s", got)
			}
		}
	})
}

func TestTheHubSpeaksToAgentsAndHearsThemAlone(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		hub, system, a := s.hub(t), s.system(t), newKey(t)
		for _, subject := range []string{fleet.Down(a.id, fleet.DownTrial), fleet.Everyone, fleet.Everyone + ".x"} {
			if err := hub.Publish(subject, nil); err != nil || hub.denied(t, subject) {
				t.Errorf("the hub may not publish to %s: %v", subject, err)
			}
		}
		for _, subject := range []string{fleet.Up(a.id, fleet.UpHello), "$SYS.REQ.CLAIMS.UPDATE", "_INBOX.x", "other"} {
			if err := hub.Publish(subject, nil); err != nil || !hub.denied(t, subject) {
				t.Errorf("the hub may publish to %s: %v", subject, err)
			}
		}
		for _, subject := range []string{fleet.Down("*", ">"), "$SYS.>", ">", "_INBOX.>"} {
			if _, err := hub.SubscribeSync(subject); err != nil || !hub.denied(t, subject) {
				t.Errorf("the hub may hear %s: %v", subject, err)
			}
		}
		for _, subject := range []string{fleet.AllUp(">"), ">"} {
			if _, err := system.SubscribeSync(subject); err != nil || !system.denied(t, subject) {
				t.Errorf("the system connection may hear %s: %v", subject, err)
			}
		}
	})
}

// A server of version 2.11 or later reports where a message went to a subject that a header field names.
func TestATraceOfAMessageGoesToNobodyElse(t *testing.T) {
	eachSite(t, func(t *testing.T, s *site) {
		a, b, hub := s.agent(t, time.Hour), s.agent(t, time.Hour), s.hub(t)
		first, second := must(t)(s.dial(t, 1, a.proves())), must(t)(s.dial(t, 1, b.proves()))
		heard := make(chan *nats.Msg, 100)
		if _, err := first.ChanSubscribe(fleet.Down(a.id, ">"), heard); err != nil {
			t.Fatal(err)
		}
		known(t, hub, fleet.Down(a.id, "x"), heard)
		m := nats.NewMsg(fleet.Up(b.id, fleet.UpHello))
		m.Header.Set("Nats-Trace-Dest", fleet.Down(a.id, fleet.DownLeave))
		if err := errors.Join(second.PublishMsg(m), second.FlushTimeout(waits), hub.Publish(fleet.Down(a.id, fleet.DownAsk), nil)); err != nil {
			t.Fatal(err)
		}
		if got := next(heard); got == nil || got.Subject != fleet.Down(a.id, fleet.DownAsk) {
			t.Errorf("the other agent heard %+v", got)
		}
	})
}

package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"soku/internal/fleet"
	"soku/internal/measure"
)

func someAgent(t *testing.T) string {
	t.Helper()
	return must(must(nkeys.CreateUser()).PublicKey())
}

func TestAnAgentThatIsNotWantedEnds(t *testing.T) {
	for code, w := range map[string]fleet.Welcome{
		"daemon.unwanted":  {Error: &measure.Error{Kind: measure.KindRefused, Message: "another instance has this key"}},
		"daemon.version":   {Version: fleet.Version + 2, Hub: "H"},
		"daemon.other_hub": {Version: fleet.Version, Hub: "another"},
	} {
		h := newTestHub(t)
		h.welcome = func(fleet.Hello) *fleet.Welcome { return &w }
		run(t, h.config(t.TempDir())).refusedAs(code)
	}
}

func TestAnAgentThatIsSentAwayEnds(t *testing.T) {
	h := newTestHub(t)
	c := h.config(t.TempDir())
	a := run(t, c)
	await(t, "a greeting", h.hellos, nil)
	if got := order[fleet.Answer](h, identity(t, c.Folder), fleet.DownLeave, fleet.Leave{}); got.Error != nil {
		t.Error(got.Error)
	}
	a.refusedAs("daemon.unwanted")
}

// A hub that begins again does not know who is there.
func TestAMessageToAllAsksForAGreeting(t *testing.T) {
	h := newTestHub(t)
	run(t, h.config(t.TempDir()))
	await(t, "a greeting", h.hellos, nil)
	await(t, "a beat", h.beats, nil)
	_ = h.nc.Publish(fleet.Everyone, nil)
	await(t, "another greeting", h.hellos, nil)
}

func TestAHubThatDoesNotGreetIsGreetedAgain(t *testing.T) {
	h := newTestHub(t)
	usual := h.welcome
	h.edit(func(h *testHub) { h.welcome = func(fleet.Hello) *fleet.Welcome { return nil } })
	a := run(t, h.config(t.TempDir()))
	await(t, "a greeting", h.hellos, nil)
	await(t, "a line", a.lines, func(line string) bool { return strings.Contains(line, "does not answer") })
	h.edit(func(h *testHub) { h.welcome = usual })
	await(t, "a beat", h.beats, nil)
}

func TestHostileOrdersAreRefusedAndTheAgentGoesOn(t *testing.T) {
	h := newTestHub(t)
	c := h.config(t.TempDir())
	run(t, c)
	await(t, "a greeting", h.hellos, nil)
	id := identity(t, c.Folder)
	junk := []byte(strings.Repeat(`{"spec":{"result_id":"`, 50_000))
	for what, messages := range map[string][][]byte{
		fleet.DownTrial:   {nil, []byte("x"), junk[:fleet.MaxMessage+1], []byte(`{"spec":{"result_id":"../../x","test":"tcp"}}`), []byte(`{"spec":{"result_id":"a","test":"none"}}`), []byte(`{"spec":{"result_id":"a","test":"tcp","options":{"streams":-7}}}`)},
		fleet.DownStart:   {nil, []byte("[]"), junk[:fleet.MaxState+1], []byte(`{"result":"none","later":1}`)},
		fleet.DownStop:    {[]byte(`{"result":7}`), []byte(`{"result":"none"}`)},
		fleet.DownServe:   {nil, []byte(`{"name":"x","server":{"ports":[]}}`), []byte(`{"name":"x","until":"2000-01-01T00:00:00Z","server":{"ports":[0],"token":"t"}}`)},
		fleet.DownCommand: {nil, junk[:fleet.MaxMessage+1], []byte(`{"id":"x","text":"dG91Y2ggeA=="}`)},
		fleet.DownLeave:   {[]byte("x")},
	} {
		for _, m := range messages {
			if got := order[fleet.Answer](h, id, what, m); got.Error == nil {
				t.Errorf("%s %.60q: no error", what, m)
			}
		}
	}
	_ = h.nc.Publish(fleet.Down(id, fleet.DownTrial), []byte("x"))                       // wants no answer
	_ = h.nc.PublishRequest(fleet.Down(id, fleet.DownAsk), "somewhere.else", []byte("")) // nor may it have this one
	before := order[fleet.Beat](h, id, fleet.DownAsk, []byte("junk"))
	if after := order[fleet.Beat](h, id, fleet.DownAsk, []byte(nil)); after.Number <= before.Number || len(after.Running) > 0 {
		t.Errorf("%+v, %+v", before, after)
	}
}

func TestTheWaitBeforeARetryGrowsToItsBound(t *testing.T) {
	b := backoff{first: time.Second, most: 8 * time.Second}
	for _, bound := range []float64{1, 2, 4, 8, 8} {
		if d := b.next().Seconds(); d < bound/4 || d >= bound {
			t.Errorf("%v s, at most %v s", d, bound)
		}
	}
	b.reset()
	if d := b.next(); d >= time.Second {
		t.Error(d)
	}
}

package hub

import (
	"strings"
	"testing"
	"time"
)

// Each letter is a message of an instance, each dot a second; the silence is 5 s.
func TestInstancesOfOneIdentity(t *testing.T) {
	for messages, want := range map[string]string{
		"a.a.a":           "connected a",
		"a.b.b.b":         "connected b", // started again
		"a.b.c.c":         "connected c",
		"a.b.a":           "cloned b",
		"a.b.a.b.a":       "cloned b",
		"a.b.a.b.....b":   "connected b", // the other one has gone
		"a.b.a.a.a.a.a.a": "connected a",
		"a.b.a.c":         "connected c", // both were started again, or one
		"a.b.a.c.b":       "cloned c",
		"a.b......a.a":    "connected a", // b did not stay
		"a......b.a":      "connected a", // not at one time by what was heard
		"a......b.a.b":    "cloned a",
	} {
		now := time.Unix(0, 0)
		k := &known{Agent: Agent{State: Connected}, seen: map[string]time.Time{}}
		for _, c := range strings.Split(messages, "") {
			if c == "." {
				now = now.Add(time.Second)
				continue
			}
			if why := k.heard(c, now, 5*time.Second); (why != nil) != (k.State == Cloned) {
				t.Errorf("%s: %v while it is %s", messages, why, k.State)
			}
		}
		if got := string(k.State) + " " + k.instance; got != want {
			t.Errorf("%s: %s, want %s", messages, got, want)
		}
	}
}

func TestAnAgentCannotClaimManyInstances(t *testing.T) {
	k := &known{Agent: Agent{State: Connected}, seen: map[string]time.Time{}}
	for i := range 1000 {
		k.heard(string(rune('a'+i)), time.Unix(0, int64(i)), time.Second)
	}
	if len(k.seen) > maxInstances {
		t.Error(len(k.seen))
	}
}

package hub_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"soku/internal/fleet"
	"soku/internal/hub"
	"soku/internal/measure"
)

// commander is a host that answers orders of commands by a script, the last answer again and again.
func commander(b *broker, asked chan<- fleet.Command, answers ...fleet.Commanded) *host {
	return b.host(1, func(h *host) {
		h.name = "jump"
		h.command = func(c fleet.Command) fleet.Commanded {
			asked <- c
			a := answers[0]
			if len(answers) > 1 {
				answers = answers[1:]
			}
			return a
		}
	})
}

func TestACommandIsAwaited(t *testing.T) {
	b, asked := newBroker(t), make(chan fleet.Command, 100)
	busy := measure.TextError(measure.KindRefused, "another one runs", "")
	busy.Code = "daemon.command.busy"
	failed := measure.TextError(measure.KindBroken, "exit status 3", "")
	h := b.hub(nil)
	j := commander(b, asked, fleet.Commanded{Error: busy}, fleet.Commanded{Running: true}, fleet.Commanded{Running: true}, fleet.Commanded{Output: []byte("oops\n"), Error: failed})
	out, err := h.RunCommand(t.Context(), j.id, fleet.Command{Text: []byte("a"), Environment: []string{"X=1"}}, time.Minute)
	if string(out) != "oops\n" || err == nil || err.Error() != "exit status 3" {
		t.Errorf("%q, %v", out, err)
	}
	var texts []string
	var ids []string
	for range 4 {
		c := <-asked
		texts, ids = append(texts, string(c.Text)), append(ids, c.ID)
	}
	if !slices.Equal(texts, []string{"a", "a", "", ""}) || ids[0] == "" || len(slices.Compact(ids)) != 1 {
		t.Errorf("%q, %q", texts, ids)
	}
}

func TestACommandIsEndedWhenItIsNotWanted(t *testing.T) {
	b, asked := newBroker(t), make(chan fleet.Command, 100)
	h := b.hub(nil)
	j := commander(b, asked, fleet.Commanded{Running: true})
	ctx, stop := context.WithCancelCause(t.Context())
	why := errors.New("a person stopped it")
	ended := make(chan error, 1)
	go func() {
		_, err := h.RunCommand(ctx, j.id, fleet.Command{Text: []byte("a")}, time.Minute)
		ended <- err
	}()
	begun := receive(t, asked)
	stop(why)
	if err := receive(t, ended); !errors.Is(err, why) {
		t.Error(err)
	}
	for c := range asked {
		if c.ID != begun.ID {
			t.Errorf("%+v, then %+v", begun, c)
		}
		if c.End {
			return
		}
	}
}

func TestACommandOnAnAgentThatIsAwayFailsAfterItsPatience(t *testing.T) {
	b := newBroker(t)
	h := b.hub(func(c *hub.Config) { c.Answers = 100 * time.Millisecond })
	if _, err := h.RunCommand(t.Context(), identity(1), fleet.Command{Text: []byte("a")}, 300*time.Millisecond); measure.KindOf(err) != measure.KindUnreachable {
		t.Error(err)
	}
}

func TestThePlanNamesTheAgentOfItsCommands(t *testing.T) {
	b, asked := newBroker(t), make(chan fleet.Command, 100)
	c := newCampaigner(t, b)
	newMember(b, 2, "one")
	newMember(b, 3, "two")
	commander(b, asked, fleet.Commanded{})
	out, err := c.run(t, `campaign: agents
endpoints: {a: {agent: one}, b: {agent: two, address: 10.0.0.2}, jump: {agent: jump}}
from: a
to: b
commands_on: jump
shell: [bash, -c]
before: |
  set up
  $SOKU_FACTOR_SKU
factors: {sku: {by: command, levels: [small, large]}}
tests: {up: {test: tcp, duration: 1s}}
rounds: 1
`)
	if err != nil || out.Done != 2 {
		t.Fatalf("%+v, %v", out, err)
	}
	for range 2 {
		c := receive(t, asked)
		if string(c.Text) != "set up\n$SOKU_FACTOR_SKU\n" || !slices.Equal(c.Shell, []string{"bash", "-c"}) || c.LimitNs != int64(time.Hour) ||
			!slices.Contains(c.Environment, "SOKU_FACTOR_SKU=small") && !slices.Contains(c.Environment, "SOKU_FACTOR_SKU=large") {
			t.Errorf("%q, %+v", c.Text, c)
		}
	}
}

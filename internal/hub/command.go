package hub

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/measure"
)

// maxPending is how many requests may wait for their answers at one time.
const maxPending = 10_000

// requests are those of the hub that wait for an answer.
type requests struct {
	mu      sync.Mutex
	pending map[string]*pending // by the last word of the subject for the answer
}

type pending struct {
	agent  string
	answer chan *nats.Msg // of one element
}

// open makes room for an answer of an agent. The word cannot be guessed, so that no other agent and
// no late answer is taken for it.
func (r *requests) open(agent string) (word string, p *pending, err error) {
	word, p = rand.Text(), &pending{agent, make(chan *nats.Msg, 1)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.pending) >= maxPending {
		return "", nil, measure.Fail(measure.KindRefused, "hub.request.too_many", measure.Figures{"limit": maxPending})
	}
	r.pending[word] = p
	return word, p, nil
}

func (r *requests) close(word string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pending, word)
}

// answer takes the first answer to a request. Others, and those to requests that nothing waits for, are ignored.
func (h *Hub) answer(agent string, m *nats.Msg) {
	word := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
	r := &h.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.pending[word]
	if p == nil || p.agent != agent {
		return
	}
	delete(r.pending, word)
	p.answer <- m
}

// Codes of requests that an agent may not have got.
const (
	codeNoAnswer = "hub.request.no_answer"
	codeNotSent  = "hub.request.send"
)

// noResponder is the status by which the broker says that nothing hears a subject.
const noResponder = "503"

// ask sends a request to an agent and waits for the answer, at most as long as the hub's answers may
// take. message nil is an empty one. An error has kind unreachable if there was no answer, file if the answer cannot be read, usage
// if the message is too long, refused if too many requests wait, or is the cause of ctx.
func ask[T any](ctx context.Context, h *Hub, agent, what string, message any) (answer T, err error) {
	if h.abandoned.Load() {
		return answer, measure.Fail(measure.KindInterrupted, "hub.closed", nil)
	}
	if !h.serves() {
		return answer, measure.Fail(measure.KindUnreachable, codeNotSent, measure.Figures{"agent": h.Agents.name(agent), "cause": measure.Fail(measure.KindUnreachable, "hub.turn_unknown", nil)})
	}
	var body []byte
	if message != nil {
		if body, err = json.Marshal(message); err != nil {
			return answer, measure.Fail(measure.KindInternal, "hub.request.write", measure.Figures{"cause": err})
		}
	}
	if len(body) > fleet.MaxMessage {
		return answer, measure.Fail(measure.KindUsage, "fleet.message.long", measure.Figures{"bytes": len(body), "limit": fleet.MaxMessage})
	}
	word, p, err := h.requests.open(agent)
	if err != nil {
		return answer, err
	}
	defer h.requests.close(word)
	silent := func(why string) error {
		return measure.Fail(measure.KindUnreachable, codeNoAnswer, measure.Figures{"agent": h.Agents.name(agent), "why": why, "limit_ns": h.cfg.Answers.Nanoseconds()})
	}
	m := &nats.Msg{Subject: fleet.Down(agent, what), Reply: fleet.Up(agent, fleet.UpAnswer, word), Data: body}
	if err := h.cfg.Conn.PublishMsg(m); err != nil {
		return answer, measure.Fail(measure.KindUnreachable, codeNotSent, measure.Figures{"agent": h.Agents.name(agent), "cause": err})
	}
	limited, cancel := context.WithTimeout(ctx, h.cfg.Answers)
	defer cancel()
	select {
	case m := <-p.answer:
		if len(m.Data) == 0 && m.Header.Get("Status") == noResponder {
			return answer, silent("away")
		}
		return fleet.Decode[T](m.Data, fleet.MaxState)
	case <-limited.Done():
		if ctx.Err() != nil {
			return answer, measure.AsError(context.Cause(ctx), measure.KindInterrupted)
		}
		return answer, silent("")
	case <-h.ctx.Done():
		return answer, measure.Fail(measure.KindInterrupted, "hub.closed", nil)
	}
}

// command is [ask] for a request whose answer only says whether it is done.
func (h *Hub) command(ctx context.Context, agent, what string, message any) error {
	a, err := ask[fleet.Answer](ctx, h, agent, what, message)
	if err == nil && a.Error != nil {
		err = a.Error
	}
	return err
}

// Ask asks an agent for its state.
func (h *Hub) Ask(ctx context.Context, agent string) (fleet.Beat, error) {
	return ask[fleet.Beat](ctx, h, agent, fleet.DownAsk, nil)
}

// gone is why what an agent ran has ended: "restarted" if it is another process than that of the instance, "away" if it does
// not answer. It is empty otherwise.
func (h *Hub) gone(ctx context.Context, agent, instance string) string {
	limited, stop := context.WithTimeout(ctx, goneWithin)
	defer stop()
	b, err := h.Ask(limited, agent)
	switch {
	case err != nil && ctx.Err() == nil:
		return "away"
	case err == nil && b.Instance != instance:
		return "restarted"
	}
	return ""
}

// goneWithin is how long an agent is asked whether it is there.
const goneWithin = 3 * time.Second

// Leave has an agent end its connection until its owner starts it again.
func (h *Hub) Leave(ctx context.Context, agent string, why *measure.Error) error {
	return h.command(ctx, agent, fleet.DownLeave, fleet.Leave{Error: why})
}

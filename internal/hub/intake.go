package hub

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"golang.org/x/sync/semaphore"

	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/store"
)

// Bounds of documents that are taken simultaneously.
const (
	waitingAtOnce    = 256 << 20 // bytes of documents that came as messages
	leastWaiting     = 32 << 10  // bytes that each of them counts as, at least
	deliveriesAtOnce = 128       // that are read or wait for their commit
	decodedAtOnce    = 512 << 20 // bytes of JSON of all of them
	valuesAtOnce     = 4_000_000 // JSON values of all of them; each may take 300 bytes
	batchLimit       = 64        // documents of one commit
)

type intake struct {
	waiting    *semaphore.Weighted
	deliveries chan struct{}
	decoded    *semaphore.Weighted
	values     *semaphore.Weighted
	queue      chan *commitment
}

// commitment is a document on its way to the sink.
type commitment struct {
	Arrival
	done chan struct{} // closed when Conflict and Err are valid
}

func (i *intake) begin() {
	i.waiting = semaphore.NewWeighted(waitingAtOnce)
	i.deliveries = make(chan struct{}, deliveriesAtOnce)
	i.decoded, i.values = semaphore.NewWeighted(decodedAtOnce), semaphore.NewWeighted(valuesAtOnce)
	i.queue = make(chan *commitment, batchLimit)
}

// delivery takes a document that came as a message.
func (h *Hub) delivery(agent string, m *nats.Msg) {
	var err *measure.Error
	size := int64(max(len(m.Data), leastWaiting))
	switch {
	case len(m.Data) > fleet.MaxMessage:
		err = measure.Fail(measure.KindFile, "fleet.message.long", measure.Figures{"bytes": len(m.Data), "limit": fleet.MaxMessage})
	case !h.intake.waiting.TryAcquire(size):
		err = measure.Fail(measure.KindRefused, "hub.result.busy", nil)
	}
	result := m.Header.Get(fleet.HeaderResult)
	if err != nil {
		h.reply(agent, m, fleet.Receipt{Result: result, Error: err})
		return
	}
	h.goSafely(func() {
		defer h.intake.waiting.Release(size)
		ctx, cancel := context.WithTimeout(h.ctx, h.cfg.Answers)
		defer cancel()
		h.reply(agent, m, h.Take(ctx, agent, result, m.Header.Get(fleet.HeaderSHA256), m.Data))
	})
}

// Take takes a document that an agent delivers, such as by HTTPS: result is the identity that it says, sum the SHA-256 of
// the document in hexadecimal digits, document zstd of at most [fleet.MaxDocument]. The caller has proved that the agent is the one
// that it says. Kept and Conflict are only set once the document lasts. Documents that come simultaneously wait for each other.
func (h *Hub) Take(ctx context.Context, agent, result, sum string, document []byte) fleet.Receipt {
	receipt := h.accept(ctx, agent, result, sum, document)
	if !h.serves() { // another hub may want it: an agent deletes what was kept
		return fleet.Receipt{Result: receipt.Result, Error: measure.Fail(measure.KindStore, codeDeferred, measure.Figures{"result": receipt.Result})}
	}
	return receipt
}

func (h *Hub) accept(ctx context.Context, agent, result, sum string, document []byte) fleet.Receipt {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.ctx, func() { cancel(measure.Fail(measure.KindInterrupted, "hub.closed", nil)) })()
	if !h.awaitClaim(ctx, agent, result) {
		return fleet.Receipt{Result: result, Error: measure.Fail(measure.KindStore, codeDeferred, measure.Figures{"result": result})}
	}
	select {
	case h.intake.deliveries <- struct{}{}:
	case <-ctx.Done():
		return fleet.Receipt{Result: result, Error: measure.AsError(context.Cause(ctx), measure.KindInterrupted)}
	}
	receipt := func() fleet.Receipt {
		defer func() { <-h.intake.deliveries }() // a wait for a campaign keeps no other document waiting
		return h.take(ctx, agent, result, sum, document)
	}()
	if receipt.Error != nil && receipt.Error.Code == codeDeferred {
		return h.awaitKept(ctx, agent, receipt)
	}
	return receipt
}

const codeDeferred = "hub.result.deferred"

// awaitClaim waits until a campaign takes over the trial of a result that was ordered before this hub started. It returns false if
// none has in time, and one still will.
func (h *Hub) awaitClaim(ctx context.Context, agent, result string) bool {
	claimed := func() bool {
		return h.cfg.Claimed != nil && plainWord(result) && h.orders.of(agent, result) == nil && h.cfg.Claimed(agent, result)
	}
	if !claimed() {
		return true
	}
	news, leave := h.orders.added(agent, result)
	defer leave()
	if news == nil {
		return true
	}
	limit := time.NewTimer(h.cfg.Answers * 3 / 4)
	defer limit.Stop()
	select {
	case <-news:
	case <-limit.C:
	case <-ctx.Done():
	}
	return !claimed()
}

// awaitKept waits until a campaign has kept a result that was left to it, less long than the agent waits for
// the receipt. Otherwise the agent delivers it again.
func (h *Hub) awaitKept(ctx context.Context, agent string, receipt fleet.Receipt) fleet.Receipt {
	o := h.orders.of(agent, receipt.Result)
	if o == nil {
		return receipt
	}
	limit := time.NewTimer(h.cfg.Answers * 3 / 4)
	defer limit.Stop()
	select {
	case <-o.kept:
		return fleet.Receipt{Result: receipt.Result, Kept: true}
	case <-limit.C:
	case <-ctx.Done():
	}
	return receipt
}

// take checks a document, has it committed and gives it to the place that waits for it.
func (h *Hub) take(ctx context.Context, agent, result, sum string, document []byte) fleet.Receipt {
	receipt := fleet.Receipt{Result: result}
	refuse := func(err error) fleet.Receipt {
		receipt.Error = measure.AsError(err, measure.KindStore)
		h.cfg.Log.Warn("a result is not taken", "agent", agent, "result", result, "cause", receipt.Error.Message)
		return receipt
	}
	if !plainWord(result) {
		receipt.Result = ""
		return refuse(measure.Fail(measure.KindFile, "hub.result.identity", nil))
	}
	ordered := h.orders.of(agent, result)
	expected := h.orders.orderedFrom(agent, result) || h.cfg.Expected != nil && h.cfg.Expected(agent, result)
	missing, err := h.cfg.Store.Missing(ctx, []string{result})
	if err != nil {
		return refuse(err)
	}
	there := len(missing) == 0
	if !expected && !there {
		return refuse(measure.Fail(measure.KindRefused, "hub.result.not_ordered", measure.Figures{"result": result, "agent": h.Agents.name(agent)}))
	}
	if err := checkSum(document, sum); err != nil {
		return refuse(err)
	}
	r, free, err := h.intake.read(ctx, document, ordered)
	if err != nil {
		return refuse(err)
	}
	defer free()
	if err := check(r, result, ordered); err != nil {
		return refuse(err)
	}
	switch {
	case there && !expected:
		stored, err := h.cfg.Store.Get(ctx, result)
		if err == nil && !SameMeasured(stored, r) {
			err = measure.Fail(measure.KindRefused, "hub.result.not_ordered", measure.Figures{"result": result, "agent": h.Agents.name(agent)})
		}
		if err != nil {
			return refuse(err)
		}
		receipt.Kept = true
		return receipt
	case ordered != nil && ordered.deferred && !there:
		switch ordered.give(r, sum) {
		case keptByNone:
			receipt.Kept = true
			return receipt
		case keptByCaller:
			receipt.Error = measure.Fail(measure.KindStore, codeDeferred, measure.Figures{"result": result})
			return receipt
		}
	}
	if !there && (ordered == nil || !ordered.awaited()) {
		r.Findings.Add(finding.ArrivedLate, "", nil)
	}
	c := &commitment{Arrival: Arrival{Agent: agent, Result: r, Document: document}, done: make(chan struct{})}
	if err := h.intake.commit(ctx, c); err != nil {
		return refuse(err)
	}
	if c.Err != nil {
		return refuse(c.Err)
	}
	if receipt.Conflict = c.Conflict; c.Conflict {
		h.cfg.Log.Warn("another document of a result was put aside", "agent", agent, "result", result)
	} else if receipt.Kept = true; ordered != nil {
		ordered.give(r, sum)
	}
	return receipt
}

// commit has a document committed together with others.
func (i *intake) commit(ctx context.Context, c *commitment) error {
	select {
	case i.queue <- c:
	case <-ctx.Done():
		return measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
	select {
	case <-c.done:
		return nil
	case <-ctx.Done(): // it may be committed all the same: the agent delivers it again
		return measure.AsError(context.Cause(ctx), measure.KindInterrupted)
	}
}

// commit commits what waits in the queue, many documents in one transaction.
func (h *Hub) commit() {
	for {
		var batch []*commitment
		select {
		case c := <-h.intake.queue:
			batch = append(batch, c)
		case <-h.ctx.Done():
			return
		}
	drain:
		for len(batch) < batchLimit {
			select {
			case c := <-h.intake.queue:
				batch = append(batch, c)
			default:
				break drain
			}
		}
		h.commitBatch(batch)
	}
}

func (h *Hub) commitBatch(batch []*commitment) {
	arrivals := make([]*Arrival, len(batch))
	for i, c := range batch {
		arrivals[i] = &c.Arrival
	}
	returned := false
	h.safely(func() {
		h.cfg.Sink.Keep(h.ctx, arrivals)
		returned = true
	})
	for _, c := range batch {
		if !returned {
			c.Conflict, c.Err = false, measure.Fail(measure.KindInternal, "hub.defect", nil)
		}
		close(c.done)
	}
}

func checkSum(document []byte, sum string) error {
	got := sha256.Sum256(document)
	want, err := hex.DecodeString(sum)
	if err != nil || subtle.ConstantTimeCompare(got[:], want) != 1 {
		return measure.Fail(measure.KindFile, "hub.result.sum", measure.Figures{"got": hex.EncodeToString(got[:]), "want": sum[:min(len(sum), 2*sha256.Size)]})
	}
	return nil
}

// check compares a document with its order, and gives it the place in the campaign that was ordered.
func check(r *measure.Result, result string, ordered *order) error {
	if r.ID != result {
		return measure.Fail(measure.KindFile, "hub.result.other", measure.Figures{"result": result, "got": r.ID})
	}
	if ordered != nil {
		if r.Test != ordered.spec.Test {
			return measure.Fail(measure.KindFile, "hub.result.test", measure.Figures{"result": result, "got": string(r.Test), "want": string(ordered.spec.Test)})
		}
		t := ordered.spec.Trial
		r.Trial = &t
	}
	if r.Trial != nil && r.Trial.Campaign == "" && r.Trial.Pattern == "" {
		r.Trial = nil // of no campaign
	}
	return nil
}

// plainWord reports whether an identity may stand in a subject and in the name of a file.
func plainWord(id string) bool {
	const most = 64
	return id != "" && len(id) <= most && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// kept is a store that tells a hub which results it has.
type kept struct {
	store.Store
	hub *Hub
}

// Store is the hub's store for campaigns whose results their places leave to them: it answers an agent once
// its result is in there.
func (h *Hub) Store() store.Store { return kept{h.cfg.Store, h} }

// Put implements [store.Store].
func (k kept) Put(ctx context.Context, results ...*measure.Result) error {
	err := k.Store.Put(ctx, results...)
	if err == nil {
		k.hub.orders.settle(results...)
	}
	return err
}

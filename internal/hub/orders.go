package hub

import (
	"slices"
	"sync"
	"time"

	"soku/internal/agent"
	"soku/internal/fleet"
	"soku/internal/measure"
)

// maxOrders is how many orders a hub remembers after their ends. A result of an older one is only taken if
// [Config.Expected] knows it.
const maxOrders = 100_000

// orders are the trials that this hub has ordered, by the identities of their results.
type orders struct {
	mu   sync.Mutex
	all  map[string]*order
	ends []string                 // results of orders whose places have returned, the first first
	news map[string]chan struct{} // closed when a result is ordered that deliveries wait for
}

// order is one trial that was ordered from an agent.
type order struct {
	agent    string
	spec     agent.Spec
	at       time.Time
	deferred bool     // the caller of its place keeps the result
	before   []string // other agents from which the result was ordered before
	again    string   // SHA-256 of a document that the caller got for the same result and did not keep: the trial runs again; or empty

	delivered chan *measure.Result // of one element: the document was taken
	kept      chan struct{}        // closed when the store has it, of a deferred one
	bell      chan struct{}        // has an element if there are reports

	mu       sync.Mutex
	waits    bool      // its place has not returned
	returned time.Time // when it did
	unwanted bool      // nothing is to be kept: of a check before a campaign, or of a trial that was stopped
	taken    string    // SHA-256 of the document that was given to it, or empty
	reports  []stamped // not fetched
}

// stamped is a report with the time at which it arrived.
type stamped struct {
	fleet.TrialReport
	at time.Time
}

// maxReports bounds the reports of a trial that are not fetched. Of more, live intervals are dropped.
const maxReports = 64

// add begins an order. An error has kind refused if the result is awaited already.
func (o *orders) add(client string, s agent.Spec, at time.Time, p PlaceOptions, unwanted bool) (*order, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.all[s.Result]
	if before != nil && before.awaited() {
		return nil, measure.Fail(measure.KindRefused, "hub.result.awaited", measure.Figures{"result": s.Result})
	}
	ordered := &order{
		agent: client, spec: s, at: at, deferred: p.Deferred, unwanted: unwanted, waits: true,
		delivered: make(chan *measure.Result, 1), kept: make(chan struct{}), bell: make(chan struct{}, 1),
	}
	if before != nil {
		if ordered.before = before.before; before.agent != client {
			ordered.before = append(slices.Clip(before.before), before.agent)
		}
		if p.Deferred && !p.Former && !before.settled() {
			ordered.again = before.document()
		}
	}
	o.all[s.Result] = ordered
	if news := o.news[s.Result]; news != nil {
		close(news)
		delete(o.news, s.Result)
	}
	return ordered, nil
}

// added is closed when a result is ordered; leave ends the wait for that and must be called. It is nil if it was ordered from that
// agent.
func (o *orders) added(client, result string) (news <-chan struct{}, leave func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if found := o.all[result]; found != nil && found.agent == client {
		return nil, func() {}
	}
	c := o.news[result]
	if c == nil {
		c = make(chan struct{})
		o.news[result] = c
	}
	return c, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.news[result] == c {
			delete(o.news, result)
		}
	}
}

// of is the order of a result from an agent, or nil if this hub has not ordered it from that one.
func (o *orders) of(client, result string) *order {
	o.mu.Lock()
	defer o.mu.Unlock()
	if found := o.all[result]; found != nil && found.agent == client {
		return found
	}
	return nil
}

// orderedFrom reports whether this hub has ordered a result from an agent, maybe from another one afterwards.
func (o *orders) orderedFrom(client, result string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	found := o.all[result]
	return found != nil && (found.agent == client || slices.Contains(found.before, client))
}

// leave ends the wait for an order. Its result may still come: unwanted is that it is not kept then. refused orders have none.
func (o *orders) leave(ordered *order, refused, unwanted bool) {
	ordered.mu.Lock()
	ordered.waits, ordered.returned = false, time.Now()
	ordered.unwanted = ordered.unwanted || unwanted
	ordered.mu.Unlock()
	if unwanted {
		o.settle(&measure.Result{ID: ordered.spec.Result})
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	result := ordered.spec.Result
	if refused {
		delete(o.all, result)
		return
	}
	o.ends = append(o.ends, result)
	for len(o.ends) > maxOrders {
		if last := o.all[o.ends[0]]; last != nil && !last.awaited() {
			delete(o.all, o.ends[0])
		}
		o.ends = o.ends[1:]
	}
}

// settle takes note that the store has results.
func (o *orders) settle(results ...*measure.Result) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range results {
		ordered := o.all[r.ID]
		if ordered == nil || !ordered.deferred {
			continue
		}
		if !ordered.settled() {
			close(ordered.kept)
		}
	}
}

// settled reports whether the store has the result of a deferred order, or nothing is to be kept.
func (o *order) settled() bool {
	select {
	case <-o.kept:
		return true
	default:
		return false
	}
}

// document is the SHA-256 of the document that its place took, or empty.
func (o *order) document() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.taken
}

func (o *order) awaited() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waits
}

// deferredFor is how long after the end of its place the result of a deferred order is left to the caller
// of the place. A group is kept when its last trial has ended.
const deferredFor = 10 * time.Minute

// keeper is who keeps a document.
type keeper int

const (
	keptHere     keeper = iota // the sink of the hub
	keptByCaller               // the caller of the place
	keptByNone
)

// give hands a document to the place of the order, if that waits for it, and returns who keeps it. sum is its SHA-256.
func (o *order) give(r *measure.Result, sum string) keeper {
	o.mu.Lock()
	defer o.mu.Unlock()
	if sum == o.again { // it was on its way when the agent deleted it
		return keptByCaller
	}
	if o.waits && o.taken == "" {
		o.taken = sum
		o.delivered <- r
	}
	switch {
	case o.unwanted:
		return keptByNone
	case o.deferred && o.taken != "" && (o.waits || time.Since(o.returned) < deferredFor):
		return keptByCaller
	}
	return keptHere
}

// reported keeps a report until the order's place fetches it.
func (o *order) reported(r stamped) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.waits || len(o.reports) >= 2*maxReports || len(o.reports) >= maxReports && r.Progress != nil && !r.Started {
		return
	}
	o.reports = append(o.reports, r)
	ring(o.bell)
}

func (o *order) fetch() (all []stamped) {
	o.mu.Lock()
	defer o.mu.Unlock()
	all, o.reports = o.reports, nil
	return all
}

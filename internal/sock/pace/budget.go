package pace

import (
	"sync"
	"time"

	"soku/internal/sock"
)

// Budget limits what all loops of a test move together, whatever the other end asks for:
// a rate, of which what was not used for up to [savedUp] may be used later. Bytes are taken
// off after they moved. A loop that can slow its peer down waits until the budget is
// balanced again ([Budget.Spend]); one that cannot moves no more once it is too far in debt
// ([Budget.Draw]). It is safe for concurrent use.
type Budget struct {
	rate     float64       // bit/s
	perNs    float64       // bytes
	most     float64       // credit, bytes
	debt     float64       // at which Draw ends the test, bytes
	patience time.Duration // with a peer that is slowed down; 0: without end

	mu     sync.Mutex
	credit float64 // bytes
	at     time.Time
	spent  time.Time // when nothing was left
	busy   time.Time // since then nothing was left at least once a second
	used   bool
	over   chan struct{}
	ended  bool
}

const (
	// headroom is the factor on the rate: a peer that holds it exactly must be able to
	// make up for what its host or the path delayed.
	headroom = 1.02
	// savedUp is how long what is not used can be used later.
	savedUp = time.Second
	// atStart is the burst that may be moved in the beginning, as time at the rate.
	atStart = 5 * time.Millisecond
	// debtMost is how much of the rate [Budget.Draw] lends, and leastDebt the least, in
	// bytes: two datagrams.
	debtMost  = 100 * time.Millisecond
	leastDebt = 128 << 10
	// pause is how long something is left of the rate of a peer that does not want all of it.
	pause = time.Second
)

// NewBudget returns a budget of bitsPerSecond, which must be greater than 0. Its time begins
// when it is used first. patience is how long [Budget.Slowed] slows a peer down before it
// ends the test; 0 is without end.
func NewBudget(bitsPerSecond float64, patience time.Duration) *Budget {
	b := &Budget{rate: bitsPerSecond, patience: patience, perNs: bitsPerSecond / 8e9 * headroom, over: make(chan struct{})}
	b.most = b.perNs * float64(savedUp)
	b.credit = b.perNs * float64(atStart)
	b.debt = max(b.perNs*float64(debtMost), leastDebt)
	return b
}

// Rate is that of [NewBudget], bit/s.
func (b *Budget) Rate() float64 { return b.rate }

// Piece is how many bytes a call may move at most so that n loops together stay even: 5 ms
// of the rate, but at least a usual segment each.
func (b *Budget) Piece(n int) int {
	const least = 1448
	return max(least, int(b.perNs*float64(atStart))/max(n, 1))
}

// Spend takes off bytes that a loop moved, and returns how long it must wait before it
// moves more.
func (b *Budget) Spend(bytes int64) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(bytes)
	return b.balance()
}

// Slowed is Spend for bytes from a peer. One that leaves nothing of the rate for longer than
// the budget's patience ends the test.
func (b *Budget) Slowed(bytes int64) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(bytes)
	if b.patience > 0 && b.at.Sub(b.busy) > b.patience {
		b.end()
	}
	return b.balance()
}

// Draw takes off bytes that came from a peer that cannot be slowed down, and returns false
// if it must not move more: that ends the test.
func (b *Budget) Draw(bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.take(bytes); b.credit < -b.debt {
		b.end()
	}
	return !b.ended
}

// Left returns how many bytes Draw would let pass now.
func (b *Budget) Left() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(0)
	if b.ended {
		return 0
	}
	return int64(max(0, b.credit+b.debt))
}

// Over is closed when the test must end because of what its peer sends.
func (b *Budget) Over() <-chan struct{} { return b.over }

func (b *Budget) take(bytes int64) {
	now := sock.Now()
	if !b.used {
		b.used, b.at, b.spent, b.busy = true, now, now, now
	}
	b.credit = min(b.most, b.credit+b.perNs*float64(now.Sub(b.at)))
	b.at = now
	if now.Sub(b.spent) > pause {
		b.busy = now
	}
	if b.credit -= float64(bytes); b.credit <= 0 {
		b.spent = now
	}
}

// balance returns when there is no debt any more.
func (b *Budget) balance() time.Duration {
	if b.credit >= 0 {
		return 0
	}
	return clip(-b.credit / b.perNs)
}

func (b *Budget) end() {
	if !b.ended {
		b.ended = true
		close(b.over)
	}
}

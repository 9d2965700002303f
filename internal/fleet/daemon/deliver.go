package daemon

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"time"

	"github.com/nats-io/nats.go"

	"soku/internal/fleet"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/text"
)

// mostDeliveries is how many documents are sent at a time.
const mostDeliveries = 4

// headerRoom is what header fields and protocol may take of the largest message, in bytes.
const headerRoom = 4 << 10

// delivery sends what is in the spool. [delivery.run] owns its fields but the channels.
type delivery struct {
	d        *daemon
	connects chan link     // a new connection, or none where it is lost
	wake     chan struct{} // something is in the spool
	asks     chan struct{} // the hub asks for a result

	link    link
	again   map[string]*retry // by result
	done    chan sent
	sending map[string]bool
}

// retry is when a document is sent again that was not taken.
type retry struct {
	backoff
	at time.Time
}

// link is a connection to the broker; ctx ends when it is lost.
type link struct {
	nc  *nats.Conn
	ctx context.Context
}

// sent is the end of an attempt.
type sent struct {
	result string
	err    error
}

func newDelivery(d *daemon) *delivery {
	return &delivery{
		d: d, connects: make(chan link), wake: make(chan struct{}, 1), asks: make(chan struct{}, 1),
		again: map[string]*retry{}, done: make(chan sent), sending: map[string]bool{},
	}
}

// added has a new document sent.
func (v *delivery) added() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// asked has all that waits sent again now: the hub has ordered a trial whose result may be there.
func (v *delivery) asked() {
	select {
	case v.asks <- struct{}{}:
	default:
	}
}

// connected gives it a connection, or takes the lost one away. All that waits is sent again.
func (v *delivery) connected(ctx context.Context, l link) {
	select {
	case v.connects <- l:
	case <-ctx.Done():
	}
}

// run sends documents until ctx ends and all attempts have.
func (v *delivery) run(ctx context.Context) {
	var attempts panics.Group
	defer attempts.Wait()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(v.begin(ctx, &attempts))
		select {
		case v.link = <-v.connects:
			clear(v.again)
		case <-v.wake:
		case <-v.asks:
			clear(v.again)
		case <-timer.C:
		case s := <-v.done:
			v.ended(s)
		case <-ctx.Done():
			for len(v.sending) > 0 {
				v.ended(<-v.done)
			}
			return
		}
	}
}

// begin starts what may be sent now, and returns how long nothing more may be.
func (v *delivery) begin(ctx context.Context, attempts *panics.Group) time.Duration {
	idle := time.Hour
	if v.link.nc == nil {
		return idle
	}
	files, _ := v.d.spool.waiting()
	for _, f := range files {
		if len(v.sending) >= mostDeliveries {
			break
		}
		if v.sending[f.result] {
			continue
		}
		if r := v.again[f.result]; r != nil {
			if wait := time.Until(r.at); wait > 0 {
				idle = min(idle, wait)
				continue
			}
		}
		v.sending[f.result] = true
		l, result := v.link, f.result
		attempts.Go(func() {
			err := errors.New("not sent")
			defer func() { v.done <- sent{result, err} }()
			err = v.d.deliver(ctx, l, result)
		})
	}
	return idle
}

// ended takes note of an attempt.
func (v *delivery) ended(s sent) {
	delete(v.sending, s.result)
	if s.err == nil {
		delete(v.again, s.result)
		v.d.complaints.over("deliver")
		return
	}
	r := v.again[s.result]
	if r == nil {
		r = &retry{backoff: backoff{first: v.d.times.retry, most: v.d.times.retryMost}}
		v.again[s.result] = r
	}
	r.at = time.Now().Add(r.next())
	if !errors.Is(s.err, context.Canceled) && !errors.Is(s.err, nats.ErrConnectionClosed) {
		v.d.complaints.once("deliver", measure.AsError(s.err, measure.KindBroken).Code, v.d.Catalogue.Sentence("daemon.deliver", text.Args{"Result": s.result, "Error": v.d.Catalogue.Failure(s.err)}))
	}
}

// deliver sends a document, and deletes it when the hub has it.
func (d *daemon) deliver(ctx context.Context, l link, result string) error {
	f, err := os.Open(d.spool.path(result))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	hash := sha256.New()
	size, err := io.Copy(hash, io.LimitReader(f, fleet.MaxDocument+1))
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return err
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	var receipt fleet.Receipt
	if size <= min(fleet.MaxMessage, l.nc.MaxPayload())-headerRoom {
		receipt, err = d.deliverMessage(l, result, sum, f)
	} else {
		receipt, err = d.https.send(ctx, result, sum, f, size)
	}
	switch {
	case err != nil:
		return err
	case receipt.Result != result:
		return measure.Fail(measure.KindBroken, "daemon.receipt", measure.Figures{"got": receipt.Result})
	case receipt.Conflict:
		d.say(d.Catalogue.Sentence("daemon.conflict", text.Args{"Result": result}))
	case !receipt.Kept:
		if receipt.Error != nil {
			return receipt.Error
		}
		return measure.Fail(measure.KindBroken, "daemon.receipt", measure.Figures{"got": ""})
	}
	_ = f.Close() // Windows deletes no open file
	return d.spool.remove(result)
}

func (d *daemon) deliverMessage(l link, result, sum string, f io.Reader) (fleet.Receipt, error) {
	var payload bytes.Buffer
	if _, err := io.Copy(&payload, io.LimitReader(f, fleet.MaxMessage)); err != nil {
		return fleet.Receipt{}, err
	}
	m := nats.NewMsg(fleet.Up(d.state.id, fleet.UpResult))
	m.Header.Set(fleet.HeaderResult, result)
	m.Header.Set(fleet.HeaderSHA256, sum)
	m.Data = payload.Bytes()
	return request[fleet.Receipt](l, m, d.times.answer)
}

// request sends a message and decodes the answer. A hub that does not answer in time is of kind
// unreachable.
func request[T any](l link, m *nats.Msg, within time.Duration) (T, error) {
	var zero T
	waiting, cancel := context.WithTimeout(l.ctx, within)
	defer cancel()
	answer, err := l.nc.RequestMsgWithContext(waiting, m)
	switch {
	case l.ctx.Err() != nil:
		return zero, context.Canceled
	case errors.Is(err, nats.ErrNoResponders) || errors.Is(err, context.DeadlineExceeded):
		return zero, measure.Fail(measure.KindUnreachable, "daemon.hub.silent", measure.Figures{"after_ns": int64(within)})
	case err != nil:
		return zero, err
	}
	return fleet.Decode[T](answer.Data, fleet.MaxState)
}

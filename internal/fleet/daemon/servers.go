package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os/exec"
	"reflect"
	"sync"
	"time"

	"soku/internal/fleet"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
	"soku/internal/panics"
	"soku/internal/process"
)

// Bounds of servers for others.
const (
	mostServers  = 32
	longestServe = 7 * 24 * time.Hour
	serverStart  = 10 * time.Second
	serverAsk    = 20 * time.Second // well within [endpoint.Silence]
	serverEnd    = 2 * time.Second
	longestName  = 200 // characters
	mostPorts    = 1000
)

// servers are the processes that serve others, by name. It is safe for concurrent use.
type servers struct {
	d   *daemon
	ctx context.Context // its end ends all
	all panics.Group

	turn   sync.Mutex // held while a server starts or is ended by an order
	mu     sync.Mutex
	byName map[string]*child
}

// child is a server in a process of its own.
type child struct {
	server endpoint.Server // as it was ordered
	at     endpoint.Listening
	cancel context.CancelFunc
	until  chan time.Time // has room for one
	done   chan struct{}
}

// serve runs the server of an order, or ends it. An order that repeats one changes only its end.
func (s *servers) serve(order fleet.Serve) (at endpoint.Listening, err error) {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.mu.Lock()
	before, n := s.byName[order.Name], len(s.byName)
	s.mu.Unlock()
	if order.Server == nil {
		before.end()
		return at, nil
	}
	switch left := time.Until(order.Until); {
	case order.Name == "" || len(order.Name) > longestName || len(order.Server.Ports) == 0 || len(order.Server.Ports) > mostPorts || order.Server.Token == "":
		return at, measure.Fail(measure.KindUsage, "daemon.serve.order", nil)
	case left <= 0 || left > longestServe:
		return at, measure.Fail(measure.KindRefused, "daemon.serve.until", measure.Figures{
			"until": order.Until.UTC().Format(time.RFC3339), "now": time.Now().UTC().Format(time.RFC3339), "limit_ns": int64(longestServe),
		})
	}
	if before != nil && before.extend(*order.Server, order.Until) {
		return before.at, nil
	}
	before.end()
	if before == nil && n >= mostServers {
		return at, measure.Fail(measure.KindRefused, "daemon.serve.many", measure.Figures{"running": n})
	}
	limited, err := s.d.Policy.admitServer(*order.Server)
	if err == nil {
		err = s.d.usage.admit(0)
	}
	if err != nil {
		return at, err
	}
	return s.start(order, limited)
}

// extend changes the end of a server that runs as it is ordered again.
func (c *child) extend(server endpoint.Server, until time.Time) bool {
	select {
	case <-c.done:
		return false
	default:
	}
	if !reflect.DeepEqual(c.server, server) {
		return false
	}
	select {
	case <-c.until: // one that was not read yet
	default:
	}
	c.until <- until
	return true
}

// end ends a server, if there is one, and waits until it has.
func (c *child) end() {
	if c != nil {
		c.cancel()
		<-c.done
	}
}

// start starts the process and waits until it serves.
func (s *servers) start(order fleet.Serve, limited endpoint.Server) (at endpoint.Listening, err error) {
	ctx, cancel := context.WithCancel(s.ctx)
	c := &child{server: *order.Server, cancel: cancel, until: make(chan time.Time, 1), done: make(chan struct{})}
	cmd, err := s.d.Command(ctx, "endpoint")
	if err != nil {
		cancel()
		return at, err
	}
	p, err := startEndpoint(cmd)
	if err != nil {
		cancel()
		return at, measure.Fail(measure.KindBroken, "daemon.serve.start", measure.Figures{"cause": err})
	}
	ready, err := p.ready(limited)
	if err != nil {
		p.stop()
		cancel()
		return at, err
	}
	c.at = ready.Listening
	s.mu.Lock()
	s.byName[order.Name] = c
	s.mu.Unlock()
	s.all.Go(func() {
		defer close(c.done)
		defer func() {
			cancel()
			p.stop()
			s.mu.Lock()
			if s.byName[order.Name] == c {
				delete(s.byName, order.Name)
			}
			s.mu.Unlock()
		}()
		c.keep(ctx, p, order.Until)
	})
	return c.at, nil
}

// keep keeps the server alive until its time is over, ctx ends or it ends by itself.
func (c *child) keep(ctx context.Context, p *endpointProcess, until time.Time) {
	over := time.NewTimer(time.Until(until))
	defer over.Stop()
	ask := time.NewTicker(serverAsk)
	defer ask.Stop()
	for n := int64(1); ; n++ {
		select {
		case <-ask.C:
			if p.write(endpoint.Request{Ask: n}) != nil {
				return
			}
		case until := <-c.until:
			over.Reset(time.Until(until))
		case <-over.C:
			return
		case <-p.ended:
			return
		case <-ctx.Done():
			return
		}
	}
}

// endpointProcess is the process of a server. Its input ends it, so that it also ends with this one.
type endpointProcess struct {
	group *process.Group
	stdin io.WriteCloser
	first chan []byte   // its first line
	ended chan struct{} // closed with its output
}

func startEndpoint(cmd *exec.Cmd) (*endpointProcess, error) {
	p := &endpointProcess{group: process.NewGroup(cmd), first: make(chan []byte, 1), ended: make(chan struct{})}
	cmd.WaitDelay = time.Second
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.group.Start(); err != nil {
		return nil, err
	}
	go p.read(out)
	return p, nil
}

// read reads the first line and discards the others, which are answers to requests.
func (p *endpointProcess) read(out io.Reader) {
	defer close(p.ended)
	in := bufio.NewReaderSize(out, endpoint.MaxLine)
	if line, err := in.ReadSlice('\n'); err == nil {
		p.first <- append([]byte(nil), line...)
		_, _ = io.Copy(io.Discard, in)
	}
}

func (p *endpointProcess) write(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		_, err = p.stdin.Write(append(line, '\n'))
	}
	return err
}

// ready wishes the server and waits for its port.
func (p *endpointProcess) ready(s endpoint.Server) (ready endpoint.Ready, err error) {
	if err := p.write(endpoint.Wish{Schema: endpoint.Schema, Serve: &s}); err != nil {
		return ready, measure.Fail(measure.KindBroken, "daemon.serve.start", measure.Figures{"cause": err})
	}
	late := time.NewTimer(serverStart)
	defer late.Stop()
	select {
	case line := <-p.first:
		ready, err = fleet.Decode[endpoint.Ready](line, endpoint.MaxLine)
		if err == nil && ready.Error != nil {
			err = ready.Error
		}
		return ready, err
	case <-p.ended:
		return ready, measure.Fail(measure.KindBroken, "daemon.serve.ended", nil)
	case <-late.C:
		return ready, measure.Fail(measure.KindBroken, "daemon.serve.silent", measure.Figures{"after_ns": int64(serverStart)})
	}
}

// stop ends the process, and kills it where its input does not end it.
func (p *endpointProcess) stop() {
	_ = p.stdin.Close()
	late := time.AfterFunc(serverEnd, func() { _ = p.group.Kill() })
	<-p.ended
	_ = p.group.Wait()
	late.Stop()
}

package endpoint

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"time"

	"soku/internal/measure"
	"soku/internal/version"
)

// Serve is the end of this host: it does what the first line of in says, until in ends, no
// request arrives for [Silence], or ctx ends. An error is of kind usage if the line does not
// parse, or has a server without ports.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	return Endpoint{Version: version.String(), Listen: Listen, Silence: Silence}.Run(ctx, in, out)
}

// Endpoint is the end of a host whose server and silence can be replaced.
type Endpoint struct {
	Version string // of this program
	// Listen opens the server that is wished, and returns how clients find it and what runs it until
	// ctx ends.
	Listen  func(Server) (at Listening, run func(ctx context.Context) error, err error)
	Silence time.Duration // how long it waits for a request
}

// Run is [Serve] for this endpoint.
func (e Endpoint) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := bufio.NewReaderSize(in, MaxLine)
	first, err := lines.ReadSlice('\n')
	var wish Wish
	if err == nil {
		err = json.Unmarshal(first, &wish)
	}
	if err != nil || wish.Schema != Schema || wish.Serve != nil && len(wish.Serve.Ports) == 0 {
		return measure.Fail(measure.KindUsage, "ssh.wish", measure.Figures{"known": Schema}).WithCause(err)
	}
	ready := Ready{Schema: Schema, Version: e.Version}
	ended := make(chan struct{})
	if wish.Serve != nil {
		at, run, err := e.Listen(*wish.Serve)
		ready.Listening, ready.Error = at, measure.AsError(err, measure.KindInternal)
		if err == nil {
			go func() { defer close(ended); _ = run(ctx) }() // it ends with ctx, or the trials say why not
			defer func() { cancel(); <-ended }()
		}
	}
	write := json.NewEncoder(out)
	if err := write.Encode(ready); err != nil || ready.Error != nil {
		return err
	}
	silent := time.AfterFunc(e.Silence, cancel)
	defer silent.Stop()
	go func() {
		defer cancel()
		for {
			line, err := lines.ReadSlice('\n')
			var r Request
			if err == nil {
				err = json.Unmarshal(line, &r)
			}
			if err == nil {
				silent.Reset(e.Silence)
				err = write.Encode(Answer{Answer: r.Ask, UnixNs: time.Now().UnixNano()})
			}
			if err != nil {
				return
			}
		}
	}()
	<-ctx.Done()
	return nil
}

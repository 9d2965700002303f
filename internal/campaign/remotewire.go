package campaign

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"soku/internal/measure"
)

// TrialSchema is the identity of what passes between a campaign and the child
// that runs a trial for it: one line with a [TrialSpec] to the child, and lines
// back, each with live progress or, as the last, the result. The child's input
// stays open while the trial is wanted: its end, also by the death of whoever
// holds it, ends the trial.
const TrialSchema = "soku.trial/1"

// TrialSpec is a trial as it is handed to another process.
type TrialSpec struct {
	Schema  string           `json:"schema"`
	Test    measure.Test     `json:"test"`
	Options measure.Options  `json:"options"`
	Host    string           `json:"host"`
	Client  measure.Endpoint `json:"client"`
	Server  measure.Endpoint `json:"server"`
	Trial   measure.Trial    `json:"trial"`
	Access  Access           `json:"access,omitzero"`
}

// Access is how servers are entered. It travels on the child's input, never on
// a command line that others can see.
type Access struct {
	Token string `json:"token,omitempty"`
	TLS   bool   `json:"tls,omitempty"`
	TLSCA string `json:"tls_ca,omitempty"` // PEM
}

// Spec is the job as it is handed to another process.
func (j Job) Spec(a Access) TrialSpec {
	return TrialSpec{
		Schema: TrialSchema, Test: j.Test, Options: j.Options, Host: j.Server.Endpoint.Address,
		Client: j.Client.Endpoint, Server: j.Server.Endpoint, Trial: j.Trial, Access: a,
	}
}

// trialLine is one line from the child.
type trialLine struct {
	Progress *measure.Progress `json:"progress,omitempty"`
	Result   *measure.Result   `json:"result,omitempty"`
}

// maxSpec bounds the line that the child reads.
const maxSpec = 1 << 20

// ServeTrial is the child's side: it reads a spec from in, calls run, writes
// progress and the result to out, and returns when in has ended. The end of in
// before the result ends the context that run gets. Errors are of kind usage
// for a spec that does not parse and broken when out cannot be written.
func ServeTrial(ctx context.Context, in io.Reader, out io.Writer, run func(context.Context, TrialSpec, measure.Observer) *measure.Result) error {
	reader := bufio.NewReader(io.LimitReader(in, maxSpec))
	line, err := reader.ReadBytes('\n')
	var spec TrialSpec
	if err == nil {
		err = json.Unmarshal(line, &spec)
	}
	if err == nil && spec.Schema != TrialSchema {
		err = fmt.Errorf("schema %q is not %s", spec.Schema, TrialSchema)
	}
	if err != nil {
		return measure.Errorf(measure.KindUsage, "read the trial to run from the input: %v", err).
			WithHint("this command is for soku run; measure by hand with soku tcp HOST")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, in)
		cancel(measure.Errorf(measure.KindInterrupted, "the campaign that asked for the trial has gone"))
	}()
	var broken error
	write := func(l trialLine) {
		b, err := json.Marshal(l)
		if err == nil {
			_, err = out.Write(append(b, '\n'))
		}
		if err != nil && broken == nil {
			broken = measure.Errorf(measure.KindBroken, "report the trial to the campaign that asked for it: %w", err)
			cancel(broken)
		}
	}
	result := run(ctx, spec, func(p measure.Progress) { write(trialLine{Progress: &p}) })
	write(trialLine{Result: result})
	if broken == nil && ctx.Err() == nil {
		<-ended // whoever asked closes it on reading the result
	}
	return broken
}

// trialReader takes the child's output apart as it comes.
type trialReader struct {
	obs    measure.Observer
	done   func() // called once, on the result
	result *measure.Result
	stray  string // last line that was none of ours, such as a greeting
	buf    bytes.Buffer
}

var errTooLong = errors.New("a line is longer than any result")

// Write keeps what it is given until a line is whole.
func (t *trialReader) Write(p []byte) (int, error) {
	rest := p
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			break
		}
		t.buf.Write(rest[:i])
		rest = rest[i+1:]
		t.line(t.buf.Bytes())
		t.buf.Reset()
	}
	if t.buf.Len()+len(rest) > maxRecord {
		return 0, errTooLong
	}
	t.buf.Write(rest)
	return len(p), nil
}

func (t *trialReader) line(b []byte) {
	var l trialLine
	if len(bytes.TrimSpace(b)) == 0 || t.result != nil {
		return
	}
	if err := json.Unmarshal(b, &l); err != nil || l.Progress == nil && l.Result == nil {
		t.stray = shorten(string(bytes.ToValidUTF8(b, []byte("\uFFFD"))))
		return
	}
	if l.Progress != nil {
		t.obs(*l.Progress)
	}
	if l.Result != nil {
		t.result = l.Result
		t.done()
	}
}

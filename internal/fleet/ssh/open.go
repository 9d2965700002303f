package ssh

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"time"

	"soku/internal/agent"
	"soku/internal/fleet/endpoint"
	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/process"
)

// Order is what a host is to be prepared for.
type Order struct {
	Destination string
	Keep        bool   // leave the program there for another time
	Serve       bool   // run a server
	Ports       []int  // of the server, tried in turn; 0 is any
	CopyRoot    string // of the server; empty: it takes no copies
	Version     string
	Binary      func(Platform) (Binary, error)
	Open        func(string) (fs.File, error) // opens the binary

	stall time.Duration // of a copy; 0: copyStall
}

// copyStall is how long a copy may take from one part of the program that ssh takes to the next, or
// to its end. ssh holds up to 2 MB, which have passed a path of 140 kbit/s by then.
const copyStall = 2 * time.Minute

// Open prepares a host: it connects, copies the program where it is not there already, and
// starts what is wished. Failures name the step and say what to do; ctx ends it. The caller
// closes the session.
func Open(ctx context.Context, c Client, o Order) (_ *Session, err error) {
	begin := time.Now()
	k, err := c.connect(ctx, o.Destination)
	if err != nil {
		return nil, err
	}
	f, err := open(ctx, k)
	if err != nil {
		k.remove()
		return nil, err
	}
	s := &Session{Address: k.host, k: k, far: f}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if err := s.prepare(ctx, o); err != nil {
		return nil, err
	}
	if err := s.begin(ctx, o); err != nil {
		return nil, err
	}
	s.Lasted = time.Since(begin)
	go f.keepAlive()
	return s, nil
}

// prepare has the program on the host, in a folder of its own.
func (s *Session) prepare(ctx context.Context, o Order) error {
	if err := s.far.write([]byte(scriptLine())); err != nil {
		return s.ended(ctx, err)
	}
	words, err := s.reply(ctx, "soku-platform", 2)
	if err != nil {
		return s.notAShell(ctx, err)
	}
	if s.Platform, err = platformOf(o.Destination, words[0], words[1]); err != nil {
		return err
	}
	binary, err := o.Binary(s.Platform)
	if err != nil {
		return err
	}
	keep := "no"
	if o.Keep {
		keep = "yes"
	}
	if err := s.far.write([]byte(binary.Sum + " " + keep)); err != nil {
		return s.ended(ctx, err)
	}
	if words, err = s.reply(ctx, "soku-folder", 3); err != nil {
		return err
	}
	folder, number := words[0], words[2]
	if !folderText.MatchString(folder) || !numberText.MatchString(number) {
		return s.failed("folder", folder)
	}
	s.path, s.alive = folder+"/soku", folder+"/alive-"+number
	if s.Copied = words[1] != "yes"; s.Copied {
		if err := s.copy(ctx, o, binary, folder+"/part-"+number); err != nil {
			return err
		}
	}
	if err := s.far.write([]byte("start")); err != nil {
		return s.ended(ctx, err)
	}
	return nil
}

// folderText and numberText are what may stand in a command for the login shell of any host.
var (
	folderText = regexp.MustCompile(`^/[A-Za-z0-9/._+-]{1,300}$`)
	numberText = regexp.MustCompile(`^[0-9]{1,20}$`)
)

// copy writes the program to a file on the host.
func (s *Session) copy(ctx context.Context, o Order, b Binary, path string) error {
	file, err := o.Open(b.Path)
	if err != nil {
		return measure.Fail(measure.KindUsage, "ssh.no_binary", measure.Figures{"platform": s.Platform.String(), "cause": err})
	}
	defer func() { _ = file.Close() }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := cmp.Or(o.stall, copyStall)
	stalled := time.AfterFunc(limit, func() {
		cancel(measure.Fail(measure.KindUnreachable, "ssh.copy_stalled", measure.Figures{"destination": o.Destination, "after_ns": int64(limit)}))
	})
	defer stalled.Stop()
	cmd := s.k.further(ctx, "cat >"+path)
	complaints := &process.Tail{Limit: 4 << 10}
	cmd.Stdin, cmd.Stderr = watchedReader{file, func() { stalled.Reset(limit) }}, complaints
	if err := process.NewGroup(cmd).Run(); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		line := cmp.Or(process.LastLine(string(complaints.Bytes())), err.Error())
		return measure.Fail(measure.KindBroken, "ssh.copy", measure.Figures{"destination": o.Destination, "line": shown(line)})
	}
	return nil
}

// watchedReader calls read before each Read.
type watchedReader struct {
	io.Reader
	read func()
}

func (w watchedReader) Read(b []byte) (int, error) {
	w.read()
	return w.Reader.Read(b)
}

// begin has the host do what is wished.
func (s *Session) begin(ctx context.Context, o Order) error {
	wish := endpoint.Wish{Schema: endpoint.Schema}
	if o.Serve {
		s.Token = rand.Text()
		wish.Serve = &endpoint.Server{Ports: o.Ports, Token: s.Token, CopyRoot: o.CopyRoot}
	}
	if err := s.far.writeJSON(wish); err != nil {
		return s.ended(ctx, err)
	}
	line, err := s.far.next(ctx)
	if err != nil {
		return err
	}
	var ready endpoint.Ready
	err = json.Unmarshal(line, &ready)
	printable.Strings(&ready, maxShown)
	switch {
	case bytes.HasPrefix(line, []byte("soku-failed ")):
		_, err := s.word(line, "", 0)
		return err
	case err != nil || ready.Schema != endpoint.Schema:
		return measure.Fail(measure.KindBroken, "ssh.stray", measure.Figures{"destination": o.Destination, "line": shown(string(line))})
	case ready.Version != o.Version:
		return measure.Fail(measure.KindUsage, "ssh.version", measure.Figures{
			"destination": o.Destination, "platform": s.Platform.String(), "version": ready.Version, "own": o.Version,
		})
	case ready.Error != nil:
		return measure.Fail(ready.Error.Kind, "ssh.server", measure.Figures{"destination": o.Destination, "cause": ready.Error})
	case o.Serve && (ready.Port < 1 || ready.Port > 65535):
		return measure.Fail(measure.KindBroken, "ssh.stray", measure.Figures{"destination": o.Destination, "line": fmt.Sprint("port ", ready.Port)})
	}
	s.Port = ready.Port
	if s.Clock, err = agent.CompareClocks(func() (int64, error) { return s.far.ask(ctx) }); err != nil {
		return s.ended(ctx, err)
	}
	return nil
}

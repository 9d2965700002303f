package iperf3

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/wire"
	"soku/test/tier"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// playing is a server that runs part on the first connection, the control connection;
// streams are accepted and kept until the test ends.
func playing(t *testing.T, part func(control net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var streams []net.Conn
	go func() {
		defer close(done)
		control, err := l.Accept()
		if err != nil {
			return
		}
		played := make(chan struct{})
		go func() {
			defer close(played)
			_, _ = io.ReadFull(control, make([]byte, CookieSize))
			part(control)
			_ = control.Close()
		}()
		for {
			c, err := l.Accept()
			if err != nil {
				break
			}
			streams = append(streams, c)
		}
		_ = control.Close()
		<-played
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-done
		for _, c := range streams {
			_ = c.Close()
		}
	})
	return l.Addr().String()
}

func sendStates(c net.Conn, states ...State) {
	for _, s := range states {
		_ = WriteState(c, s)
	}
}

// parameters requests and reads the parameters.
func parameters(c net.Conn) *Parameters {
	sendStates(c, ParamExchange)
	p, _ := ReadParameters(c)
	return p
}

// results requests and reads the client's results.
func results(c net.Conn) {
	parameters(c)
	sendStates(c, CreateStreams, TestStart, TestRunning)
	_, _ = ReadState(c)
	sendStates(c, ExchangeResults)
	_, _ = ReadResults(c, false)
}

func asked(change ...func(*wire.Request)) wire.Request {
	o := option.Defaults(measure.TestTCP)
	o.ConnectTimeout = measure.Duration(300 * time.Millisecond)
	r := wire.Request{Test: measure.TestTCP, Options: o}
	for _, c := range change {
		c(&r)
	}
	return r
}

func overUDP(r *wire.Request) {
	r.Test, r.Options = measure.TestUDP, option.Defaults(measure.TestUDP)
	r.Options.ConnectTimeout = measure.Duration(300 * time.Millisecond)
}

// run runs a test without payload.
func run(t *testing.T, addr string, r wire.Request) (*measure.End, error) {
	t.Helper()
	s, err := Open(t.Context(), addr, r, wire.Hooks{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if r.Test == measure.TestUDP {
		_, err = s.UDP(t.Context())
	} else {
		_, err = s.TCP(t.Context())
	}
	if err == nil {
		err = s.Start(t.Context())
	}
	if err != nil {
		return nil, err
	}
	return s.Finish(t.Context(), &measure.End{Flows: []measure.FlowEnd{{
		Direction: measure.Forward, Role: measure.Sender, Streams: []measure.Stream{{SentBytes: 5}},
	}}})
}

func TestAServersErrorIsReported(t *testing.T) {
	fails := func(code int) func(net.Conn) {
		return func(c net.Conn) { parameters(c); _ = WriteError(c, code, 13) }
	}
	const whole = `{"cpu_util_total":1,"cpu_util_user":1,"cpu_util_system":0,"sender_has_retransmits":1,"streams":[]}`
	for name, c := range map[string]struct {
		part func(net.Conn)
		kind measure.Kind
		want string
	}{
		"busy":                        {func(c net.Conn) { sendStates(c, AccessDenied) }, measure.KindRefused, "busy"},
		"not authorized":              {fails(CodeAuthorization), measure.KindRefused, "not authorized"},
		"too fast":                    {fails(CodeTotalRate), measure.KindRefused, "rate is over"},
		"a number nobody knows":       {fails(9999), measure.KindBroken, "number 9999"},
		"its own failure":             {fails(CodeStreamRead), measure.KindBroken, "could not read"},
		"an error that is cut off":    {func(c net.Conn) { parameters(c); sendStates(c, ServerError) }, measure.KindRefused, "number 0"},
		"stopped":                     {func(c net.Conn) { parameters(c); sendStates(c, ServerTerminate) }, measure.KindBroken, "was stopped"},
		"closed after the parameters": {func(c net.Conn) { parameters(c) }, measure.KindRefused, "closed the control connection"},
		"a web server":                {func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400\r\n\r\n") }, measure.KindBroken, "does not speak"},
		"a state out of order":        {func(c net.Conn) { sendStates(c, DisplayResults) }, measure.KindBroken, "does not speak"},
		"closed before the start":     {func(c net.Conn) { parameters(c); sendStates(c, CreateStreams) }, measure.KindBroken, "closed"},
		"results without streams": {func(c net.Conn) {
			results(c)
			_ = WriteJSON(c, []byte(strings.Replace(whole, "streams", "s", 1)))
		}, measure.KindBroken, "without streams"},
		"endless results": {func(c net.Conn) {
			results(c)
			_, _ = c.Write(binary.BigEndian.AppendUint32(nil, 1<<31))
		}, measure.KindBroken, "JSON of 2147483648 bytes"},
		"results that are cut off": {func(c net.Conn) {
			results(c)
			_, _ = c.Write(append(binary.BigEndian.AppendUint32(nil, 1000), '{'))
		}, measure.KindBroken, "closed"},
		"no end": {func(c net.Conn) { results(c); _ = WriteJSON(c, []byte(whole)) }, measure.KindBroken, "closed"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, playing(t, c.part), asked())
			var e *measure.Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(e.Message, c.want) {
				t.Errorf("%v (%s)", err, measure.KindOf(err))
			}
		})
	}
}

func TestWhatIsWrongWithAMessageIsTheCauseOfTheFailure(t *testing.T) {
	addr := playing(t, func(c net.Conn) { results(c); _ = WriteJSON(c, []byte("[1]")) })
	_, err := run(t, addr, asked())
	var e *measure.Error
	if !errors.As(err, &e) || e.Code != "iperf3.results.answer" || e.Cause == nil || e.Cause.Code != "iperf3.message.not_json" || e.HintCode != "iperf3.other_program" {
		t.Errorf("%+v", e)
	}
}

func TestResultsOfUnknownStreamsAreIgnored(t *testing.T) {
	addr := playing(t, func(c net.Conn) {
		results(c)
		_ = WriteResults(c, &Results{Streams: []StreamResult{{ID: 4, Bytes: 1 << 40, EndTime: 1}}})
		sendStates(c, DisplayResults)
		_, _ = ReadState(c)
	})
	end, err := run(t, addr, asked())
	if err != nil || len(end.Flows) != 0 {
		t.Errorf("%+v, %v", end, err)
	}
}

func TestALostServerEndsTheTest(t *testing.T) {
	for name, c := range map[string]struct {
		then func(net.Conn)
		want string
	}{
		"closed":     {func(net.Conn) {}, "closed"},
		"stopped":    {func(c net.Conn) { sendStates(c, ServerTerminate) }, "stopped"},
		"failed":     {func(c net.Conn) { _ = WriteError(c, CodeExpired, 0) }, "time that it allows"},
		"ahead":      {func(c net.Conn) { sendStates(c, ExchangeResults) }, "does not speak"},
		"any number": {func(c net.Conn) { sendStates(c, 99) }, "does not speak"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), playing(t, func(con net.Conn) {
				parameters(con)
				sendStates(con, CreateStreams, TestStart, TestRunning)
				c.then(con)
			}), asked(), wire.Hooks{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if _, err = s.TCP(t.Context()); err == nil {
				err = s.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			select {
			case err := <-s.Err():
				if measure.KindOf(err) != measure.KindBroken || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v", err)
				}
			case <-time.After(5 * time.Second):
				t.Error("nobody noticed")
			}
		})
	}
}

func TestAStopIsSentToTheServer(t *testing.T) {
	heard := make(chan State, 1)
	s, err := Open(t.Context(), playing(t, func(c net.Conn) {
		parameters(c)
		sendStates(c, CreateStreams, TestStart, TestRunning)
		state, _ := ReadState(c)
		heard <- state
	}), asked(), wire.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.TCP(t.Context()); err == nil {
		err = s.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	if state := <-heard; state != ClientTerminate {
		t.Errorf("heard %s", state)
	}
}

func TestASilentServerDoesNotOutliveTheContext(t *testing.T) {
	tier.SpendsSeconds(t)
	silent := func(c net.Conn) { _, _ = io.Copy(io.Discard, c) } // until the client disconnects
	for name, part := range map[string]func(net.Conn){
		"from the start":       silent,
		"after the parameters": func(c net.Conn) { parameters(c); silent(c) },
		"before the start":     func(c net.Conn) { parameters(c); sendStates(c, CreateStreams); silent(c) },
		"at the results":       func(c net.Conn) { results(c); silent(c) },
	} {
		t.Run(name, func(t *testing.T) {
			addr := playing(t, part)
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			begin := time.Now()
			s, err := Open(ctx, addr, asked(), wire.Hooks{})
			if err == nil {
				defer s.Close()
				if _, err = s.TCP(ctx); err == nil {
					err = s.Start(ctx)
				}
				if err == nil {
					_, err = s.Finish(ctx, &measure.End{})
				}
			}
			if err == nil || time.Since(begin) > 5*time.Second {
				t.Errorf("%v after %s", err, time.Since(begin))
			}
		})
	}
}

func TestBlockedUDPIsReported(t *testing.T) {
	addr := playing(t, func(c net.Conn) { parameters(c); sendStates(c, CreateStreams); _, _ = ReadState(c) })
	_, err := run(t, addr, asked(overUDP))
	if measure.KindOf(err) != measure.KindUnreachable || !strings.Contains(err.Error(), "while TCP to the same port works") {
		t.Errorf("%v", err)
	}
}

// The datagrams of a server that sends immediately may overtake its answer.
func TestDatagramsBeforeTheAnswerDoNotOpenAStream(t *testing.T) {
	var udp net.PacketConn
	addr := playing(t, func(c net.Conn) {
		parameters(c)
		sendStates(c, CreateStreams)
		b := make([]byte, 100)
		_, from, err := udp.ReadFrom(b)
		if err != nil {
			return
		}
		for range 3 {
			_, _ = udp.WriteTo(make([]byte, 1400), from)
		}
		_, _ = udp.WriteTo([]byte(UDPReplyLegacy), from)
		sendStates(c, TestStart, TestRunning)
		_, _ = ReadState(c)
	})
	var err error
	if udp, err = net.ListenPacket("udp", addr); err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	s, err := Open(t.Context(), addr, asked(overUDP), wire.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err = s.UDP(t.Context()); err == nil {
		err = s.Start(t.Context())
	}
	if err != nil {
		t.Error(err)
	}
}

func TestConnectingRetriesBetweenTwoTests(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 2 { // closed without a message
			if c, err := l.Accept(); err == nil {
				_ = c.Close()
			}
		}
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		_, _ = io.ReadFull(c, make([]byte, CookieSize))
		parameters(c)
		sendStates(c, CreateStreams)
		_, _ = ReadState(c)
	}()
	s, err := Open(t.Context(), l.Addr().String(), asked(), wire.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	<-done
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_ = c.Close()
		}
	}()
	begin := time.Now()
	if _, err := Open(t.Context(), l.Addr().String(), asked(), wire.Hooks{}); measure.KindOf(err) != measure.KindBroken || time.Since(begin) > 5*time.Second {
		t.Errorf("one that drops everybody: %v after %s", err, time.Since(begin))
	}
}

func TestParametersMatchTheOptions(t *testing.T) {
	r := asked(func(r *wire.Request) {
		o := &r.Options
		o.Streams, o.Rate, o.Direction, o.Omit = 4, 100_000_000, measure.Reverse, measure.Duration(2*time.Second)
		o.Duration, o.TOS, o.TX, o.RX, o.Pin = measure.Duration(1500*time.Millisecond), 0x20, "sendfile", "discard", "auto/3"
	})
	p, err := ParametersFor(r)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(p.Protocol, p.Parallel, p.Bandwidth, p.Reverse, p.Omit, p.Time, p.TOS, p.ZeroCopy, p.SkipRXCopy, p.Length, *p.ServerAffinity)
	if want := fmt.Sprint("tcp", 4, 25_000_000, true, 2, 2, 0x20, 1, true, 128<<10, 3); got != want {
		t.Errorf("%s\n%s wanted", got, want)
	}
	r = asked(overUDP, func(r *wire.Request) { r.Options.Bytes, r.IPerf3.Blocks = 10_000, 7 })
	if p, err = ParametersFor(r); err != nil || p.Blocks != 7 || p.Bytes != 0 || p.Time != 0 || !p.Counters64 || p.Length != 1400 {
		t.Errorf("%+v, %v", p, err)
	}
}

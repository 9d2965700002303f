package native

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
	"soku/internal/measure/option"
	"soku/internal/wire"
	"soku/test/hostile"
	"soku/test/tier"
)

// Whatever one end sends the other, every text of it is printable once it is decoded.
func TestEveryTextOfTheOtherEndIsPrintable(t *testing.T) {
	keep := []reflect.Type{reflect.TypeFor[Key](), reflect.TypeFor[measure.Histogram](), reflect.TypeFor[measure.Figures]()}
	for _, message := range []any{&CreateRequest{}, &Created{}, &Failure{}, &Info{}, &Queue{}, &Event{}} {
		hostile.Fill(message, hostile.Text, keep...)
		fillFigures(message)
		text, err := json.Marshal(message)
		if err != nil {
			t.Fatal(err)
		}
		got := reflect.New(reflect.TypeOf(message).Elem()).Interface()
		if err := DecodeBody(bytes.NewReader(text), 1<<20, got); err != nil {
			t.Fatalf("%T: %v in %s", message, err, text)
		}
		hostile.CleanMessage(t, fmt.Sprintf("%T", message), got)
		if _, ok := message.(*Event); !ok {
			continue
		}
		e, err := ReadEvent(bufio.NewReader(bytes.NewReader(append(text, '\n'))), anyValues)
		if err != nil {
			t.Fatal(err)
		}
		hostile.CleanMessage(t, "event", e)
	}
}

// fillFigures gives the failures and findings of a message figures of each kind.
func fillFigures(message any) {
	figures := measure.Figures{hostile.Text: hostile.Text, "list": []string{hostile.Text}, "n": 1.5}
	failures, findings := []*measure.Error{}, []*measure.Finding{}
	collect(reflect.ValueOf(message), &failures, &findings)
	for _, e := range failures {
		e.Figures = figures
	}
	for _, f := range findings {
		f.Figures = figures
	}
}

func collect(v reflect.Value, failures *[]*measure.Error, findings *[]*measure.Finding) {
	if v.CanAddr() {
		switch p := v.Addr().Interface().(type) {
		case *measure.Error:
			*failures = append(*failures, p)
		case *measure.Finding:
			*findings = append(*findings, p)
		}
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			collect(v.Elem(), failures, findings)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				collect(v.Field(i), failures, findings)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			collect(v.Index(i), failures, findings)
		}
	}
}

// An event is limited to what the test can have, whatever its length.
func TestAnEventHasNoMoreValuesThanItsTest(t *testing.T) {
	const begin, end = `{"event":"done","end":{"flows":[{"streams":[`, "{}]}]}}\n"
	for name, part := range map[string]string{"empty objects": "{},", "nothing": "null,"} {
		line := begin + strings.Repeat(part, 12<<20/len(part)) + end
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadEvent(bufio.NewReader(strings.NewReader(line)), (&session{}).mostValues)
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, errManyValues) || grown > 100<<20 {
			t.Errorf("%s: %v, %d MiB were allocated", name, err, grown>>20)
		}
	}
}

// The series of a server must be one that a host can have.
func TestTheSeriesOfAServerIsHeldToItsBounds(t *testing.T) {
	for text, columns := range map[string]int{
		`{"at_ns":[0,5],"columns":{"cpu0.user_ns":[7]},"more":"text"}`: 1,
		`{"at_ns":[0,5],"columns":{"cpu0.user_ns":[7,8]}}`:             0,
		`{"at_ns":[0,5],"columns":{"a b":[7]}}`:                        0,
		"{\"at_ns\":[0],\"columns\":{},\"x\":\"\u009b2J\"}":            0,
		`"none"`: 0, `[]`: 0, `null`: 0,
	} {
		line := `{"event":"done","end":{"host":{"facts":{"os":"linux","arch":"arm64"},"series":` + text + `}}}` + "\n"
		e, err := ReadEvent(bufio.NewReader(strings.NewReader(line)), (&session{}).mostValues)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		host := presentable(e.End).Host
		v, err := host.Series.Values()
		if again, _ := json.Marshal(host); err != nil || len(v.Columns) != columns || host.Facts.Arch != "arm64" || strings.Contains(string(again), "more") {
			t.Errorf("%s: %d columns, %v, %s", text, len(v.Columns), err, again)
		}
	}
}

// A server that goes on for ever, a byte at a time, does not hold a client for ever: each
// interval puts the end of the silence off, but not that of the whole wait.
func TestAServerThatNeverEndsIsLeft(t *testing.T) {
	tier.SpendsSeconds(t)
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	api := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set(ProtocolHeader, Name) })}
	go func() { _ = api.Serve(l) }()
	defer api.Close()
	events, server := io.Pipe()
	s := &session{
		control: &control{addr: l.Addr().String(), options: option.Defaults(measure.TestTCP)}, lines: events,
		hooks: wire.Hooks{Observe: func(measure.Progress) {}}, over: make(chan struct{}), errs: make(chan error, 1), longest: 10 * time.Millisecond, endLife: func() {},
	}
	go s.listen()
	go func() {
		for err := error(nil); err == nil; _, err = server.Write([]byte(`{"event":"interval","interval":{"bytes":1}}` + "\n")) {
			time.Sleep(10 * time.Millisecond)
		}
	}()
	defer func() { _ = server.Close(); <-s.over }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var e *measure.Error
	if _, err := s.Finish(ctx, nil); !errors.As(err, &e) || e.Code != "native.no_end" {
		t.Errorf("%v", err)
	}
}

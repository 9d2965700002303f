package native

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"soku/internal/measure"
	"soku/test/hostile"
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
		e, err := ReadEvent(bufio.NewReader(bytes.NewReader(append(text, '\n'))))
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

package process_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"soku/internal/process"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(role); name != "" {
		play(name)
		return
	}
	goleak.VerifyTestMain(m)
}

func TestATailKeepsTheLastBytes(t *testing.T) {
	tail := &process.Tail{Limit: 8}
	for _, text := range []string{"abc", "", "defghi", strings.Repeat("x", 20), "yz"} {
		if n, err := io.WriteString(tail, text); n != len(text) || err != nil {
			t.Errorf("%q: wrote %d bytes, %v", text, n, err)
		}
	}
	if got := string(tail.Bytes()); got != "xxxxxxyz" {
		t.Errorf("kept %q", got)
	}
}

func TestTheLastLineIsNotBlank(t *testing.T) {
	for text, want := range map[string]string{"": "", "\n \n": "", "one": "one", "one\n two \r\n\n": "two"} {
		if got := process.LastLine(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestAnOpenPipeDecidesWhenTheContextEnds(t *testing.T) {
	in, parent := io.Pipe()
	signalled, interrupt := context.WithCancel(context.Background())
	ctx := process.WhileOpen(signalled, in)
	interrupt()
	if _, err := io.WriteString(parent, "still here"); err != nil { // and it is read
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Error("it ended with the other context")
	}
	_ = parent.Close()
	<-ctx.Done()
}

func TestAContextEndsWithWhatItDependsOn(t *testing.T) {
	ctx, stop := process.WhileThere(t.Context(), func() bool { return false })
	<-ctx.Done()
	stop()
	ctx, stop = process.WhileThere(t.Context(), func() bool { return true })
	if ctx.Err() != nil {
		t.Error("it ended before that was gone")
	}
	stop()
	<-ctx.Done()
}

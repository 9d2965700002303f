package server

import (
	"bufio"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/measure/finding"
	"soku/internal/wire/native"
)

// A client of an earlier version does not say that it reads findings.
func TestAClientThatReadsNoFindingsGetsSentences(t *testing.T) {
	s := serve(t, Config{MaxRate: 1_000_000})
	x := s.raw(tcpOptions(func(o *measure.Options) { o.Bytes = 1000 }))
	want := []string{"the server limits the rate to 1.000 Mbit/s (--max-rate); requested: no limit"}
	if !slices.Equal(x.created.Warnings, want) || len(x.created.Findings) != 1 {
		t.Errorf("created: %q, %+v", x.created.Warnings, x.created.Findings)
	}
	x.attach()
	for x.event().Event != native.EventReady {
	}
	x.open(0)
	x.start()
	_ = x.data[0].(*net.TCPConn).CloseWrite()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	x.ask(c, bufio.NewReader(c), http.MethodPost, native.FinishPath, "")
	if e := x.last(); e.End == nil || !slices.Equal(e.End.Warnings, want) || len(e.End.Findings) != 1 {
		t.Errorf("end: %+v, %+v", e.End, e.Error)
	}
}

// It looks for words in how the server waited.
func TestTheTimingInWordsHasWhatEarlierClientsLookFor(t *testing.T) {
	end := &measure.End{Timing: &measure.Timing{Clock: measure.ClockKernelArrival, Wait: measure.WaitSpinning, OwnThread: true}}
	putInWords(end)
	if !strings.Contains(end.Method, "spinning") || !strings.Contains(end.Method, "stamped") {
		t.Errorf("%q", end.Method)
	}
	asleep := &measure.End{Timing: &measure.Timing{Clock: measure.ClockProgram, Wait: measure.WaitPoller}}
	putInWords(asleep)
	if asleep.Method == "" || strings.Contains(asleep.Method, "spinning") || strings.Contains(asleep.Method, "stamped") {
		t.Errorf("%q", asleep.Method)
	}
}

func TestOmittedDetailIsReportedToClientsOfEitherVersion(t *testing.T) {
	for _, prose := range []bool{false, true} {
		end := &measure.End{}
		if prose {
			putInWords(end)
		}
		got := withoutDetail(native.Event{Event: native.EventDone, End: end}).End
		if len(got.Findings.With(finding.StreamSamplesLeftOut)) != 1 || (len(got.Warnings) == 1) != prose {
			t.Errorf("in words %v: %+v, %q", prose, got.Findings, got.Warnings)
		}
	}
}

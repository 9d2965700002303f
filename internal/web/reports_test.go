package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"soku/internal/store"
)

func TestAReportIsMadeOncePerState(t *testing.T) {
	k, made := newReports(), 0
	ask := func(c store.Campaign) string {
		page, err := k.page(t.Context(), c, func() ([]byte, error) { made++; return fmt.Appendf(nil, "%d", made), nil })
		if err != nil {
			t.Error(err)
		}
		return string(page)
	}
	c := store.Campaign{ID: "c", Done: 1}
	if a, b := ask(c), ask(c); a != "1" || b != "1" {
		t.Error(a, b)
	}
	if other := ask(store.Campaign{ID: "d", Done: 1}); other != "2" {
		t.Error("another campaign's report is shown")
	}
	for i, edit := range []func(){func() { c.Done++ }, func() { c.Failed++ }, func() { c.FinishedAt = time.Unix(1, 0) }} {
		if edit(); ask(c) != fmt.Sprint(3+i) {
			t.Error("the report is of an earlier state")
		}
	}
	broken := errors.New("broken")
	if _, err := k.page(t.Context(), store.Campaign{ID: "e"}, func() ([]byte, error) { return nil, broken }); !errors.Is(err, broken) || k.get("e", stateOf(store.Campaign{})) != nil {
		t.Errorf("%v: a failure is kept", err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	k.making <- struct{}{}
	if _, err := k.page(ended, store.Campaign{ID: "f"}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestReportsThatAreKeptAreBounded(t *testing.T) {
	k := newReports()
	at := time.Unix(0, 0)
	k.now = func() time.Time { at = at.Add(time.Second); return at }
	for i := range mostReports {
		k.put(fmt.Sprint(i), "", []byte{1})
	}
	k.get("0", "")
	k.put("more", "", []byte{1})
	if len(k.kept) != mostReports || k.get("0", "") == nil || k.get("1", "") != nil {
		t.Error("not the one that was used least recently was forgotten")
	}
	k.put("large", "", bytes.Repeat([]byte{1}, mostReportBytes))
	if len(k.kept) != 1 || k.bytes != mostReportBytes {
		t.Errorf("%d reports, %d bytes", len(k.kept), k.bytes)
	}
	k.put("large", "", bytes.Repeat([]byte{1}, mostReportBytes+1))
	if len(k.kept) != 0 || k.bytes != 0 {
		t.Errorf("%d reports, %d bytes", len(k.kept), k.bytes)
	}
}

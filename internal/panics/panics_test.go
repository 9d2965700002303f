package panics_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"soku/internal/panics"
)

func TestAPanicKeepsItsValueAndItsStackOnItsWayUp(t *testing.T) {
	e := panics.Catch(func() {
		var outer panics.Group
		outer.Go(func() {
			var inner panics.Group
			inner.Go(brittle)
			inner.Wait()
		})
		outer.Wait()
	})
	if e == nil || e.Value != "glass" || !strings.Contains(string(e.Stack), "brittle") {
		t.Fatalf("caught %v", e)
	}
	if again := panics.Catch(func() { panics.Raise(fmt.Errorf("a session: %w", e)) }); again != e {
		t.Errorf("raised %v", again)
	}
}

func brittle() { panic("glass") }

func TestTheOtherGoroutinesOfAGroupAreStopped(t *testing.T) {
	end := make(chan struct{})
	group := panics.Group{Stop: func() { close(end) }}
	ended := 0
	group.Go(func() { <-end; ended++ })
	group.Go(brittle)
	if panics.Catch(group.Wait) == nil || ended != 1 {
		t.Errorf("%d others ended", ended)
	}
}

func TestWithoutAPanicThereIsNothingToCatch(t *testing.T) {
	var group panics.Group
	group.Go(func() {})
	if e := panics.Catch(group.Wait); e != nil {
		t.Error(e)
	}
	panics.Raise(errors.New("a failure"))
	panics.Raise(nil)
}

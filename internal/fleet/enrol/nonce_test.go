package enrol

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestANonceIsValidForAMinuteAndOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNonces()
		time.Sleep(time.Hour)
		text := n.make()
		time.Sleep(nonceLasts)
		random, err := n.decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.use(random); err != nil {
			t.Fatal(err)
		}
		if err := n.use(random); err == nil {
			t.Error("it was used twice")
		}
		time.Sleep(2 * time.Millisecond)
		if _, err := n.decode(text); err == nil {
			t.Error("it is valid for more than a minute")
		}
		if _, err := newNonces().decode(n.make()); err == nil {
			t.Error("it is one of another hub")
		}
	})
}

func TestNoncesThatWereUsedAreBoundedAndForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNonces()
		use := func() error {
			random, err := n.decode(n.make())
			if err != nil {
				t.Fatal(err)
			}
			return n.use(random)
		}
		for range maxNonces {
			if err := use(); err != nil {
				t.Fatal(err)
			}
		}
		if use() == nil {
			t.Error("there is no bound")
		}
		time.Sleep(nonceLasts + time.Millisecond)
		if err := use(); err != nil || len(n.used) != 1 || len(n.ends) != 1 {
			t.Errorf("%d are known, %v", len(n.used), err)
		}
	})
}

func FuzzNonce(f *testing.F) {
	n := newNonces()
	good := n.make()
	f.Add(good)
	f.Add(strings.Repeat("A", len(good)))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := n.decode(text); err == nil && text != good && time.Since(n.began) < nonceLasts {
			t.Errorf("%q is taken", text)
		}
	})
}

package fleet_test

import (
	"crypto/tls"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"soku/internal/fleet"
	"soku/internal/measure"
)

var someAgent = "U" + strings.Repeat("A2", 27) + "B"

func TestASubjectSaysWhoSentIt(t *testing.T) {
	agent, what, ok := fleet.Sender(fleet.Up(someAgent, fleet.UpTrial, "result"))
	if agent != someAgent || what != fleet.UpTrial || !ok {
		t.Error(agent, what, ok)
	}
	for _, subject := range []string{
		"", "soku.v1.up.", "soku.v1.up." + someAgent, "soku.v1.up." + someAgent + ".", fleet.Down(someAgent, fleet.DownAsk), fleet.Everyone,
		"soku.v1.up.*.hello", "soku.v1.up." + strings.ToLower(someAgent) + ".hello", "soku.v2.up." + someAgent + ".hello",
	} {
		if agent, what, ok := fleet.Sender(subject); ok {
			t.Errorf("%q: %q %q", subject, agent, what)
		}
	}
}

func TestAnAnswerGoesToTheAgentThatAsked(t *testing.T) {
	if !fleet.MayReply(someAgent, fleet.Down(someAgent, fleet.DownAnswer, "word", "1")) {
		t.Error("its own answer is refused")
	}
	other := "UB" + someAgent[2:]
	for _, subject := range []string{
		"", fleet.Down(someAgent, fleet.DownTrial), fleet.Down(someAgent, fleet.DownAnswer), fleet.Down(someAgent, fleet.DownAnswer) + ".",
		fleet.Down(someAgent, fleet.DownAnswer, ">"), fleet.Down(other, fleet.DownAnswer, "word"), fleet.Down(other, fleet.DownLeave), fleet.Everyone,
	} {
		if fleet.MayReply(someAgent, subject) {
			t.Errorf("%q is taken for its own answer", subject)
		}
	}
}

func TestAMessageIsBoundedAndCleaned(t *testing.T) {
	if _, err := fleet.Decode[fleet.Hello]([]byte(`{"name":"`+strings.Repeat("x", 100)+`"}`), 50); measure.AsError(err, "").Code != "fleet.message.long" {
		t.Error(err)
	}
	if _, err := fleet.Decode[fleet.Hello]([]byte(`{"name":`), 50); measure.AsError(err, "").Code != "fleet.message.syntax" {
		t.Error(err)
	}
	h, err := fleet.Decode[fleet.Hello]([]byte(`{"name":"a\u001b[2J","later":1}`), 50)
	if err != nil || strings.ContainsRune(h.Name, 0x1b) {
		t.Errorf("%q, %v", h.Name, err)
	}
}

func TestOnlyTheServerWithThePinIsSpokenTo(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	pin := fleet.PinOf(server.Certificate().Raw)
	for _, text := range []string{string(pin), strings.ToUpper(string(pin)), string(pin[:2]) + ":" + string(pin[2:])} {
		if got, err := fleet.ParsePin(text); got != pin || err != nil {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	ask := func(p fleet.Pin) error {
		transport := &http.Transport{TLSClientConfig: p.Client()}
		defer transport.CloseIdleConnections()
		r, err := (&http.Client{Transport: transport}).Get(server.URL)
		if err == nil {
			_ = r.Body.Close()
		}
		return err
	}
	if err := ask(pin); err != nil {
		t.Error(err)
	}
	var refused *measure.Error
	if err := ask(fleet.PinOf(nil)); !errors.As(err, &refused) || refused.Code != "fleet.pin.other" {
		t.Error(err)
	}
	var unknown *tls.CertificateVerificationError
	if err := ask(""); !errors.As(err, &unknown) {
		t.Error(err)
	}
	if _, err := fleet.ParsePin("ab"); measure.KindOf(err) != measure.KindUsage {
		t.Error(err)
	}
}

func FuzzMessages(f *testing.F) {
	f.Add([]byte(`{"instance":"a","number":1,"running":["b"]}`))
	f.Add([]byte(`{"spec":{"schema":"soku.trial/1","test":"tcp","options":{"streams":2}}}`))
	f.Add([]byte(`{"progress":{},"ready":true}`))
	f.Add([]byte(`{"name":"x","server":{"ports":[0],"token":"t","grant":{"test":"tcp","duration_ns":1,"connections":2}}}`))
	f.Add([]byte(`{"port":7658,"certificate":"3f"}`))
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = fleet.Decode[fleet.Hello](b, fleet.MaxState)
		_, _ = fleet.Decode[fleet.Beat](b, fleet.MaxState)
		_, _ = fleet.Decode[fleet.TrialReport](b, fleet.MaxState)
		_, _ = fleet.Decode[fleet.TrialOrder](b, fleet.MaxMessage)
		_, _ = fleet.Decode[fleet.Join](b, fleet.MaxState)
		_, _ = fleet.Decode[fleet.Receipt](b, fleet.MaxState)
		_, _ = fleet.Decode[fleet.Serve](b, fleet.MaxState)
		_, _ = fleet.Decode[fleet.Served](b, fleet.MaxState)
	})
}

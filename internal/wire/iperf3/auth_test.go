package iperf3

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"soku/internal/measure"
)

func guard(t testing.TB) *Guard {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	users, err := ParseUsers([]byte("# who may\r\nmario," + HashPassword("mario", "rossi") + "\r\n\nother," + HashPassword("other", "x") + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return &Guard{Key: key, Users: users}
}

func TestATokenIsValidForALimitedTime(t *testing.T) {
	g := guard(t)
	now := time.Unix(1_700_000_000, 0)
	for _, pkcs1 := range []bool{false, true} {
		g.PKCS1 = pkcs1
		token, err := Token("mario", "rossi", &g.Key.PublicKey, pkcs1, now)
		if err != nil {
			t.Fatal(err)
		}
		if user, err := g.Check(token, now.Add(9*time.Second)); err != nil || user != "mario" {
			t.Errorf("%q, %v", user, err)
		}
		if _, err := g.Check(token, now.Add(11*time.Second)); err == nil || !strings.Contains(err.Error(), "clocks") {
			t.Errorf("an old token: %v", err)
		}
		g.PKCS1 = !pkcs1
		g.used.until = nil
		if _, err := g.Check(token, now); err == nil {
			t.Error("the other padding was taken")
		}
	}
}

// Who reads a token on the way cannot measure with it, also in another form of the same number.
func TestATokenIsValidOnce(t *testing.T) {
	g := guard(t)
	now := time.Unix(1_700_000_000, 0)
	sealed := make([]byte, 300)
	for len(sealed) >= g.Key.Size() { // about one in 256 begins with a zero byte
		token, err := Token("mario", "rossi", &g.Key.PublicKey, false, now)
		if err != nil {
			t.Fatal(err)
		}
		if sealed, err = base64.StdEncoding.DecodeString(token); err != nil {
			t.Fatal(err)
		}
		sealed = bytes.TrimLeft(sealed, "\x00")
		if user, err := g.Check(token, now); err != nil || user != "mario" {
			t.Fatalf("%q, %v", user, err)
		}
		var e *measure.Error
		if _, err := g.Check(token, now.Add(time.Second)); !errors.As(err, &e) || e.Code != "iperf3.users.used" {
			t.Fatalf("a used token: %v", err)
		}
	}
	if _, err := g.Check(base64.StdEncoding.EncodeToString(sealed), now); err == nil {
		t.Error("a used token without its leading zero was taken")
	}
}

// A token of a client whose clock is ahead is valid for longer than one of this clock, and
// remembered for as long, also while others are forgotten.
func TestAUsedTokenIsRememberedAsLongAsItIsValid(t *testing.T) {
	g := guard(t)
	now := time.Unix(1_700_000_000, 0)
	token := func(at time.Time) string {
		token, err := Token("mario", "rossi", &g.Key.PublicKey, false, at)
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	ahead := token(now.Add(DefaultSkew))
	if _, err := g.Check(ahead, now); err != nil {
		t.Fatal(err)
	}
	for i := range mostUsed - 1 {
		if err := g.used.use([]byte(strconv.Itoa(i)), now, now); err != nil {
			t.Fatal(i, err)
		}
	}
	late := now.Add(2 * DefaultSkew)
	if _, err := g.Check(token(late), late); err != nil || len(g.used.until) != 2 {
		t.Fatalf("%v; %d tokens are remembered", err, len(g.used.until))
	}
	var e *measure.Error
	if _, err := g.Check(ahead, late); !errors.As(err, &e) || e.Code != "iperf3.users.used" {
		t.Errorf("a used token: %v", err)
	}
}

func TestUsedTokensAreForgottenWhenTheyAreTooOld(t *testing.T) {
	var u usedTokens
	now := time.Unix(1_700_000_000, 0)
	for i := range mostUsed {
		if err := u.use([]byte(strconv.Itoa(i)), now, now.Add(DefaultSkew)); err != nil {
			t.Fatal(i, err)
		}
	}
	if u.use([]byte("more"), now.Add(DefaultSkew), now.Add(2*DefaultSkew)) == nil {
		t.Error("more tokens than are remembered")
	}
	if err := u.use([]byte("later"), now.Add(DefaultSkew+1), now.Add(2*DefaultSkew)); err != nil || len(u.until) != 1 {
		t.Errorf("%v; %d tokens are remembered", err, len(u.until))
	}
}

func TestUnknownUsersAreRefused(t *testing.T) {
	g := guard(t)
	now := time.Now()
	for _, c := range []struct{ user, password, code string }{
		{"mario", "bianchi", "iperf3.users.wrong"}, {"nobody", "rossi", "iperf3.users.wrong"}, {"mario", "", "iperf3.users.malformed_token"},
	} {
		token, err := Token(c.user, c.password, &g.Key.PublicKey, false, now)
		if err != nil {
			t.Fatal(err)
		}
		var e *measure.Error
		if user, err := g.Check(token, now); !errors.As(err, &e) || e.Code != c.code || user != "" {
			t.Errorf("%v: %q, %v", c, user, err)
		}
	}
	for _, token := range []string{"", "!", "AAAA", base64.StdEncoding.EncodeToString(make([]byte, 5000))} {
		if _, err := g.Check(token, now); err == nil {
			t.Errorf("%.10q was let in", token)
		}
	}
}

func TestKeysAreReadInEveryFormatOfIperf3(t *testing.T) {
	g := guard(t)
	pkix, _ := x509.MarshalPKIXPublicKey(&g.Key.PublicKey)
	public := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: pkix})
	for _, text := range [][]byte{public, []byte(base64.StdEncoding.EncodeToString(public))} {
		if key, err := ParsePublicKey(text); err != nil || !key.Equal(&g.Key.PublicKey) {
			t.Errorf("%v", err)
		}
	}
	pkcs8, _ := x509.MarshalPKCS8PrivateKey(g.Key)
	for _, block := range []pem.Block{{Type: "PRIVATE KEY", Bytes: pkcs8}, {Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(g.Key)}} {
		if key, err := ParsePrivateKey(pem.EncodeToMemory(&block)); err != nil || !key.Equal(g.Key) {
			t.Errorf("%s: %v", block.Type, err)
		}
	}
	for _, bad := range []string{"", "key", "-----BEGIN X-----\nAAAA\n-----END X-----\n"} {
		if _, err := ParsePublicKey([]byte(bad)); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

func TestAnInvalidUserFileNamesTheLine(t *testing.T) {
	if _, err := ParseUsers([]byte("# users\nmario,1234\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("%v", err)
	}
	// echo -n "{mario}rossi" | sha256sum
	if got := HashPassword("mario", "rossi"); got != "bf7a49a846d44b454a5d11e7acfaf13d138bbe0b7483aa3e050879700572709b" {
		t.Errorf("mario, rossi: %s", got)
	}
}

func FuzzParseUsers(f *testing.F) {
	f.Add([]byte("# c\nmario," + HashPassword("mario", "rossi") + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = ParseUsers(b) })
}

func FuzzParseToken(f *testing.F) {
	f.Add("user: mario\npwd:  rossi\nts:   1700000000")
	f.Fuzz(func(t *testing.T, text string) {
		if user, _, _, err := parseToken(text); err == nil && user == "" {
			t.Error("a token without a user")
		}
	})
}

func FuzzPublicKey(f *testing.F) {
	f.Add([]byte("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"))
	f.Fuzz(func(t *testing.T, b []byte) { _, _ = ParsePublicKey(b); _, _ = ParsePrivateKey(b) })
}

package enrol_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"

	"soku/internal/fleet/enrol"
	"soku/internal/measure"
)

func TestAnAuthorityIsMadeOnce(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "hub", "keys")
	first, err := enrol.OpenAuthority(folder)
	if err != nil {
		t.Fatal(err)
	}
	again, err := enrol.OpenAuthority(folder)
	if err != nil || again.ID() != first.ID() || again.Account() != first.Account() || again.SystemAccount() != first.SystemAccount() {
		t.Fatalf("%v, %v; %v", first, again, err)
	}
	text, err := again.AgentJWT(newAgent(t).id, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	accounts, err := first.AccountJWTs(nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := jwt.DecodeAccountClaims(accounts[first.Account()])
	if err != nil || c.Issuer != first.ID() {
		t.Fatal(c, err)
	}
	if u, err := jwt.DecodeUserClaims(text); err != nil || !c.DidSign(u) || u.Issuer == first.Account() {
		t.Errorf("%+v, %v", u, err)
	}
	name := filepath.Join(folder, "authority.json")
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{name: 0o600, folder: 0o700 | os.ModeDir} {
			if info, err := os.Stat(path); err != nil || info.Mode() != want {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		if err := os.Chmod(name, 0o640); err != nil {
			t.Fatal(err)
		}
		if _, err := enrol.OpenAuthority(folder); measure.KindOf(err) != measure.KindPermission {
			t.Errorf("others may read it: %v", err)
		}
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for what, content := range map[string]string{
		"empty": "", "cut": string(whole[:len(whole)/2]), "another schema": strings.Replace(string(whole), "authority/1", "authority/2", 1),
		"an account for an operator": strings.Replace(string(whole), `"SO`, `"SA`, 1),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := enrol.OpenAuthority(folder)
		if measure.KindOf(err) != measure.KindFile {
			t.Errorf("%s: %v", what, err)
		}
		if now, _ := os.ReadFile(name); string(now) != content {
			t.Errorf("%s: the file was changed", what)
		}
	}
}

func TestTheConfigurationOfABrokerHasNoSecret(t *testing.T) {
	folder := t.TempDir()
	a, err := enrol.OpenAuthority(folder)
	if err != nil {
		t.Fatal(err)
	}
	text, err := a.NATSConfig(nil)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := os.ReadFile(filepath.Join(folder, "authority.json"))
	if err != nil {
		t.Fatal(err)
	}
	seeds := 0
	for _, word := range strings.FieldsFunc(string(keys), func(r rune) bool { return strings.ContainsRune("\"{}:, \n\t", r) }) {
		if strings.HasPrefix(word, "S") && len(word) > 50 {
			if seeds++; strings.Contains(text, word) {
				t.Error("the configuration has a private key")
			}
		}
	}
	if seeds != 4 || !strings.Contains(text, a.Account()+": ey") || !strings.Contains(text, a.SystemAccount()+": ey") {
		t.Errorf("%d keys, %s", seeds, text)
	}
}

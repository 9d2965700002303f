package postgres_test

import (
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/postgres"
	_ "soku/internal/tests" // registers the tests whose options and metrics are used here
	"soku/test/postgresql"
	"soku/test/storetest"
	"soku/test/tier"
)

func TestMain(m *testing.M) { postgresql.Main(m) }

func open(t testing.TB, address string) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestPostgreSQLConforms(t *testing.T) {
	tier.SpendsSeconds(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, postgresql.Database(t)) })
}

func TestTextsComeBackWithEveryCharacter(t *testing.T) {
	tier.SpendsSeconds(t)
	s := open(t, postgresql.Database(t))
	const evil = "a\x00b\x01c\x01\x02'\\日本語"
	r := storetest.Result("id"+evil, 1)
	r.Path.Client.Name = evil
	r.Trial = &measure.Trial{Campaign: evil, Pattern: evil, Label: evil, Levels: []measure.Level{{Factor: evil, Value: evil}}}
	if err := s.Put(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]store.Query{
		"prefix": {IDPrefix: "ida\x00"}, "endpoint": {Endpoint: evil}, "level": {Levels: r.Trial.Levels}, "campaign": {Campaign: evil},
	} {
		page, err := s.List(t.Context(), q)
		if err != nil || len(page.Items) != 1 || page.Items[0].ID != r.ID || page.Items[0].Pattern != evil {
			t.Errorf("%s: %+v, %v", name, page.Items, err)
		}
	}
	if missing, err := s.Missing(t.Context(), []string{"x", r.ID, "y\x00"}); err != nil || strings.Join(missing, " ") != "x y\x00" {
		t.Errorf("%q, %v", missing, err)
	}
	if n, err := s.DeleteCampaign(t.Context(), evil); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestErrorsNameTheDatabaseWithoutItsPassword(t *testing.T) {
	tier.SpendsSeconds(t)
	address := postgresql.Database(t)
	for name, c := range map[string]struct {
		address string
		kind    measure.Kind
		says    string
	}{
		"no database":    {address[:strings.LastIndex(address, "/")] + "/nothing", measure.KindStore, "there is no such database"},
		"wrong password": {strings.Replace(address, "p%40ss", "secret", 1), measure.KindStore, "the password or the user is wrong"},
		"nothing there":  {"postgres://soku:secret@127.0.0.1:1/soku", measure.KindStore, "cannot be reached"},
		"no URL":         {"postgres://soku:secret@[::1/soku", measure.KindUsage, "URL"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := postgres.Open(t.Context(), c.address)
			if err == nil {
				_ = s.Close()
				t.Fatal("no error")
			}
			if said := err.Error(); measure.KindOf(err) != c.kind || !strings.Contains(said, c.says) || strings.Contains(said, "secret") || strings.Contains(said, "p@ss") {
				t.Errorf("%s: %s", measure.KindOf(err), said)
			}
		})
	}
}

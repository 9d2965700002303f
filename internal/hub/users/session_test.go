package users

import (
	"path/filepath"
	"testing"

	"soku/internal/measure"
	"soku/internal/store/sqlite"
	"soku/internal/store/sqlstore"
)

// To check a password takes long enough for another one to be set.
func TestNoSessionBeginsByAPasswordThatWasReplacedMeanwhile(t *testing.T) {
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "soku.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	db, _ := sqlstore.Of(s)
	u, err := Open(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	link, err := u.FirstLink(t.Context())
	if err == nil {
		_, _, err = u.UseLink(t.Context(), link, "mika", "correct horse battery")
	}
	if err != nil {
		t.Fatal(err)
	}
	kept := func() (text string) {
		if err := db.DB.QueryRowContext(t.Context(), `SELECT password FROM hub_user`).Scan(&text); err != nil {
			t.Fatal(err)
		}
		return text
	}
	old := kept()
	if link, err = u.NewLink(t.Context(), "mika"); err == nil {
		_, _, err = u.UseLink(t.Context(), link, "", "another password")
	}
	if err != nil {
		t.Fatal(err)
	}
	if cookie, err := u.begin(t.Context(), "mika", old); measure.AsError(err, "").Code != "users.login" || cookie != "" {
		t.Errorf("a session begins by the former password: %v", err)
	}
	if cookie, err := u.begin(t.Context(), "mika", kept()); err != nil || cookie == "" {
		t.Error(err)
	}
}

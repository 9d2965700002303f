package users_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"soku/internal/hub/users"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
	"soku/test/databases"
	"soku/test/postgresql"
)

func TestMain(m *testing.M) { postgresql.Main(m) }

const password = "correct horse battery"

// eachDatabase runs a test in both databases.
func eachDatabase(t *testing.T, test func(t *testing.T, u *users.Users, db *sqlstore.Store)) {
	databases.Each(t, func(t *testing.T, _ store.Store, db *sqlstore.Store) {
		u, err := users.Open(t.Context(), db)
		if err != nil {
			t.Fatal(err)
		}
		test(t, u, db)
	})
}

// fails checks the code of a failure.
func fails(t *testing.T, what string, err error, code string) {
	t.Helper()
	if e := measure.AsError(err, measure.KindInternal); e == nil || e.Code != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}

// atOnce does something several times at the same time, and returns how often it was done.
func atOnce(times int, do func(i int) error) int64 {
	var done atomic.Int64
	var all sync.WaitGroup
	for i := range times {
		all.Go(func() {
			if do(i) == nil {
				done.Add(1)
			}
		})
	}
	all.Wait()
	return done.Load()
}

// add adds a user who has set the password.
func add(t *testing.T, u *users.Users, name string, role users.Role) {
	t.Helper()
	token, err := u.Add(t.Context(), name, role)
	if err == nil {
		_, _, err = u.UseLink(t.Context(), token, "", password)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestTheFirstAdminUsesTheLinkOnce(t *testing.T) {
	eachDatabase(t, func(t *testing.T, u *users.Users, _ *sqlstore.Store) {
		old, err := u.FirstLink(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		token, err := u.FirstLink(t.Context())
		if err != nil || token == "" || token == old {
			t.Fatal(token, err)
		}
		_, _, err = u.UseLink(t.Context(), old, "root", password)
		fails(t, "a link in whose place another came", err, "users.link")
		_, _, err = u.UseLink(t.Context(), token, "root", "short")
		fails(t, "a short password", err, "users.password.length")
		for _, name := range []string{"", "Root", "a b", "<b>", users.AdminToken, strings.Repeat("a", 65)} {
			_, _, err = u.UseLink(t.Context(), token, name, password)
			fails(t, name, err, "users.name")
		}
		used := atOnce(4, func(i int) error {
			_, _, err := u.UseLink(t.Context(), token, fmt.Sprint("root", i), password)
			return err
		})
		people, err := u.List(t.Context())
		if err != nil || used != 1 || len(people) != 1 || people[0].Role != users.Admin || !people[0].Password {
			t.Errorf("%d times, %+v, %v", used, people, err)
		}
		if again, err := u.FirstLink(t.Context()); err != nil || again != "" {
			t.Errorf("a link for the first admin, when there is one: %q, %v", again, err)
		}
	})
}

func TestASessionIsOfWhoHasThePassword(t *testing.T) {
	eachDatabase(t, func(t *testing.T, u *users.Users, db *sqlstore.Store) {
		add(t, u, "mika", users.Operator)
		if _, err := u.Add(t.Context(), "new", users.Viewer); err != nil {
			t.Fatal(err)
		}
		for name, given := range map[string]string{"mika": password + ".", "nobody": password, "new": "", "": ""} {
			_, _, err := u.LogIn(t.Context(), "192.0.2.1:1", name, given)
			fails(t, name, err, "users.login")
		}
		cookie, p, err := u.LogIn(t.Context(), "192.0.2.1:1", "mika", password)
		if err != nil || p != (users.Person{Name: "mika", Role: users.Operator}) {
			t.Fatal(p, err)
		}
		who := func(cookie string) users.Person {
			p, err := u.OfSession(t.Context(), cookie)
			if err != nil {
				t.Error(err)
			}
			return p
		}
		if who(cookie).Name != "mika" || who(cookie+"x").Name != "" || who("").Name != "" {
			t.Error("sessions are mixed up")
		}
		if err := u.SetRole(t.Context(), "mika", users.Viewer); err != nil || who(cookie).Role != users.Viewer {
			t.Errorf("%v: a role does not change at once: %v", who(cookie), err)
		}
		if _, err := db.DB.ExecContext(t.Context(), `UPDATE hub_session SET seen_at = seen_at - 13 * 3600000`); err != nil || who(cookie).Name != "" {
			t.Errorf("a session without requests goes on: %v", err)
		}
		next, _, err := u.LogIn(t.Context(), "192.0.2.1:1", "mika", password)
		if err != nil || who(next).Name == "" {
			t.Fatal(err)
		}
		if err := u.End(t.Context(), next); err != nil || who(next).Name != "" {
			t.Errorf("a session goes on after its end: %v", err)
		}
		last, _, err := u.LogIn(t.Context(), "192.0.2.1:1", "mika", password)
		if err != nil {
			t.Fatal(err)
		}
		link, err := u.NewLink(t.Context(), "mika")
		if err != nil {
			t.Fatal(err)
		}
		if used := atOnce(4, func(int) error { _, _, err := u.UseLink(t.Context(), link, "", "another password"); return err }); used != 1 || who(last).Name != "" {
			t.Errorf("a session goes on after a new password, or its link was used %d times", used)
		}
		var kept string
		if err := db.DB.QueryRowContext(t.Context(), `SELECT password FROM hub_user WHERE name = 'mika'`).Scan(&kept); err != nil || !strings.HasPrefix(kept, "$argon2id$v=19$m=19456,t=2,p=1$") {
			t.Errorf("%q, %v", kept, err)
		}
	})
}

func TestATokenMayDoWhatItsUserMay(t *testing.T) {
	eachDatabase(t, func(t *testing.T, u *users.Users, _ *sqlstore.Store) {
		add(t, u, "mika", users.Operator)
		token, err := u.MakeToken(t.Context(), "mika", users.Admin, 0)
		if err != nil {
			t.Fatal(err)
		}
		weak, err := u.MakeToken(t.Context(), "mika", users.Viewer, 0)
		if err != nil {
			t.Fatal(err)
		}
		role := func(token string) users.Role {
			p, err := u.OfToken(t.Context(), token)
			if err != nil {
				t.Error(err)
			}
			return p.Role
		}
		if role(token) != users.Operator || role(weak) != users.Viewer || role("soku-api-x") != "" {
			t.Error(role(token), role(weak), role("soku-api-x"))
		}
		_, err = u.MakeToken(t.Context(), "nobody", users.Viewer, 0)
		fails(t, "a token of nobody", err, "users.unknown")
		fails(t, "to end the tokens of an unknown user", u.EndTokens(t.Context(), "other"), "users.unknown")
		if err := u.EndTokens(t.Context(), "mika"); err != nil || role(token) != "" || role(weak) != "" {
			t.Errorf("a token goes on after its end: %v", err)
		}
		if token, err = u.MakeToken(t.Context(), "mika", users.Admin, 0); err != nil || role(token) != users.Operator {
			t.Fatal(err)
		}
		if err := u.Remove(t.Context(), "mika"); err != nil || role(token) != "" {
			t.Errorf("a token outlives its user: %v", err)
		}
		fails(t, "to remove nobody", u.Remove(t.Context(), "mika"), "users.unknown")
		fails(t, "a role of nobody", u.SetRole(t.Context(), "mika", users.Admin), "users.unknown")
		fails(t, "no role", u.SetRole(t.Context(), "mika", "king"), "users.role")
		add(t, u, "mika", users.Viewer)
		_, err = u.Add(t.Context(), "mika", users.Admin)
		fails(t, "a name that is taken", err, "users.exists")
		if role(token) != "" {
			t.Error("a token is of another user with the same name")
		}
	})
}

func TestTriesToLogInAreBounded(t *testing.T) {
	eachDatabase(t, func(t *testing.T, u *users.Users, _ *sqlstore.Store) {
		add(t, u, "mika", users.Viewer)
		try := func(address, name, given string) string {
			_, _, err := u.LogIn(t.Context(), address, name, given)
			if err == nil {
				return ""
			}
			return measure.AsError(err, measure.KindInternal).Code
		}
		last := ""
		for i := range 11 {
			last = try(fmt.Sprintf("192.0.2.%d:1", i), "mika", "wrong") // each from another address
		}
		if now := try("192.0.2.99:1", "mika", password); last != "users.tries" || now != "users.tries" {
			t.Errorf("%q, %q: a name can be tried without end", last, now)
		}
		for i := range 21 {
			last = try("[2001:db8::"+fmt.Sprint(i)+"]:1", fmt.Sprint("n", i), "wrong") // each with another name, from one network
		}
		if last != "users.tries" {
			t.Errorf("%q: an address can try without end", last)
		}
		if got := try("[2001:db8:0:1::1]:1", "other", "wrong"); got != "users.login" {
			t.Errorf("%q: another network cannot try", got)
		}
	})
}

func TestTheAuditLogHasTheNewestFirst(t *testing.T) {
	eachDatabase(t, func(t *testing.T, u *users.Users, _ *sqlstore.Store) {
		if err := u.Log(t.Context(), users.Entry{Who: "mika\x1b[31m\n", Address: "192.0.2.1", Action: users.ActionLogIn}, measure.Fail(measure.KindRefused, "users.login", nil)); err != nil {
			t.Fatal(err)
		}
		all, err := u.Entries(t.Context(), 10)
		if err != nil || len(all) != 1 || strings.ContainsAny(all[0].Who, "\x1b\n") || all[0].Failure != "users.login" || all[0].At.IsZero() {
			t.Errorf("%+v, %v", all, err)
		}
	})
}

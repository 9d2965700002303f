package web

import (
	"net/http"

	"soku/internal/hub/users"
	"soku/internal/measure"
)

// loginPage is the page where a person logs in.
type loginPage struct{ Name, Next string }

func (p *pages) loginForm(w http.ResponseWriter, r *http.Request) {
	p.showLogin(w, http.StatusOK, loginPage{Next: onThisHub(r.URL.Query().Get("next"))}, nil)
}

func (p *pages) showLogin(w http.ResponseWriter, status int, page loginPage, failure error) {
	v := view{Title: p.Text.Sentence("web.login.title", nil), Page: page}
	if failure != nil {
		v.Error = p.words(failure)
	}
	p.show(w, status, "login", v)
}

func (p *pages) login(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	page := loginPage{r.PostFormValue("name"), onThisHub(r.PostFormValue("next"))}
	cookie, _, err := p.Users.LogIn(r.Context(), r.RemoteAddr, page.Name, r.PostFormValue("password"))
	if p.loginStatus(err) != http.StatusTooManyRequests { // which would fill the log
		p.audit(r, page.Name, users.ActionLogIn, "", err)
	}
	if err != nil {
		p.showLogin(w, p.loginStatus(err), page, p.outside(err))
		return
	}
	session(w, cookie)
	http.Redirect(w, r, page.Next, http.StatusSeeOther)
}

// loginStatus is the status of an answer to a failure to log in.
func (*pages) loginStatus(err error) int {
	e := measure.AsError(err, measure.KindInternal)
	switch {
	case e == nil:
		return http.StatusOK
	case e.Code == "users.tries":
		return http.StatusTooManyRequests
	case e.Code == "users.login":
		return http.StatusUnauthorized
	}
	return statusOf(err)
}

func (p *pages) logout(w http.ResponseWriter, r *http.Request) {
	if cookie, err := r.Cookie(cookieName); err == nil {
		who, _ := p.Users.OfSession(r.Context(), cookie.Value) // ended all the same
		err := p.Users.End(r.Context(), cookie.Value)
		if who.Name != "" { // anybody could fill the log otherwise
			p.audit(r, who.Name, users.ActionLogOut, "", err)
		}
		if err != nil {
			p.failure(w, who, p.outside(err), 0)
			return
		}
	}
	session(w, "")
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// welcomePage is the page where a person sets a password.
type welcomePage struct {
	Name  string
	First bool // chooses the name, too
}

func (p *pages) welcomeForm(w http.ResponseWriter, r *http.Request) {
	name, err := p.Users.LinkOf(r.Context(), r.PathValue("token"))
	if err != nil {
		p.failure(w, users.Person{}, p.outside(err), 0)
		return
	}
	p.showWelcome(w, http.StatusOK, welcomePage{name, name == ""}, nil)
}

func (p *pages) showWelcome(w http.ResponseWriter, status int, page welcomePage, failure error) {
	v := view{Title: p.Text.Sentence("web.welcome.title", nil), Page: page}
	if failure != nil {
		v.Error = p.words(failure)
	}
	p.show(w, status, "welcome", v)
}

func (p *pages) welcome(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	token := r.PathValue("token")
	of, err := p.Users.LinkOf(r.Context(), token)
	if err != nil {
		p.failure(w, users.Person{}, p.outside(err), 0)
		return
	}
	page := welcomePage{of, of == ""}
	if page.First {
		page.Name = r.PostFormValue("name")
	}
	cookie, err := p.setPassword(r, token, page.Name)
	if p.loginStatus(err) != http.StatusTooManyRequests {
		p.audit(r, page.Name, users.ActionPassword, "", err)
	}
	if err != nil {
		p.showWelcome(w, p.loginStatus(err), page, p.outside(err))
		return
	}
	session(w, cookie)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// setPassword returns the secret of the cookie of a session.
func (p *pages) setPassword(r *http.Request, token, name string) (cookie string, err error) {
	password := r.PostFormValue("password")
	if password != r.PostFormValue("again") {
		return "", measure.Fail(measure.KindUsage, "web.password.again", nil)
	}
	if err := p.Users.Try(r.RemoteAddr, ""); err != nil {
		return "", err
	}
	cookie, _, err = p.Users.UseLink(r.Context(), token, name, password)
	return cookie, err
}

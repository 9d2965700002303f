package web

import (
	"net/http"
	"time"

	"soku/internal/hub/users"
)

// shownEntries is how many of the newest entries of the audit log are shown.
const shownEntries = 500

// UserOrder is a user who is to be added, or whose role is to change.
type UserOrder struct {
	Name string     `json:"name,omitempty"`
	Role users.Role `json:"role"`
}

// UserLink is the link by which a user sets a password, shown once.
type UserLink struct {
	Name string `json:"name"`
	Link string `json:"link"`
}

// UserTokenOrder is a token for programs that is asked for.
type UserTokenOrder struct {
	Role    users.Role `json:"role"`               // at most; the user's may be less
	LastsNs int64      `json:"lasts_ns,omitempty"` // 0: 90 days
}

// UserToken is a token for programs, shown once.
type UserToken struct {
	Name  string `json:"name"`
	Token string `json:"token"`
}

// WelcomeURL is the link of a token by which a person sets a password.
func WelcomeURL(hub, token string) string { return hub + "/welcome/" + token }

func (c Config) addUser(r *http.Request, person users.Person) (any, error) {
	o, err := read[UserOrder](r)
	if err != nil {
		return nil, err
	}
	token, err := c.Users.Add(r.Context(), o.Name, o.Role)
	c.audit(r, person.Name, users.ActionAdd, o.Name+" "+string(o.Role), err)
	return UserLink{o.Name, WelcomeURL(c.URL, token)}, err
}

func (c Config) removeUser(r *http.Request, person users.Person) (any, error) {
	name := r.PathValue("name")
	err := c.Users.Remove(r.Context(), name)
	c.audit(r, person.Name, users.ActionRemove, name, err)
	return UserOrder{Name: name}, err
}

func (c Config) setRole(r *http.Request, person users.Person) (any, error) {
	o, err := read[UserOrder](r)
	if err != nil {
		return nil, err
	}
	o.Name = r.PathValue("name")
	err = c.Users.SetRole(r.Context(), o.Name, o.Role)
	c.audit(r, person.Name, users.ActionRole, o.Name+" "+string(o.Role), err)
	return o, err
}

func (c Config) newLink(r *http.Request, person users.Person) (any, error) {
	name := r.PathValue("name")
	token, err := c.Users.NewLink(r.Context(), name)
	c.audit(r, person.Name, users.ActionLink, name, err)
	return UserLink{name, WelcomeURL(c.URL, token)}, err
}

func (c Config) endUserTokens(r *http.Request, person users.Person) (any, error) {
	name := r.PathValue("name")
	err := c.Users.EndTokens(r.Context(), name)
	c.audit(r, person.Name, users.ActionUntoken, name, err)
	return UserOrder{Name: name}, err
}

func (c Config) userToken(r *http.Request, person users.Person) (any, error) {
	o, err := read[UserTokenOrder](r)
	if err != nil {
		return nil, err
	}
	name := r.PathValue("name")
	token, err := c.Users.MakeToken(r.Context(), name, o.Role, time.Duration(o.LastsNs))
	c.audit(r, person.Name, users.ActionToken, name+" "+string(o.Role), err)
	return UserToken{name, token}, err
}

package users

import (
	"context"
	"crypto/rand"
	"time"

	"soku/internal/measure"
	"soku/internal/printable"
	"soku/internal/store/sqlstore"
)

// auditLasts is how long the log keeps an entry; older ones are deleted when the hub starts.
const auditLasts = 400 * 24 * time.Hour

// maxSubject bounds the texts of an entry, in characters.
const maxSubject = 200

// Action is what an [Entry] is about.
type Action string

// Actions.
const (
	ActionLogIn    Action = "login"
	ActionLogOut   Action = "logout"
	ActionPassword Action = "password" // set by a link
	ActionAdd      Action = "user_add"
	ActionRemove   Action = "user_remove"
	ActionRole     Action = "user_role"
	ActionLink     Action = "user_link"
	ActionToken    Action = "user_token"
	ActionUntoken  Action = "user_tokens_end"
	ActionJoin     Action = "join_token"
	ActionUnjoin   Action = "join_token_end"
	ActionRevoke   Action = "agent_revoke"
	ActionStart    Action = "campaign_start"
	ActionStop     Action = "campaign_stop"
	ActionConfirm  Action = "campaign_confirm" // that a change by hand was made
)

// Entry is a line of the log: who did what, from where, and how it went.
type Entry struct {
	At      time.Time `json:"at"`
	Who     string    `json:"who"`
	Address string    `json:"address"`
	Action  Action    `json:"action"`
	Subject string    `json:"subject,omitempty"` // a user, an agent, a campaign
	Failure string    `json:"failure,omitempty"` // its code; empty: it was done
}

// Log adds an entry, with the time of the database. failure may be nil.
func (u *Users) Log(ctx context.Context, e Entry, failure error) error {
	if f := measure.AsError(failure, measure.KindInternal); f != nil {
		e.Failure = f.Code
		if e.Failure == "" {
			e.Failure = string(f.Kind)
		}
	}
	text := func(s string) string { return printable.Cut(printable.Line(s), maxSubject) }
	_, err := u.exec(ctx, `INSERT INTO hub_audit (id, at, who, address, action, subject, failure) VALUES (?, `+u.store.Dialect.Now+`, ?, ?, ?, ?, ?)`,
		rand.Text(), text(e.Who), text(e.Address), string(e.Action), text(e.Subject), e.Failure)
	return err
}

// Entries are the newest entries of the log, the newest first.
func (u *Users) Entries(ctx context.Context, limit int) ([]Entry, error) {
	rows, err := u.store.DB.QueryContext(ctx, u.sql(`SELECT at, who, address, action, subject, failure FROM hub_audit ORDER BY at DESC, id LIMIT ?`), limit)
	var all []Entry
	if err == nil {
		all, err = sqlstore.Collect(rows, func(scan func(...any) error) (e Entry, err error) {
			var at int64
			err = scan(&at, &e.Who, &e.Address, &e.Action, &e.Subject, &e.Failure)
			e.At = time.UnixMilli(at).UTC()
			return e, err
		})
	}
	if err != nil {
		return nil, u.fail(ctx, err)
	}
	return all, nil
}

package enrol

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
	"time"

	"soku/internal/measure"
	"soku/internal/store/sqlstore"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Registry keeps agents and join tokens in the database of a store, whose clock decides. It is safe for concurrent use,
// also by several processes. Errors have kind store unless it is said.
type Registry struct {
	store   *sqlstore.Store
	writing chan struct{} // has an element while this process writes: writers that wait in SQLite are not served in turn
}

// write runs work in a transaction, after those of this process that asked before.
func (r *Registry) write(ctx context.Context, work func(*sql.Tx) error) error {
	select {
	case r.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-r.writing }()
	return r.store.Transact(ctx, work)
}

// Agent is an agent that has joined.
type Agent struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Labels    map[string]string `json:"labels"`
	Platform  string            `json:"platform"`
	Program   string            `json:"program"`
	JoinedAt  time.Time         `json:"joined_at"`           // for the first time
	SeenAt    time.Time         `json:"seen_at"`             // when it joined or renewed its JWT last
	RevokedAt time.Time         `json:"revoked_at,omitzero"` // zero: it may connect
}

// OpenRegistry makes the tables where they are missing.
func OpenRegistry(ctx context.Context, s *sqlstore.Store) (*Registry, error) {
	files, err := fs.Sub(migrationFiles, "migrations")
	if err == nil {
		err = s.Dialect.Migrate(ctx, s, sqlstore.Schema{Files: files, Table: "soku_fleet_version"})
	}
	if err != nil {
		return nil, err
	}
	return &Registry{store: s, writing: make(chan struct{}, 1)}, nil
}

func (r *Registry) sql(text string) string { return r.store.Dialect.SQL(text) }

func (r *Registry) fail(ctx context.Context, code string, err error) error {
	return r.store.Fail(ctx, code, measure.Figures{"store": r.store.Place, "cause": err})
}

const agentColumns = `id, name, labels, platform, program, joined_at, seen_at, revoked_at`

func scanAgent(scan func(...any) error) (Agent, error) {
	var a Agent
	var labels string
	var joined, seen, revoked int64
	if err := scan(&a.ID, &a.Name, &labels, &a.Platform, &a.Program, &joined, &seen, &revoked); err != nil {
		return a, err
	}
	a.JoinedAt, a.SeenAt = time.UnixMilli(joined).UTC(), time.UnixMilli(seen).UTC()
	if revoked != 0 {
		a.RevokedAt = time.UnixMilli(revoked).UTC()
	}
	return a, json.Unmarshal([]byte(labels), &a.Labels)
}

// Agent is the agent with an identity. An error has kind not_found if none has joined by it.
func (r *Registry) Agent(ctx context.Context, id string) (Agent, error) {
	a, err := scanAgent(r.store.DB.QueryRowContext(ctx, r.sql(`SELECT `+agentColumns+` FROM fleet_agent WHERE id = ?`), id).Scan)
	return a, r.found(ctx, id, err)
}

// found is why an agent was not read.
func (r *Registry) found(ctx context.Context, id string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sql.ErrNoRows):
		return measure.Fail(measure.KindNotFound, "enrol.agent.unknown", measure.Figures{"agent": id})
	}
	return r.fail(ctx, "enrol.store.read", err)
}

// Agents are at most limit agents in the order of their identities, those after an identity.
func (r *Registry) Agents(ctx context.Context, after string, limit int) ([]Agent, error) {
	rows, err := r.store.DB.QueryContext(ctx, r.sql(`SELECT `+agentColumns+` FROM fleet_agent WHERE id > ? ORDER BY id LIMIT ?`), after, limit)
	var agents []Agent
	if err == nil {
		agents, err = sqlstore.Collect(rows, scanAgent)
	}
	if err != nil {
		return nil, r.fail(ctx, "enrol.store.read", err)
	}
	return agents, nil
}

// Joining is what an agent says of itself when it joins.
type Joining struct{ ID, Name, Platform, Program string }

// Join admits an agent by a token, and returns it with the labels of the token. An agent that repeats its request,
// since an answer was lost, uses the token once. An error has kind refused if the token is unknown,
// expired or used up, or if the agent was revoked; the token is not used then.
func (r *Registry) Join(ctx context.Context, secret string, j Joining) (Agent, error) {
	var a Agent
	err := r.write(ctx, func(tx *sql.Tx) error {
		hash := hashOf(secret)
		labels, left, err := r.lockToken(ctx, tx, hash)
		if err != nil {
			return err
		}
		var token string
		var revoked int64
		err = tx.QueryRowContext(ctx, r.sql(`SELECT token, revoked_at FROM fleet_agent WHERE id = ?`), j.ID).Scan(&token, &revoked)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if revoked != 0 {
			return revokedError(j.ID)
		}
		if token != hash {
			if err := r.useToken(ctx, tx, hash, left); err != nil {
				return err
			}
		}
		now := r.store.Dialect.Now
		a, err = scanAgent(tx.QueryRowContext(ctx, r.sql(`INSERT INTO fleet_agent (id, name, labels, platform, program, token, joined_at, seen_at, revoked_at)
			VALUES (?, ?, ?, ?, ?, ?, `+now+`, `+now+`, 0) ON CONFLICT (id) DO UPDATE SET name = excluded.name, labels = excluded.labels,
			platform = excluded.platform, program = excluded.program, token = excluded.token, seen_at = excluded.seen_at
			RETURNING `+agentColumns), j.ID, j.Name, labels, j.Platform, j.Program, hash).Scan)
		if err == nil && !a.RevokedAt.IsZero() {
			err = revokedError(j.ID) // since it was read
		}
		return err
	})
	if err != nil {
		return Agent{}, r.fail(ctx, "enrol.store.write", err)
	}
	return a, nil
}

func revokedError(agent string) error {
	return measure.Fail(measure.KindRefused, "enrol.agent.revoked", measure.Figures{"agent": agent})
}

// Admitted is an agent that may connect, and marks it as seen. An error has kind not_found or, if it was revoked, refused.
func (r *Registry) Admitted(ctx context.Context, id string) (Agent, error) {
	var a Agent
	err := r.write(ctx, func(tx *sql.Tx) (err error) {
		a, err = scanAgent(tx.QueryRowContext(ctx, r.sql(`UPDATE fleet_agent SET seen_at = `+r.store.Dialect.Now+` WHERE id = ? AND revoked_at = 0
			RETURNING `+agentColumns), id).Scan)
		return err
	})
	if !errors.Is(err, sql.ErrNoRows) {
		return a, r.found(ctx, id, err)
	}
	if _, err := r.Agent(ctx, id); err != nil {
		return Agent{}, err
	}
	return Agent{}, revokedError(id)
}

// Revoke keeps an agent from joining and from renewing its JWT, for good. It returns the agent. An error has kind not_found if none has
// joined by this identity, or refused if more than [MaxRevoked] were revoked within two days.
func (r *Registry) Revoke(ctx context.Context, id string) (Agent, error) {
	var a Agent
	err := r.write(ctx, func(tx *sql.Tx) error {
		now := r.store.Dialect.Now
		var recent int
		err := tx.QueryRowContext(ctx, r.sql(`SELECT count(*) FROM fleet_agent WHERE revoked_at > `+now+` - ? AND id <> ?`), revokedLasts.Milliseconds(), id).Scan(&recent)
		if err != nil {
			return err
		}
		if recent >= MaxRevoked {
			return measure.Fail(measure.KindRefused, "enrol.revoke.many", measure.Figures{"agents": recent, "limit": MaxRevoked})
		}
		a, err = scanAgent(tx.QueryRowContext(ctx, r.sql(`UPDATE fleet_agent SET revoked_at = CASE WHEN revoked_at = 0 THEN `+now+` ELSE revoked_at END
			WHERE id = ? RETURNING `+agentColumns), id).Scan)
		if errors.Is(err, sql.ErrNoRows) {
			return r.found(ctx, id, err)
		}
		return err
	})
	if err != nil {
		return Agent{}, r.fail(ctx, "enrol.store.write", err)
	}
	return a, nil
}

// Revoked are the agents whose JWTs may not have ended, and when each was revoked.
func (r *Registry) Revoked(ctx context.Context) (map[string]time.Time, error) {
	type revocation struct {
		id string
		at int64
	}
	rows, err := r.store.DB.QueryContext(ctx, r.sql(`SELECT id, revoked_at FROM fleet_agent WHERE revoked_at > `+r.store.Dialect.Now+` - ?`), revokedLasts.Milliseconds())
	var all []revocation
	if err == nil {
		all, err = sqlstore.Collect(rows, func(scan func(...any) error) (v revocation, err error) { return v, scan(&v.id, &v.at) })
	}
	if err != nil {
		return nil, r.fail(ctx, "enrol.store.read", err)
	}
	out := map[string]time.Time{}
	for _, v := range all {
		out[v.id] = time.UnixMilli(v.at)
	}
	return out, nil
}

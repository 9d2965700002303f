package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"soku/internal/measure"
	"soku/internal/store"
)

// Delete removes the results with exactly these IDs.
func (s *Store) Delete(ctx context.Context, ids []string) (deleted int, err error) {
	if len(ids) > 0 {
		err = s.Transact(ctx, func(tx *sql.Tx) error {
			deleted, err = s.deleteResults(ctx, tx, ids)
			return err
		})
	}
	if err != nil {
		return 0, s.Fail(ctx, "store.delete", measure.Figures{"results": len(ids), "store": s.Place, "cause": err})
	}
	return deleted, nil
}

// deletedAtOnce is how many results one transaction of [Store.DeleteBefore] deletes.
const deletedAtOnce = 20_000

// DeleteBefore removes the results that started before a time.
func (s *Store) DeleteBefore(ctx context.Context, t time.Time) (deleted int, err error) {
	for {
		n := 0
		err := s.Transact(ctx, func(tx *sql.Tx) error {
			ids, err := s.identities(ctx, tx, fmt.Sprintf(`%s < ? ORDER BY %[1]s LIMIT %d`, s.Dialect.Start, deletedAtOnce), store.Nanos(t))
			if err == nil && len(ids) > 0 {
				n, err = s.deleteResults(ctx, tx, ids)
			}
			return err
		})
		if err != nil {
			return deleted, s.Fail(ctx, "store.delete", measure.Figures{"results": deletedAtOnce, "store": s.Place, "cause": err})
		}
		if n == 0 {
			return deleted, nil
		}
		deleted += n
	}
}

// identities are those of the results that a condition selects.
func (s *Store) identities(ctx context.Context, tx *sql.Tx, where string, args ...any) ([]string, error) {
	rows, err := tx.QueryContext(ctx, s.Dialect.SQL(`SELECT id FROM result WHERE `+where), args...)
	if err != nil {
		return nil, err
	}
	return Collect(rows, func(scan func(...any) error) (id string, err error) {
		err = scan(&id)
		s.Dialect.plain(&id)
		return id, err
	})
}

// DeleteCampaign removes a campaign with its results.
func (s *Store) DeleteCampaign(ctx context.Context, id string) (deleted int, err error) {
	if id == "" { // results of no campaign have an empty one
		return 0, nil
	}
	err = s.Transact(ctx, func(tx *sql.Tx) error {
		ids, err := s.identities(ctx, tx, `campaign = ?`, s.Dialect.text(id))
		if err != nil {
			return err
		}
		if deleted, err = s.deleteResults(ctx, tx, ids); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, s.Dialect.SQL(`DELETE FROM campaign WHERE id = ?`), s.Dialect.text(id))
		return err
	})
	if err != nil {
		return 0, s.Fail(ctx, "store.delete_campaign", measure.Figures{"campaign": id, "store": s.Place, "cause": err})
	}
	return deleted, nil
}

func (s *Store) deleteResults(ctx context.Context, tx *sql.Tx, ids []string) (int, error) {
	list, err := s.list(ids)
	if err != nil {
		return 0, err
	}
	which := ` IN (SELECT value FROM ` + s.Dialect.Elements + `)`
	for _, step := range []string{
		`DELETE FROM document WHERE id` + which,
		`DELETE FROM result_level WHERE result` + which,
		`DELETE FROM result_endpoint WHERE result` + which,
	} {
		if _, err := tx.ExecContext(ctx, s.Dialect.SQL(step), list); err != nil {
			return 0, err
		}
	}
	after := func() error { return nil }
	if s.Dialect.AroundDelete != nil {
		if after, err = s.Dialect.AroundDelete(ctx, tx, len(ids)); err != nil {
			return 0, err
		}
	}
	done, err := tx.ExecContext(ctx, s.Dialect.SQL(`DELETE FROM result WHERE id`+which), list)
	if err != nil {
		return 0, err
	}
	if err := after(); err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	return int(n), err
}

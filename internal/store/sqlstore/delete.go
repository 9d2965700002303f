package sqlstore

import (
	"context"
	"database/sql"

	"soku/internal/measure"
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

// DeleteCampaign removes a campaign with its results.
func (s *Store) DeleteCampaign(ctx context.Context, id string) (deleted int, err error) {
	if id == "" { // results of no campaign have an empty one
		return 0, nil
	}
	err = s.Transact(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, s.Dialect.SQL(`SELECT id FROM result WHERE campaign = ?`), s.Dialect.text(id))
		if err != nil {
			return err
		}
		ids, err := Collect(rows, func(scan func(...any) error) (id string, err error) { return id, scan(&id) })
		if err != nil {
			return err
		}
		for i := range ids {
			s.Dialect.plain(&ids[i])
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

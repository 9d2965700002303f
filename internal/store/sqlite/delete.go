package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"soku/internal/measure"
)

// manyDeleted is how many results are deleted with an index that lasts as long: SQLite looks
// for rows that refer to a result, which without one reads whole tables for each result.
const manyDeleted = 16

func (s *sqlite) Delete(ctx context.Context, ids []string) (deleted int, err error) {
	if len(ids) > 0 {
		err = s.transact(ctx, func(tx *sql.Tx) error {
			deleted, err = deleteResults(ctx, tx, ids)
			return err
		})
	}
	if err != nil {
		return 0, fail(ctx, "store.delete", measure.Figures{"results": len(ids), "store": s.path, "cause": err})
	}
	return deleted, nil
}

func (s *sqlite) DeleteCampaign(ctx context.Context, id string) (deleted int, err error) {
	if id == "" { // results of no campaign have an empty one
		return 0, nil
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `SELECT id FROM result WHERE campaign = ?`, id)
		if err != nil {
			return err
		}
		ids, err := collect(rows, func(scan func(...any) error) (id string, err error) { return id, scan(&id) })
		if err != nil {
			return err
		}
		if deleted, err = deleteResults(ctx, tx, ids); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM campaign WHERE id = ?`, id)
		return err
	})
	if err != nil {
		return 0, fail(ctx, "store.delete_campaign", measure.Figures{"campaign": id, "store": s.path, "cause": err})
	}
	return deleted, nil
}

func deleteResults(ctx context.Context, tx *sql.Tx, ids []string) (int, error) {
	encoded, err := json.Marshal(ids)
	if err != nil {
		return 0, err
	}
	list, indexed := string(encoded), len(ids) >= manyDeleted
	const which = ` IN (SELECT value FROM json_each(?))`
	steps := []string{
		`DELETE FROM document WHERE id` + which,
		`DELETE FROM result_level WHERE result` + which,
		`DELETE FROM result_endpoint WHERE result` + which,
	}
	for _, step := range steps {
		if _, err := tx.ExecContext(ctx, step, list); err != nil {
			return 0, err
		}
	}
	if indexed {
		for _, table := range []string{"result_level", "result_endpoint"} {
			if _, err := tx.ExecContext(ctx, `CREATE INDEX `+table+`_by_result ON `+table+` (result)`); err != nil {
				return 0, err
			}
		}
	}
	done, err := tx.ExecContext(ctx, `DELETE FROM result WHERE id`+which, list)
	if err != nil {
		return 0, err
	}
	if indexed {
		for _, table := range []string{"result_level", "result_endpoint"} {
			if _, err := tx.ExecContext(ctx, `DROP INDEX `+table+`_by_result`); err != nil {
				return 0, err
			}
		}
	}
	n, err := done.RowsAffected()
	return int(n), err
}

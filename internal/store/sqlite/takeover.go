package sqlite

import (
	"context"
	"database/sql"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
)

// Limits of one transaction: the number of results that it takes over, and the total
// size of their documents in bytes. It takes over at least one. The limits bound memory
// and the work that is repeated after a kill.
var (
	takeOverResults = 1000 // tests have less
	takeOverBytes   = 16 << 20
)

// takeOver is migration 3: it moves the results of schema 1 into the tables of
// migration 2, and fills the new columns from the documents. A batch is moved in
// one transaction, so that a kill loses nothing and the next opening goes on; two
// processes may move batches at the same time. The next batch uses the pages of the
// file that a batch leaves free, so the file does not grow to twice its size.
func takeOver(ctx context.Context, db *sql.DB) error {
	s := &sqlstore.Store{DB: db}
	for {
		moved := 0
		err := s.Transact(ctx, func(tx *sql.Tx) (err error) {
			moved, err = moveBatch(ctx, tx)
			return err
		})
		if err != nil {
			return err
		}
		if moved == 0 {
			break
		}
	}
	_, err := db.ExecContext(ctx, `DROP TABLE IF EXISTS result_of_schema_1`)
	return err
}

// moveBatch moves the next results and returns their number, which is 0 if none was left.
func moveBatch(ctx context.Context, tx *sql.Tx) (int, error) {
	var left bool
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'result_of_schema_1'`).Scan(&left)
	if err != nil || !left {
		return 0, err // another process has moved them all
	}
	batch, err := nextBatch(ctx, tx)
	if err != nil || len(batch) == 0 {
		return 0, err
	}
	if _, err := dialect.InsertRows(ctx, tx, batch); err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, `DELETE FROM result_of_schema_1 WHERE id <= ?`, batch[len(batch)-1].ID)
	return len(batch), err
}

// nextBatch reads the results of schema 1 with the lowest IDs.
func nextBatch(ctx context.Context, tx *sql.Tx) (batch []store.Row, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT id, started_at, test, client, server, campaign, pattern, label, round, position, repetition, error, document
		FROM result_of_schema_1 ORDER BY id LIMIT ?`, takeOverResults)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for size := 0; size < takeOverBytes && rows.Next(); {
		r, err := scanSchema1(rows.Scan)
		if err != nil {
			return nil, err
		}
		batch = append(batch, r)
		size += len(r.Document)
	}
	return batch, rows.Err()
}

// scanSchema1 is the row that the document of an older row has now. A document
// that cannot be read keeps what the older columns held: it is listed, and
// its reader gets an error.
func scanSchema1(scan func(...any) error) (store.Row, error) {
	var old store.Row
	var started int64
	err := scan(&old.ID, &started, &old.Test, &old.Client, &old.Server, &old.Campaign, &old.Pattern, &old.Label,
		&old.Round, &old.Order, &old.Repeat, &old.Error, (*[]byte)(&old.Document))
	if err != nil {
		return store.Row{}, err
	}
	old.StartedAt, old.Figures = store.Moment(started), map[string]float64{}
	r, err := store.Whole.Decode(old.Document)
	if err != nil {
		if old.Error != "" {
			old.ErrorKind = measure.KindInternal
		}
		return old, nil
	}
	out := store.RowOf(r, old.Document)
	out.ID, out.StartedAt = old.ID, old.StartedAt
	return out, nil
}

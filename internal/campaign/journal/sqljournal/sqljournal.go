// Package sqljournal keeps journals of campaigns in the database of a store, so that a record and the
// results that it is about are written in one transaction: a record refers to results, which the store has
// once.
//
// The lock of a campaign is a lease: who holds it says so again before it ends. A holder whose lease ended,
// because it was suspended or cut off, loses the campaign to the next that asks, and what it appends
// afterwards is refused: each lease has a number, the fence, which an append checks in its transaction. The
// clock of the database decides, not those of the holders.
package sqljournal

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"time"

	"soku/internal/campaign/journal"
	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Lease is how long a campaign is held without a word of its holder.
const Lease = 30 * time.Second

// Journals are a [journal.Backend] in a database.
type Journals struct {
	ctx              context.Context //nolint:containedctx // the methods of a backend have none: it ends all of them
	store            *sqlstore.Store
	holder           string
	lease, turnLease time.Duration
}

// Open makes the tables where they are missing. holder is what others are told of who holds a campaign;
// no two processes that live may have the same one ([Journals.Release]). All methods end with ctx.
func Open(ctx context.Context, s *sqlstore.Store, holder string) (*Journals, error) {
	files, err := fs.Sub(migrationFiles, "migrations")
	if err == nil {
		err = s.Dialect.Migrate(ctx, s, sqlstore.Schema{Files: files, Table: "soku_journal_version"})
	}
	if err != nil {
		return nil, err
	}
	return &Journals{ctx: ctx, store: s, holder: holder, lease: Lease, turnLease: TurnLease}, nil
}

// Name is that of the store.
func (j *Journals) Name() string { return j.store.Place }

func (j *Journals) fail(code, id string, err error) error {
	return j.store.Fail(j.ctx, code, measure.Figures{"path": j.store.Place + " " + id, "cause": err})
}

func (j *Journals) query(text string) string { return j.store.Dialect.SQL(text) }

// IDs are the identities in order.
func (j *Journals) IDs() ([]string, error) {
	rows, err := j.store.DB.QueryContext(j.ctx, `SELECT campaign FROM journal`)
	var ids []string
	if err == nil {
		ids, err = sqlstore.Collect(rows, func(scan func(...any) error) (id string, err error) { return id, scan(&id) })
	}
	if err != nil {
		return nil, j.fail("journal.list", "", err)
	}
	slices.Sort(ids)
	return ids, nil
}

// Number counts in the database.
func (j *Journals) Number() (n int, err error) {
	err = j.store.DB.QueryRowContext(j.ctx, `UPDATE journal_number SET number = number + 1 WHERE only_row = 1 RETURNING number`).Scan(&n)
	if err != nil {
		return 0, j.fail("journal.number", "", err)
	}
	return n, nil
}

// Create begins a journal and holds it.
func (j *Journals) Create(id string) (journal.Journal, journal.Lock, error) {
	if err := journal.CheckIdentity(id, j.Name()); err != nil {
		return nil, nil, err
	}
	done, err := j.store.DB.ExecContext(j.ctx, j.query(`INSERT INTO journal (campaign, records, holder, held_until, fence)
		VALUES (?, 0, '', 0, 0) ON CONFLICT (campaign) DO NOTHING`), id)
	var made int64
	if err == nil {
		made, err = done.RowsAffected()
	}
	if err == nil && made == 0 {
		err = fs.ErrExist
	}
	if err != nil {
		return nil, nil, j.fail("journal.make", id, err)
	}
	h, err := j.hold(id)
	if err != nil {
		return nil, nil, err
	}
	return h, h, nil
}

// Open holds a campaign and reads its journal.
func (j *Journals) Open(id string, visit func(journal.Record) error) (journal.Journal, journal.Lock, error) {
	h, err := j.hold(id)
	if err != nil {
		return nil, nil, err
	}
	if err := h.Read(visit); err != nil {
		_ = h.Release()
		return nil, nil, err
	}
	return h, h, nil
}

// Read visits the records of a campaign, a few at a time.
func (j *Journals) Read(id string, visit func(journal.Record) error) error {
	if err := journal.CheckIdentity(id, j.Name()); err != nil {
		return err
	}
	var records int64
	err := j.store.DB.QueryRowContext(j.ctx, j.query(`SELECT records FROM journal WHERE campaign = ?`), id).Scan(&records)
	if errors.Is(err, sql.ErrNoRows) {
		return journal.UnknownCampaign(id, j.Name())
	}
	if err != nil {
		return j.fail("journal.read", id, err)
	}
	const atATime = 200
	for place := int64(0); place < records; {
		rows, err := j.store.DB.QueryContext(j.ctx, j.query(`SELECT place, record FROM journal_record
			WHERE campaign = ? AND place > ? ORDER BY place LIMIT ?`), id, place, atATime)
		var page []row
		if err == nil {
			page, err = sqlstore.Collect(rows, func(scan func(...any) error) (r row, err error) { return r, scan(&r.place, &r.text) })
		}
		if err != nil {
			return j.fail("journal.read", id, err)
		}
		if len(page) == 0 {
			return nil
		}
		for _, r := range page {
			rec, err := j.decode(r.text)
			if err != nil {
				return j.fail("journal.read", id, measure.Fail(measure.KindStore, "journal.damaged", measure.Figures{"line": r.place, "whole_bytes": 0, "cause": err}))
			}
			if err := visit(rec); err != nil {
				return err
			}
			place = r.place
		}
	}
	return nil
}

type row struct {
	place int64
	text  []byte
}

// Adopt copies the whole records of a journal, and their results to the store.
func (j *Journals) Adopt(id string, from io.Reader) (adopted bool, err error) {
	if err := journal.CheckIdentity(id, j.Name()); err != nil {
		return false, err
	}
	err = j.store.Transact(j.ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(j.ctx, j.query(`INSERT INTO journal (campaign, records, holder, held_until, fence)
			VALUES (?, 0, '', 0, 0) ON CONFLICT (campaign) DO NOTHING`), id)
		if err != nil {
			return err
		}
		if made, err := done.RowsAffected(); err != nil || made == 0 {
			return err
		}
		adopted = true
		n, number := int64(0), 0
		_, err = journal.Read(from, func(rec journal.Record) error {
			if rec.Plan != nil {
				number = rec.Plan.Number
			}
			n++
			return j.insert(tx, id, n-1, rec)
		})
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(j.ctx, j.query(`UPDATE journal SET records = ? WHERE campaign = ?`), n, id); err != nil {
			return err
		}
		_, err = tx.ExecContext(j.ctx, j.query(`UPDATE journal_number SET number = ? WHERE only_row = 1 AND number < ?`), number, number)
		return err
	})
	if err != nil {
		return false, j.fail("journal.make", id, err)
	}
	return adopted, nil
}

// Remove deletes the journal of a campaign that has no holder.
func (j *Journals) Remove(id string) error {
	h, err := j.hold(id)
	if err != nil {
		return err
	}
	defer func() { _ = h.Release() }()
	err = j.store.Transact(j.ctx, func(tx *sql.Tx) error {
		if _, err := h.add(tx, 0); err != nil {
			return err
		}
		for _, step := range []string{`DELETE FROM journal_record WHERE campaign = ?`, `DELETE FROM journal WHERE campaign = ?`} {
			if _, err := tx.ExecContext(j.ctx, j.query(step), id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return j.fail("journal.remove", id, err)
	}
	return nil
}

// insert writes records after a number of others. Results that the store gets, or has as they are, become references; of one
// that the store has otherwise the record keeps its own.
func (j *Journals) insert(tx *sql.Tx, id string, after int64, records ...journal.Record) error {
	own, err := j.put(tx, records)
	if err != nil {
		return err
	}
	for i, rec := range records {
		text, err := json.Marshal(withReferences(rec, own))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(j.ctx, j.query(`INSERT INTO journal_record (campaign, place, record) VALUES (?, ?, ?)`), id, after+int64(i)+1, string(text))
		if err != nil {
			return err
		}
	}
	return nil
}

// put stores the results of records with few statements, and returns the identities of those that the store has otherwise.
func (j *Journals) put(tx *sql.Tx, records []journal.Record) (own map[string]bool, err error) {
	all, err := results(nil, records)
	if err != nil {
		return nil, err
	}
	if err := j.store.PutIn(j.ctx, tx, all...); !store.IsConflict(err) {
		return nil, err
	}
	own = map[string]bool{}
	for _, r := range all {
		switch err := j.store.PutIn(j.ctx, tx, r); {
		case store.IsConflict(err):
			own[r.ID] = true
		case err != nil:
			return nil, err
		}
	}
	return own, nil
}

// results appends those of records and of their groups.
func results(all []*measure.Result, records []journal.Record) ([]*measure.Result, error) {
	for _, rec := range records {
		if rec.Result != nil {
			r, err := rec.Result.Result()
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
		var err error
		if all, err = results(all, rec.Group); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// heldRecord is a record as its row has it.
type heldRecord struct {
	journal.Record
	Result *heldDocument `json:"result,omitempty"`
	Group  []heldRecord  `json:"group,omitempty"`
}

// heldDocument is a result, or its identity and its error where the store has it.
type heldDocument struct {
	whole *journal.Document
	reference
}

type reference struct {
	ID     string         `json:"id"`
	Error  *measure.Error `json:"error,omitempty"`
	Stored bool           `json:"in_store"`
}

// MarshalJSON writes the one or the other.
func (d heldDocument) MarshalJSON() ([]byte, error) {
	if d.whole != nil {
		return json.Marshal(d.whole)
	}
	return json.Marshal(d.reference)
}

// UnmarshalJSON reads the one or the other.
func (d *heldDocument) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &d.reference); err != nil || d.Stored {
		return err
	}
	d.whole = new(journal.Document)
	return d.whole.UnmarshalJSON(bytes.Clone(b))
}

func withReferences(rec journal.Record, own map[string]bool) heldRecord {
	out := heldRecord{Record: rec}
	for _, member := range rec.Group {
		out.Group = append(out.Group, withReferences(member, own))
	}
	if d := rec.Result; d != nil && own[d.ID] {
		out.Result = &heldDocument{whole: d}
	} else if d != nil {
		out.Result = &heldDocument{reference: reference{ID: d.ID, Error: d.Error, Stored: true}}
	}
	return out
}

func (j *Journals) decode(text []byte) (journal.Record, error) {
	var held heldRecord
	if err := json.Unmarshal(text, &held); err != nil {
		return journal.Record{}, err
	}
	rec := j.record(held)
	return rec, rec.Check()
}

func (j *Journals) record(held heldRecord) journal.Record {
	rec := held.Record
	if d := held.Result; d != nil {
		if rec.Result = d.whole; rec.Result == nil {
			id := d.ID
			rec.Result = journal.Reference(id, d.Error, func() (*measure.Result, error) { return j.store.Get(j.ctx, id) })
		}
	}
	for _, member := range held.Group {
		rec.Group = append(rec.Group, j.record(member))
	}
	return rec
}

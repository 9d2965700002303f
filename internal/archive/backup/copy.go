package backup

import (
	"context"
	"database/sql"
	"fmt"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
)

// Rows that are read at a time: documents may have megabytes each.
const (
	readDocuments = 100
	readRecords   = 1000
)

// rows reads some rows of the store that is copied.
func rows[T any](ctx context.Context, m *merging, text string, read func(scan func(...any) error) (T, error), args ...any) ([]T, error) {
	found, err := m.read.QueryContext(ctx, m.from.Dialect.SQL(text), args...)
	var out []T
	if err == nil {
		out, err = sqlstore.Collect(found, read)
	}
	if err != nil {
		return nil, m.from.Fail(ctx, "store.read_results", measure.Figures{"store": m.from.Place, "cause": err})
	}
	return out, nil
}

func (m *merging) campaigns(ctx context.Context) error {
	all, err := m.from.CampaignsIn(ctx, m.read)
	if err != nil {
		return err
	}
	for _, c := range all {
		if err := m.campaign.Campaign(ctx, c); err != nil {
			return err
		}
		m.refused[c.ID] = m.campaign.Refused(c.ID)
	}
	return nil
}

// stored is a result as its store has it.
type stored struct {
	id, campaign string // as columns have them
	document     []byte
}

func (m *merging) results(ctx context.Context) error {
	counts, err := rows(ctx, m, `SELECT count(*) FROM result`, func(scan func(...any) error) (n int, err error) { return n, scan(&n) })
	if err != nil {
		return err
	}
	done, last := 0, ""
	for {
		page, err := rows(ctx, m, fmt.Sprintf(`SELECT r.id, r.campaign, %s FROM result AS r JOIN document AS d ON d.id = r.id
			WHERE r.id > ? ORDER BY r.id LIMIT %d`, m.from.Dialect.Document, readDocuments),
			func(scan func(...any) error) (s stored, err error) { return s, scan(&s.id, &s.campaign, &s.document) }, last)
		if err != nil || len(page) == 0 {
			return err
		}
		if err := m.put(ctx, page); err != nil {
			return err
		}
		done, last = done+len(page), page[len(page)-1].id
		if m.progress != nil {
			m.progress(done, counts[0])
		}
	}
}

// put writes those of the results that are missing, and compares the others.
func (m *merging) put(ctx context.Context, page []stored) error {
	ids := make([]string, len(page))
	for i, s := range page {
		ids[i] = m.from.Dialect.Original(s.id)
	}
	list, err := m.to.Missing(ctx, ids)
	if err != nil {
		return err
	}
	missing := map[string]bool{}
	for _, id := range list {
		missing[id] = true
	}
	var fresh []store.Document
	for i, s := range page {
		campaign := m.from.Dialect.Original(s.campaign)
		switch {
		case m.campaign.Refused(campaign):
			m.done.Results.Conflicts = append(m.done.Results.Conflicts, ids[i])
		case missing[ids[i]]:
			fresh = append(fresh, s.document)
		default:
			err := m.to.PutStored(ctx, s.document)
			if store.IsConflict(err) {
				m.done.Results.Conflicts = append(m.done.Results.Conflicts, ids[i])
				m.refused[campaign] = true
				continue
			}
			if err != nil {
				return err
			}
			m.done.Results.Known++
		}
	}
	m.done.Results.New += len(fresh)
	return m.to.PutStored(ctx, fresh...)
}

type record struct {
	place int64
	text  string
}

// journals copies the journals that are missing, each whole. Their records refer to results, which are there.
func (m *merging) journals(ctx context.Context) error {
	ids, err := rows(ctx, m, `SELECT campaign FROM journal ORDER BY campaign`, func(scan func(...any) error) (id string, err error) { return id, scan(&id) })
	if err != nil {
		return err
	}
	for _, id := range ids {
		if m.refused[id] {
			m.done.Journals.Conflicts = append(m.done.Journals.Conflicts, id)
			continue
		}
		err := m.to.Transact(ctx, func(tx *sql.Tx) error { return m.journal(ctx, tx, id) })
		if err != nil {
			return m.to.Fail(ctx, "journal.make", measure.Figures{"path": m.to.Place + " " + id, "cause": err})
		}
	}
	numbers, err := rows(ctx, m, `SELECT number FROM journal_number`, func(scan func(...any) error) (n int64, err error) { return n, scan(&n) })
	if err != nil || len(numbers) == 0 {
		return err
	}
	if _, err := m.to.DB.ExecContext(ctx, m.to.Dialect.SQL(`UPDATE journal_number SET number = ? WHERE number < ?`), numbers[0], numbers[0]); err != nil {
		return m.to.Fail(ctx, "journal.number", measure.Figures{"path": m.to.Place, "cause": err})
	}
	return nil
}

func (m *merging) journal(ctx context.Context, tx *sql.Tx, id string) error {
	made, err := tx.ExecContext(ctx, m.to.Dialect.SQL(`INSERT INTO journal (campaign, records, holder, held_until, fence)
		VALUES (?, 0, '', 0, 0) ON CONFLICT (campaign) DO NOTHING`), id)
	if err != nil {
		return err
	}
	if n, err := made.RowsAffected(); err != nil {
		return err
	} else if n == 0 {
		m.done.Journals.Known++
		return nil
	}
	m.done.Journals.New++
	last := int64(0)
	for {
		page, err := rows(ctx, m, fmt.Sprintf(`SELECT place, record FROM journal_record WHERE campaign = ? AND place > ? ORDER BY place LIMIT %d`, readRecords),
			func(scan func(...any) error) (r record, err error) { return r, scan(&r.place, &r.text) }, id, last)
		if err != nil {
			return err
		}
		if len(page) == 0 {
			_, err := tx.ExecContext(ctx, m.to.Dialect.SQL(`UPDATE journal SET records = ? WHERE campaign = ?`), last, id)
			return err
		}
		for _, r := range page {
			if _, err := tx.ExecContext(ctx, m.to.Dialect.SQL(`INSERT INTO journal_record (campaign, place, record) VALUES (?, ?, ?)`), id, r.place, r.text); err != nil {
				return err
			}
		}
		last = page[len(page)-1].place
	}
}

package postgres

import (
	"context"
	"database/sql"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"soku/internal/store"
	"soku/internal/store/sqlstore"
)

var dialect = sqlstore.Dialect{
	Statement: numbered,
	Elements:  `(SELECT value, place - 1 AS key FROM jsonb_array_elements_text(?::jsonb) WITH ORDINALITY AS e (value, place)) AS elements`,
	Leading:   "JOIN",
	Text:      held, Plain: released,
	JSON:   unpack,
	Insert: insert, Explain: explain, Migrate: migrate,
	Now: `CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)`,
}

// numbered writes $1, $2 and so on in place of each ?.
func numbered(text string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, found := strings.Cut(text, "?")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		b.WriteString("$" + strconv.Itoa(n))
		text = after
	}
}

// A text of PostgreSQL has no NUL and is UTF-8.
var (
	holding   = strings.NewReplacer("\x00", "\x01\x02", "\x01", "\x01\x01")
	releasing = strings.NewReplacer("\x01\x02", "\x00", "\x01\x01", "\x01")
)

func held(s string) string     { return holding.Replace(strings.ToValidUTF8(s, "\uFFFD")) }
func released(s string) string { return releasing.Replace(s) }

// mostDocument is the largest document that is unpacked, in bytes.
const mostDocument = 256 << 20

var (
	packer, _   = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))                                          // only a wrong option is an error
	unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mostDocument)) // here, too
)

func pack(document string) []byte { return packer.EncodeAll([]byte(document), nil) }

func unpack(column []byte) ([]byte, error) { return unpacker.DecodeAll(column, nil) }

// columns are rows, a list a column.
type columns struct {
	id, test, client, server, direction, via, campaign, pattern, label, kind, message, figures []string
	start, streams, round, position, repetition                                                []int64
	document                                                                                   [][]byte
}

func (c *columns) add(r sqlstore.Row) error {
	figures, err := json.Marshal(r.Figures)
	if err != nil {
		return err
	}
	for _, v := range []struct {
		to   *[]string
		text string
	}{
		{&c.id, r.ID}, {&c.test, string(r.Test)}, {&c.client, r.Client}, {&c.server, r.Server}, {&c.direction, string(r.Direction)}, {&c.via, r.Via},
		{&c.campaign, r.Campaign}, {&c.pattern, r.Pattern}, {&c.label, r.Label}, {&c.kind, string(r.ErrorKind)}, {&c.message, r.Error}, {&c.figures, string(figures)},
	} {
		*v.to = append(*v.to, held(v.text))
	}
	for _, v := range []struct {
		to     *[]int64
		number int64
	}{
		{&c.start, store.Nanos(r.StartedAt)}, {&c.streams, int64(r.Streams)}, {&c.round, int64(r.Round)}, {&c.position, int64(r.Order)}, {&c.repetition, int64(r.Repeat)},
	} {
		*v.to = append(*v.to, v.number)
	}
	c.document = append(c.document, pack(r.Document))
	return nil
}

// insert writes rows with one statement a table, however many they are.
func insert(ctx context.Context, tx *sql.Tx, rows []sqlstore.Row) (there map[string][]byte, err error) {
	var c columns
	first := map[string]bool{} // two rows may have one identity
	for _, r := range rows {
		if first[r.ID] {
			continue
		}
		first[r.ID] = true
		if err := c.add(r); err != nil {
			return nil, err
		}
	}
	added, err := tx.QueryContext(ctx, `INSERT INTO result (id, started_at, test, client, server, direction, via, streams,
			campaign, pattern, label, round, position, repetition, error_kind, error, figures)
		SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
			$9::text[], $10::text[], $11::text[], $12::bigint[], $13::bigint[], $14::bigint[], $15::text[], $16::text[], $17::jsonb[])
		ON CONFLICT (id) DO NOTHING RETURNING id`,
		c.id, c.start, c.test, c.client, c.server, c.direction, c.via, c.streams,
		c.campaign, c.pattern, c.label, c.round, c.position, c.repetition, c.kind, c.message, c.figures)
	if err != nil {
		return nil, err
	}
	ids, err := sqlstore.Collect(added, func(scan func(...any) error) (id string, err error) { return id, scan(&id) })
	if err != nil {
		return nil, err
	}
	isNew := map[string]bool{}
	for _, id := range ids {
		isNew[id] = true
	}
	if err := c.insertParts(ctx, tx, rows, isNew); err != nil {
		return nil, err
	}
	if len(ids) == len(rows) {
		return nil, nil
	}
	return documents(ctx, tx, rows, c, isNew)
}

// insertParts writes the documents, levels and endpoints of new rows.
func (c *columns) insertParts(ctx context.Context, tx *sql.Tx, rows []sqlstore.Row, isNew map[string]bool) error {
	var ids []string
	var packed [][]byte
	for i, id := range c.id {
		if isNew[id] {
			ids, packed = append(ids, id), append(packed, c.document[i])
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO document (id, document) SELECT * FROM unnest($1::text[], $2::bytea[])`, ids, packed); err != nil {
		return err
	}
	var factor, level, levelOf, endpoint, endpointOf []string
	var levelAt, endpointAt []int64
	seen := map[string]bool{}
	for _, r := range rows {
		id, at := held(r.ID), store.Nanos(r.StartedAt)
		if !isNew[id] || seen[id] {
			continue
		}
		seen[id] = true
		for _, l := range r.Levels {
			factor, level, levelAt, levelOf = append(factor, held(l.Factor)), append(level, held(l.Value)), append(levelAt, at), append(levelOf, id)
		}
		for _, e := range r.Endpoints {
			endpoint, endpointAt, endpointOf = append(endpoint, held(e)), append(endpointAt, at), append(endpointOf, id)
		}
	}
	if len(factor) > 0 {
		if _, err := tx.ExecContext(ctx, `INSERT INTO result_level (factor, level, started_at, result)
			SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) ON CONFLICT DO NOTHING`, factor, level, levelAt, levelOf); err != nil {
			return err
		}
	}
	if len(endpoint) == 0 {
		return nil
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO result_endpoint (endpoint, started_at, result)
		SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[]) ON CONFLICT DO NOTHING`, endpoint, endpointAt, endpointOf)
	return err
}

// documents are those of the rows that were there, and of new ones that several rows have.
func documents(ctx context.Context, tx *sql.Tx, rows []sqlstore.Row, c columns, isNew map[string]bool) (map[string][]byte, error) {
	there := map[string][]byte{}
	var old []string
	for i, id := range c.id {
		if isNew[id] {
			there[released(id)] = c.document[i]
		} else {
			old = append(old, id)
		}
	}
	if len(rows) == len(c.id) { // each has its own identity
		clear(there)
	}
	if len(old) == 0 {
		return there, nil
	}
	found, err := tx.QueryContext(ctx, `SELECT id, document FROM document WHERE id = ANY ($1::text[])`, old)
	if err != nil {
		return nil, err
	}
	type stored struct {
		id       string
		document []byte
	}
	all, err := sqlstore.Collect(found, func(scan func(...any) error) (s stored, err error) { return s, scan(&s.id, &s.document) })
	for _, s := range all {
		there[released(s.id)] = s.document
	}
	return there, err
}

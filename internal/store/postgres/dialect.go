package postgres

import (
	"context"
	"database/sql"
	"fmt"
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
	Snapshot:  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
	Start:     "(started_at + 0)",
	Text:      held, Plain: released,
	Document: "d.document", Documents: packed,
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

var packer, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1)) // only a wrong option is an error

// packed are documents compressed: a document that its sender compressed is kept as it is.
func packed(ids []string, documents []store.Document) []sqlstore.Rows {
	out := make([][]byte, len(documents))
	for i, d := range documents {
		if out[i] = d; !d.Compressed() {
			out[i] = packer.EncodeAll(d, nil)
		}
	}
	return []sqlstore.Rows{{Table: "document", Columns: []sqlstore.Column{{Name: "id", Texts: ids}, {Name: "document", Bytes: out}}}}
}

// insert writes rows with one statement, however many they are.
func insert(ctx context.Context, tx *sql.Tx, rows sqlstore.Rows) ([]string, error) {
	var names, arrays []string
	var lists []any
	for i, c := range rows.Columns {
		kind, list := "text", any(c.Texts)
		switch {
		case c.JSON:
			kind = "jsonb"
		case c.Numbers != nil:
			kind, list = "bigint", c.Numbers
		case c.Bytes != nil:
			kind, list = "bytea", c.Bytes
		}
		names, arrays, lists = append(names, c.Name), append(arrays, fmt.Sprintf("$%d::%s[]", i+1, kind)), append(lists, list)
	}
	written, err := tx.QueryContext(ctx, `INSERT INTO `+rows.Table+` (`+strings.Join(names, ", ")+`)
		SELECT * FROM unnest(`+strings.Join(arrays, ", ")+`) ON CONFLICT DO NOTHING RETURNING `+names[0], lists...)
	if err != nil {
		return nil, err
	}
	return sqlstore.Collect(written, func(scan func(...any) error) (first string, err error) { return first, scan(&first) })
}

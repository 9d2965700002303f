package sqlite

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlstore"
	"soku/test/tier"
)

const fixture = "../../../test/fixtures/3f5254c/"

func unpacked(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(fixture + file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if b, err = io.ReadAll(z); err != nil {
		t.Fatal(err)
	}
	return b
}

// schema1 makes a store as a version with schema 1 wrote it, with each result copied
// copies times; copies have another ID in their row.
func schema1(t *testing.T, copies int) (path string, results int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "soku.db")
	if err := os.WriteFile(path, unpacked(t, "soku.db.gz"), 0o644); err != nil {
		t.Fatal(err)
	}
	db := raw(t, path)
	if copies > 0 {
		_, err := db.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < ?)
			INSERT INTO result SELECT id || '-' || i, started_at + i, test, client, server, campaign, pattern, label, round, position, repetition, headline, error, document
			FROM result, n`, copies)
		if err == nil {
			_, err = db.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`) // all is in the one file
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM result`).Scan(&results); err != nil {
		t.Fatal(err)
	}
	return path, results
}

func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func opened(t *testing.T, path string) store.Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestAStoreOfSchema1IsTakenOver(t *testing.T) {
	path, results := schema1(t, 0)
	old := map[string]string{}
	rows, err := raw(t, path).QueryContext(t.Context(), `SELECT id, document FROM result`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id, document string
		if err := rows.Scan(&id, &document); err != nil {
			t.Fatal(err)
		}
		old[id] = document
	}
	s := opened(t, path)
	page, err := s.List(t.Context(), store.Query{})
	if err != nil || len(page.Items) != results || results < 40 || len(old) != results {
		t.Fatalf("%d of %d results are listed (%v)", len(page.Items), results, err)
	}
	var was []struct {
		ID, Client, Server, Campaign, Pattern, Error string
		Test                                         measure.Test
	}
	if err := json.Unmarshal(unpacked(t, "list.json.gz"), &was); err != nil {
		t.Fatal(err)
	}
	figures := 0
	for i, e := range page.Items {
		w := was[i]
		if e.ID != w.ID || e.Client != w.Client || e.Server != w.Server || e.Campaign != w.Campaign || e.Pattern != w.Pattern || e.Error != w.Error || e.Test != w.Test {
			t.Errorf("entry %d is %+v, was %+v", i, e, w)
		}
		r, err := s.Get(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		var now string
		if err := raw(t, path).QueryRowContext(t.Context(), `SELECT document FROM document WHERE id = ?`, e.ID).Scan(&now); err != nil || now != old[e.ID] {
			t.Errorf("the document of %s was changed (%v)", e.ID, err)
		}
		want := store.EntryOf(r)
		if fmt.Sprint(want) != fmt.Sprint(e) {
			t.Errorf("entry %d is\n%+v, a new one would be\n%+v", i, e, want)
		}
		if (len(e.Figures) == 0) != (e.ErrorKind != "") {
			t.Errorf("%s of %s has the figures %v", e.ID, e.Test, e.Figures)
		}
		figures += len(e.Figures)
		if r.Trial != nil && len(r.Trial.Levels) > 0 {
			if n, err := s.Count(t.Context(), store.Query{Levels: r.Trial.Levels, Endpoint: r.Path.Client.Name, Campaign: e.Campaign}); err != nil || n == 0 {
				t.Errorf("%s is not found by its levels and its client (%v)", e.ID, err)
			}
		}
	}
	if figures < 300 {
		t.Errorf("all results together have %d figures", figures)
	}
	var tables int
	if err := raw(t, path).QueryRowContext(t.Context(), `SELECT count(*) FROM sqlite_schema WHERE name LIKE '%schema_1'`).Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d old tables are left (%v)", tables, err)
	}
}

func TestTakingOverGoesOnAfterAKill(t *testing.T) {
	tier.SpendsSeconds(t)
	path, results := schema1(t, 2)
	defer func(n int) { takeOverResults = n }(takeOverResults)
	takeOverResults = 50
	db := raw(t, path)
	for _, statement := range []string{upOf(t, "00002_columns.sql"), `INSERT INTO ` + versionTable + ` (version_id, is_applied) VALUES (2, 1)`} {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	s := &sqlstore.Store{DB: db}
	err := s.Transact(t.Context(), func(tx *sql.Tx) error {
		n, err := moveBatch(t.Context(), tx)
		if n == 0 || n >= results {
			t.Errorf("a batch has %d of %d results", n, results)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	// The next batch is cut off in the middle.
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := moveBatch(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	wantAll(t, path, results)
}

// upOf is what a migration does.
func upOf(t *testing.T, file string) string {
	t.Helper()
	b, err := migrationFiles.ReadFile("migrations/" + file)
	if err != nil {
		t.Fatal(err)
	}
	_, up, found := bytes.Cut(b, []byte("-- +goose Up"))
	if !found {
		t.Fatalf("%s has no Up", file)
	}
	return string(up)
}

// wantAll fails the test unless the store has every result once, with its document.
func wantAll(t *testing.T, path string, results int) {
	t.Helper()
	s := opened(t, path)
	seen := map[string]bool{}
	var last store.Cursor
	for {
		page, err := s.List(t.Context(), store.Query{Limit: 1000, After: last})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range page.Items {
			seen[e.ID] = true
		}
		if last = page.Next; last == "" {
			break
		}
	}
	n, err := s.Count(t.Context(), store.Query{})
	if err != nil || n != results || len(seen) != results {
		t.Errorf("%d results, %d listed (%v), want %d", n, len(seen), err, results)
	}
	streamed := 0
	for _, err := range s.Results(t.Context(), store.Query{}, store.Outline) {
		if err != nil {
			t.Fatal(err)
		}
		streamed++
	}
	if streamed != results {
		t.Errorf("%d documents, want %d", streamed, results)
	}
}

func TestSeveralProcessesTakeAStoreOver(t *testing.T) {
	tier.SpendsSeconds(t)
	path, results := schema1(t, 8)
	if results <= takeOverResults {
		t.Fatalf("%d results are one batch", results)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const processes = 4
	var children []*exec.Cmd
	for range processes {
		c := exec.CommandContext(t.Context(), self)
		c.Env = append(os.Environ(), "SOKU_STORE_TEST_CHILD="+path) // puts results of its own
		c.Stderr = new(bytes.Buffer)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		children = append(children, c)
	}
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Errorf("a process failed: %v: %s", err, c.Stderr)
		}
	}
	wantAll(t, path, results+processes*20)
}

func TestADocumentThatCannotBeReadIsListedStill(t *testing.T) {
	path, results := schema1(t, 0)
	db := raw(t, path)
	_, err := db.ExecContext(t.Context(), `INSERT INTO result VALUES ('odd', 5, 'tcp', 'a', 'b', 'c', 'p', 'l', 1, 2, 3, 'failed: broken', 'peer gone', '{"schema":"soku.result/9"}')`)
	if err != nil {
		t.Fatal(err)
	}
	wantAllBut := opened(t, path)
	page, err := wantAllBut.List(t.Context(), store.Query{OldestFirst: true, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := page.Items[0]
	if e.ID != "odd" || e.Client != "a" || e.Campaign != "c" || e.Order != 2 || e.Error != "peer gone" || e.ErrorKind == "" {
		t.Errorf("entry is %+v", e)
	}
	if _, err := wantAllBut.Get(t.Context(), "odd"); measure.KindOf(err) != measure.KindFile || !strings.Contains(err.Error(), "read result odd from the store") {
		t.Errorf("reading it: %v", err)
	}
	if n, err := wantAllBut.Count(t.Context(), store.Query{}); err != nil || n != results+1 {
		t.Errorf("%d results (%v), want %d", n, err, results+1)
	}
}

func TestADamagedDocumentIsDamageOfTheStore(t *testing.T) {
	path, _ := schema1(t, 0)
	db := raw(t, path)
	_, err := db.ExecContext(t.Context(), `INSERT INTO result VALUES ('odd', 5, 'latency', 'a', 'b', 'c', 'p', 'l', 1, 2, 3, '', '', '{"schema":"soku.result/1","latency":{"histogram":{"encoding":"none"}}}')`)
	if err != nil {
		t.Fatal(err)
	}
	_, err = opened(t, path).Get(t.Context(), "odd")
	var e *measure.Error
	if !errors.As(err, &e) || e.Kind != measure.KindStore || e.Cause == nil || e.Cause.Code != "document.histogram.encoding" {
		t.Errorf("%v", err)
	}
}

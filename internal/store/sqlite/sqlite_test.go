package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"soku/internal/measure"
	"soku/internal/store"
	"soku/internal/store/sqlite"
	"soku/internal/store/sqlstore"
	"soku/test/storetest"
	"soku/test/tier"
)

const childVariable = "SOKU_STORE_TEST_CHILD"

// TestMain is also the second process of the tests that need one.
func TestMain(m *testing.M) {
	if path := os.Getenv(childVariable); path != "" {
		os.Exit(child(path))
	}
	goleak.VerifyTestMain(m)
}

const childResults = 20

func child(path string) int {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer s.Close()
	for i := range childResults {
		if err := s.Put(ctx, storetest.Result(fmt.Sprintf("%d-%d", os.Getpid(), i), i)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func open(t *testing.T, path string) store.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestSQLiteConforms(t *testing.T) {
	tier.SpendsSeconds(t)
	storetest.Run(t, func(t *testing.T) store.Store {
		return open(t, filepath.Join(t.TempDir(), "soku.db"))
	})
}

func TestStoreIsThereAfterReopening(t *testing.T) {
	// The name has what a URI would take for its own.
	name := "a b?mode=ro#%41.db"
	if runtime.GOOS == "windows" {
		name = "a b&mode=ro#%41.db" // no name has a question mark there
	}
	path := filepath.Join(t.TempDir(), "new", "folder", name)
	s := open(t, path)
	if err := s.Put(t.Context(), storetest.Result("kept", 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, path).Get(t.Context(), "kept"); err != nil {
		t.Error(err)
	}
}

func TestSeveralProcessesMakeAndFillOneStore(t *testing.T) {
	tier.SpendsSeconds(t)
	path := filepath.Join(t.TempDir(), "soku.db")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const processes = 4
	var children []*exec.Cmd
	for range processes {
		c := exec.CommandContext(t.Context(), self)
		c.Env = append(os.Environ(), childVariable+"="+path)
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
	n, err := open(t, path).Count(t.Context(), store.Query{})
	if err != nil || n != processes*childResults {
		t.Errorf("%d results (%v), want %d", n, err, processes*childResults)
	}
}

// refused opens path, expects one clear refusal and an unchanged file.
func refused(t *testing.T, path string, says ...string) {
	t.Helper()
	before, _ := os.ReadFile(path)
	s, err := sqlite.Open(t.Context(), path)
	if err == nil {
		_ = s.Close()
		t.Fatalf("opened %s", path)
	}
	if measure.KindOf(err) != measure.KindStore {
		t.Errorf("error %q has kind %s", err, measure.KindOf(err))
	}
	e := measure.AsError(err, "")
	for _, part := range append(says, path) {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	if e.Hint == "" {
		t.Errorf("error %q has no next step", err)
	}
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Errorf("the refused file was changed from %d to %d bytes", len(before), len(after))
	}
}

func TestRefusesAFileThatIsNoDatabase(t *testing.T) {
	for name, content := range map[string]string{
		"text":  "campaign: x\n",
		"short": "SQLite",
		"near":  "SQLite format 2\x00" + strings.Repeat("x", 5000),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "plan.yaml")
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			refused(t, path, "no SQLite database", "--store")
		})
	}
}

func exec1(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, q := range statements {
		if _, err := db.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefusesAnotherProgramsDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "browser.db")
	exec1(t, path, `CREATE TABLE bookmark (url TEXT)`)
	refused(t, path, "another program")
}

func TestRefusesANewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "soku.db")
	if err := open(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	exec1(t, path, `INSERT INTO soku_schema_version (version_id, is_applied) VALUES (999, 1)`, `PRAGMA wal_checkpoint(TRUNCATE)`)
	refused(t, path, "newer soku", "999")
}

func TestSaysThatAFileIsDamaged(t *testing.T) {
	tier.SpendsSeconds(t)
	path := filepath.Join(t.TempDir(), "soku.db")
	s := open(t, path)
	for i := range 50 {
		if err := s.Put(t.Context(), storetest.Result(fmt.Sprintf("result-%d", i), i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4096; i < len(data); i++ { // all but the first page
		data[i] = byte(i * 7)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	s, err = sqlite.Open(t.Context(), path)
	if err == nil {
		defer s.Close()
		_, err = s.List(t.Context(), store.Query{})
	}
	if measure.KindOf(err) != measure.KindStore || !strings.Contains(err.Error(), "damaged") || !strings.Contains(err.Error(), path) {
		t.Errorf("error is %v", err)
	}
}

func TestSaysThatTheFolderCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), filepath.Join(file, "soku.db"))
	if measure.KindOf(err) != measure.KindStore || measure.AsError(err, "").Hint == "" {
		t.Errorf("error is %v", err)
	}
}

func TestAFolderIsNoStore(t *testing.T) {
	_, err := sqlite.Open(t.Context(), t.TempDir())
	if measure.KindOf(err) != measure.KindStore || measure.AsError(err, "").Hint == "" {
		t.Errorf("error is %v", err)
	}
}

// A store from elsewhere may have a view without an end in the place of a table.
func TestAViewInThePlaceOfATableIsRefused(t *testing.T) {
	const endless = `WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, '{}' AS document FROM n`
	for _, change := range []string{
		"DROP TABLE document; CREATE VIEW document AS " + endless,
		"DROP TABLE campaign; CREATE VIEW CAMPAIGN AS " + endless,
		"DROP TABLE document; CREATE VIRTUAL TABLE document USING fts5(id, body)",
	} {
		path := filepath.Join(t.TempDir(), "soku.db")
		if err := open(t, path).Close(); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.ExecContext(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		_ = db.Close()
		s, err := sqlite.Open(t.Context(), path)
		if measure.KindOf(err) != measure.KindStore || !strings.Contains(fmt.Sprint(err), "view") {
			t.Errorf("%s: %v", change, err)
		}
		if err == nil {
			_ = s.Close()
		}
	}
}

func TestADocumentIsKeptAsItWasSent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "soku.db")
	s := open(t, path)
	text, err := storetest.Result("0001aaaa", 1).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Replace(text, []byte("0001aaaa"), []byte("0001bbbb"), 1)
	sent := storetest.Compressed(other)
	if err := s.PutDocuments(t.Context(), text, sent); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for id, want := range map[string][2]string{"0001aaaa": {string(text), ""}, "0001bbbb": {"", string(sent)}} {
		var plain, compressed []byte
		err := db.QueryRowContext(t.Context(), `SELECT document, zstd FROM document WHERE id = ?`, id).Scan(&plain, &compressed)
		if err != nil || string(plain) != want[0] || string(compressed) != want[1] {
			t.Errorf("%s has %q and %q (%v)", id, plain, compressed, err)
		}
	}
}

// SQLite has writers ask again after a while. Those of one process wait in turn, and take no connection before.
func TestWritersOfOneStoreWaitInTurn(t *testing.T) {
	tier.SpendsSeconds(t)
	s := open(t, filepath.Join(t.TempDir(), "soku.db"))
	db, _ := sqlstore.Of(s)
	const writers = 8
	var all sync.WaitGroup
	err := db.Transact(t.Context(), func(*sql.Tx) error {
		for i := range writers {
			all.Go(func() {
				if err := s.Put(t.Context(), storetest.Result(fmt.Sprint("writer", i), i)); err != nil {
					t.Error(err)
				}
			})
		}
		ended, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		if err := s.Put(ended, storetest.Result("late", 1)); measure.KindOf(err) != measure.KindInterrupted {
			t.Errorf("a writer whose time is over has %v", err)
		}
		if n := db.DB.Stats().InUse; n != 1 {
			t.Errorf("%d connections are used", n)
		}
		return nil
	})
	all.Wait()
	if n, countErr := s.Count(t.Context(), store.Query{}); n != writers || err != nil || countErr != nil {
		t.Error(n, err, countErr)
	}
}

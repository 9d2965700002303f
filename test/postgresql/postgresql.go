// Package postgresql runs a PostgreSQL server of its own for the tests of a package.
package postgresql

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"
)

// Server is a PostgreSQL server with its data in a temporary folder.
type Server struct {
	folder   string
	port     int
	password string
	settings []string // as in fsync=on
	process  *exec.Cmd
	ended    chan struct{} // closed when the process has
	said     *bytes.Buffer
	next     atomic.Int64 // database
}

// ErrMissing says that PostgreSQL is not installed.
var ErrMissing = errors.New("no PostgreSQL on this machine: test/peers installs it")

// started is the server of [Main], or why there is none.
var (
	started *Server
	missing error
)

// Main runs the tests of a package with one server for all of them. It is the TestMain of each package
// that uses [Database].
func Main(m *testing.M) { With(m.Run) }

// With is [Main] of tests that something more surrounds: run runs them and returns their exit status. settings of the server,
// as in fsync=on, come after its own.
func With(run func() int, settings ...string) {
	started, missing = Start(settings...)
	code := run()
	if started != nil {
		started.Close()
	}
	os.Exit(code)
}

// Database is the URL of a new, empty database. Without PostgreSQL the test is skipped.
func Database(t testing.TB) string {
	t.Helper()
	if errors.Is(missing, ErrMissing) {
		t.Skip(missing)
	}
	if missing != nil {
		t.Fatal(missing)
	}
	address, err := started.Database(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// Missing reports whether PostgreSQL is not installed, for tests that go on without it.
func Missing() bool { return errors.Is(missing, ErrMissing) }

// Process is that of the server, whose children serve one connection each; nil: there is no server.
func Process() *os.Process {
	if started == nil {
		return nil
	}
	return started.process.Process
}

// binaries is the folder with initdb and postgres.
func binaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres") // as Debian has it
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	if path, err := exec.LookPath("postgres"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", ErrMissing
}

// Start makes a server that listens on loopback, and returns when it can be used. settings come after its own.
func Start(settings ...string) (s *Server, err error) { return StartIn("", settings...) }

// StartIn is [Start] of a server whose folder is in another one than the system's for temporary files.
func StartIn(parent string, settings ...string) (s *Server, err error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	s = &Server{password: "p@ss:/?#word", settings: settings, said: new(bytes.Buffer)}
	if s.folder, err = os.MkdirTemp(parent, "soku-postgresql-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.port, err = freePort(); err != nil {
		return nil, err
	}
	secret := filepath.Join(s.folder, "password")
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return nil, err
	}
	if err := give(s.folder, secret); err != nil {
		return nil, err
	}
	data := filepath.Join(s.folder, "data")
	prepare := asOwner(exec.CommandContext(context.Background(), filepath.Join(bin, "initdb"), "-D", data, "-U", "soku", "--pwfile", secret, "-A", "scram-sha-256", "-E", "UTF8", "--locale", "C", "--no-sync"))
	prepare.Dir = s.folder
	if out, err := prepare.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s, s.run()
}

// run starts the program, and returns when it can be used.
func (s *Server) run() error {
	bin, err := binaries()
	if err != nil {
		return err
	}
	args := []string{"-D", filepath.Join(s.folder, "data"), "-p", strconv.Itoa(s.port), "-k", s.folder}
	for _, setting := range append([]string{"listen_addresses=127.0.0.1", "fsync=off", "max_connections=200"}, s.settings...) { // no test is of power cuts
		args = append(args, "-c", setting)
	}
	s.process = asOwner(exec.CommandContext(context.Background(), filepath.Join(bin, "postgres"), args...))
	s.process.Dir, s.process.Stdout, s.process.Stderr = s.folder, s.said, s.said
	if err := s.process.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func(process *exec.Cmd) {
		defer close(ended)
		_ = process.Wait()
	}(s.process)
	s.ended = ended
	return s.await()
}

// Restart ends all processes of the server as a crash does, waits, and starts it again.
func (s *Server) Restart(after time.Duration) error {
	victims := []int{s.process.Process.Pid}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", victims[0]))
	if err != nil {
		return err
	}
	for _, text := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(text); err == nil {
			victims = append(victims, pid)
		}
	}
	for _, pid := range victims { // the first would end the others in good order
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill()
		}
	}
	<-s.ended
	time.Sleep(after)
	return s.run()
}

// Revive starts a server again that has ended by itself, and returns when it answers.
func (s *Server) Revive() error {
	answers := make(chan error, 1)
	go func() { answers <- s.await() }()
	select {
	case <-s.ended:
		return s.run()
	case err := <-answers:
		return err
	}
}

// await returns when the server answers.
func (s *Server) await() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	db, err := sql.Open("pgx", s.url("postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	for {
		if err = db.PingContext(ctx); err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("postgres does not answer: %w\n%s", err, s.said)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Database is the URL of a new, empty database.
func (s *Server) Database(ctx context.Context) (string, error) {
	db, err := sql.Open("pgx", s.url("postgres"))
	if err != nil {
		return "", err
	}
	defer db.Close()
	name := fmt.Sprintf("soku_%d", s.next.Add(1))
	_, err = db.ExecContext(ctx, "CREATE DATABASE "+name)
	return s.url(name), err
}

func (s *Server) url(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword("soku", s.password), Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/" + database}
	return u.String()
}

// Close stops the server and deletes its data.
func (s *Server) Close() {
	if s.ended != nil {
		_ = s.process.Process.Signal(os.Interrupt) // a fast shutdown
		<-s.ended
	}
	_ = os.RemoveAll(s.folder)
}

func freePort() (int, error) {
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

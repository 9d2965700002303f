package test

import (
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// anyFile is the place of an import that every file of the command line may have.
const anyFile = ""

// commandLineImports are all imports of the command line and the files that have them,
// separated by spaces, or anyFile. The command line reads flags, calls one of these packages,
// and writes what that returns. Packages that move packets, connect hosts or keep journals are
// absent, and only system.go reaches the operating system.
var commandLineImports = map[string]string{
	// Flags and text.
	"bufio": anyFile, "bytes": anyFile, "cmp": anyFile, "context": anyFile, "encoding/json": anyFile, "errors": anyFile, "fmt": anyFile,
	"io": anyFile, "io/fs": anyFile, "iter": anyFile, "maps": anyFile, "net/netip": anyFile, "path/filepath": anyFile, "slices": anyFile,
	"strconv": anyFile, "strings": anyFile, "sync": anyFile, "time": anyFile, "unicode": anyFile,
	"github.com/spf13/cobra": anyFile, "github.com/spf13/pflag": anyFile,
	"regexp":             "topics.go",                 // links of a page of the reference
	"reflect":            "flags.go",                  // flags from the tags of options
	"math":               "planparts.go progress.go",  // figures as text
	"crypto/tls":         "measure.go server.go",      // certificates that flags name
	"crypto/x509":        "measure.go",                // as above
	"log/slog":           "server.go",                 // the server's log on standard error
	"net":                "server.go serverstatus.go", // host and port of a flag
	"runtime":            "root.go system.go",         // the platform
	"soku/internal/text": anyFile, "soku/internal/text/messages": anyFile, "soku/internal/printable": anyFile,
	"soku/internal/measure/option": anyFile, "soku/internal/measure/metric": anyFile, "soku/internal/measure/finding": anyFile,
	"soku/internal/measure": anyFile, "soku/internal/version": anyFile, "soku/internal/tests": anyFile,
	"soku/internal/yamlfile":     "errors.go",   // the flag that was meant
	"golang.org/x/text/language": "language.go", // tags

	// The operating system.
	"os": "system.go", "os/exec": "system.go", "os/signal": "system.go", "os/user": "system.go", "syscall": "system.go",
	"soku/internal/browser": "system.go", // the browser of the host
	"soku/internal/durable": "system.go", "golang.org/x/term": "system.go", "soku/internal/store/sqlite": "system.go",
	"soku/internal/host":    "doctorfix.go floor.go system.go",       // the identity of the host
	"soku/internal/panics":  "root.go",                               // the value of a panic
	"soku/internal/process": "root.go server.go system.go worker.go", // how long this process lives
	"soku/internal/sock":    "root.go",                               // threads that are reserved before the first socket

	// The work.
	"soku/docs/reference":   "topics.go",
	"soku/internal/conduct": anyFile, "soku/internal/publish": anyFile, "soku/internal/campaign": anyFile, "soku/internal/report": anyFile,
	"soku/internal/store":         anyFile,
	"soku/internal/campaign/plan": anyFile, "soku/internal/campaign/advice": anyFile,
	"soku/internal/campaign/journal":  "store.go system.go",
	"soku/internal/campaign/schedule": "plan.go progress.go",
	"soku/internal/archive":           "merge.go rm.go store.go",
	"soku/internal/campaign/studies":  "new.go",
	"soku/internal/agent":             "floor.go run.go system.go worker.go",
	"soku/internal/catalog":           "catalog.go",
	"soku/internal/check":             "bound.go check.go",
	"soku/internal/notices":           "licenses.go",
	"soku/internal/doctor":            "doctor.go doctorfix.go system.go",
	"soku/internal/dropin/ethr":       "dropin.go",
	"soku/internal/dropin/iperf3":     "dropin.go server.go",
	"soku/internal/dropin/ntttcp":     "dropin.go",
	"soku/internal/fleet":             "agent.go", // the pin and addresses of flags
	"soku/internal/fleet/daemon":      "agent.go",
	"soku/internal/fleet/endpoint":    "worker.go",
	"soku/internal/floor":             "floor.go",
	"soku/internal/ingest":            "comparechoice.go ingest.go ingestfolder.go",
	"soku/internal/lab":               "completion.go lab.go run.go",
	"soku/internal/server":            "server.go",
	"soku/internal/server/ethr":       "server.go",
	"soku/internal/server/iperf3":     "server.go",
	"soku/internal/stats":             "planparts.go versus.go",
	"soku/internal/trial":             "explain.go measure.go",
	"soku/internal/verdict":           "explain.go",
	"soku/internal/wire":              "live.go measure.go serverstatus.go",
	"soku/internal/wire/native":       "serverstatus.go",
	"soku/internal/wire/ethr":         "server.go",
	"soku/internal/wire/iperf3":       "measure.go server.go",
}

// The list allows no import that it lacks and has none that is not used.
func TestTheCommandLineOnlyReadsFlagsAndWrites(t *testing.T) {
	files, err := filepath.Glob("../internal/cli/*.go")
	if err != nil {
		t.Fatal(err)
	}
	users := map[string][]string{} // files by import
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range f.Imports {
			pkg, _ := strconv.Unquote(imp.Path.Value)
			users[pkg] = append(users[pkg], filepath.Base(file))
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(users)) {
		switch in, known := commandLineImports[pkg]; {
		case !known:
			t.Errorf("%v import %s: the command line reads flags and writes; the work belongs to a package below it", users[pkg], pkg)
		case in != anyFile && !slices.Equal(slices.Sorted(slices.Values(strings.Fields(in))), users[pkg]):
			t.Errorf("%v import %s, and %s may", users[pkg], pkg, in)
		}
	}
	for pkg := range commandLineImports {
		if users[pkg] == nil {
			t.Errorf("no file imports %s: take it out of the list", pkg)
		}
	}
}

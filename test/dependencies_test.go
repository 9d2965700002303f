package test

import (
	"os/exec"
	"strings"
	"testing"
)

// ofTheHub are libraries that only a hub needs. The program that measures is copied to every host.
var ofTheHub = []string{
	"github.com/jackc/pgx", "github.com/nats-io/nats-server", "github.com/nats-io/jwt", "github.com/parquet-go", "github.com/prometheus/client_golang",
	"github.com/coreos/go-oidc", "soku/internal/store/postgres",
}

func TestTheProgramThatMeasuresHasNoLibraryOfTheHub(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "soku/cmd/soku").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	if len(all) < 200 {
		t.Errorf("%d packages", len(all))
	}
	for _, pkg := range all {
		for _, library := range ofTheHub {
			if pkg == library || strings.HasPrefix(pkg, library+"/") {
				t.Errorf("soku has %s", pkg)
			}
		}
	}
}

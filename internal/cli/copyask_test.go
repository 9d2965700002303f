package cli

import (
	"strconv"
	"strings"
	"testing"

	"soku/test/freeport"
)

// 17 TB fit on no disk of a test: making the files fails before anything is written.
func TestACopyAsksTheServerBeforeItMakesFiles(t *testing.T) {
	files := []string{"--files", "100000", "--file-size", "170MB", "--disk", t.TempDir()}
	closed := "127.0.0.1:" + strconv.Itoa(freeport.One(t))
	for name, c := range map[string]struct {
		args []string
		want string
		code int
	}{
		"no server":                   {append([]string{"copy", closed}, files...), "refused; is \"soku server\" running there", 4},
		"a server that has no folder": {append([]string{"copy", startServer(t, nil)}, files...), "this server takes no copies of files", 5},
		"a part that needs no folder": {[]string{"copy", startServer(t, nil), "--stage", "network", "--file-size", "1MB"}, "", 0},
		"a part without server":       {append([]string{"copy", closed, "--stage", "read"}, files...), "do not fit", 5},
	} {
		if _, errs, code := soku(t, c.args...); code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d, %s", name, code, errs)
		}
	}
}

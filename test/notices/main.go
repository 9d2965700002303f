// Command notices collects the licenses of soku and of all software that is part of the program,
// on every platform, from the module cache. It writes them to THIRD-PARTY-NOTICES and, compressed,
// to package internal/notices, from which "soku licenses" prints them. It runs in the root of the
// repository.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	plainFile      = "THIRD-PARTY-NOTICES"
	compressedFile = "internal/notices/notices.txt.gz"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(root string) error {
	text, err := collect(root)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(root, plainFile), text, 0o644),
		os.WriteFile(filepath.Join(root, compressedFile), packed.Bytes(), 0o644),
	)
}

// platforms are those for which the programs are built. The packages of a program do not depend on its
// architecture but for assembly.
var platforms = []string{"linux", "windows", "darwin"}

// licenseName is the name of a file with a license or a notice.
var licenseName = regexp.MustCompile(`(?i)^(un)?(licen[cs]es?|copying|copyright|notices?|patents)([-._].*)?$`)

// collect returns the texts of all licenses, in the order of the modules.
func collect(root string) ([]byte, error) {
	files := map[string]string{} // what is licensed, with the file's name, by path
	add := func(what, dir string) error {
		entries, err := os.ReadDir(dir)
		for _, e := range entries {
			if licenseName.MatchString(e.Name()) && !e.IsDir() && filepath.Ext(e.Name()) != ".go" {
				files[filepath.Join(dir, e.Name())] = what + ", " + e.Name()
			}
		}
		return err
	}
	goRoot, err := output(root, "", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := errors.Join(add("0 soku", root), add("1 the Go standard library", strings.TrimSpace(string(goRoot)))); err != nil {
		return nil, err
	}
	for _, system := range platforms {
		packages, err := output(root, system, "list", "-deps", "-json=Dir,Module", "./cmd/...")
		if err != nil {
			return nil, err
		}
		for all := json.NewDecoder(bytes.NewReader(packages)); ; {
			var p struct {
				Dir    string
				Module *struct {
					Path, Version, Dir string
					Main               bool
				}
			}
			if err := all.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if p.Module == nil || p.Module.Main {
				continue
			}
			for dir := p.Dir; ; dir = filepath.Dir(dir) { // part of a module may have another license
				inside, _ := filepath.Rel(p.Module.Dir, dir)
				if err := add("2 "+filepath.ToSlash(filepath.Join(p.Module.Path, inside))+" "+p.Module.Version, dir); err != nil {
					return nil, err
				}
				if dir == p.Module.Dir {
					break
				}
			}
			if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(path string) bool { return filepath.Dir(path) == p.Module.Dir }) {
				return nil, fmt.Errorf("%s has no license", p.Module.Path)
			}
		}
	}
	paths := slices.Collect(maps.Keys(files))
	slices.SortFunc(paths, func(a, b string) int { return strings.Compare(files[a], files[b]) })
	var out bytes.Buffer
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "==== %s\n\n%s\n\n", files[path][2:], strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	return out.Bytes(), nil
}

// output runs the go command in a folder, for a system or for this one.
func output(dir, system string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(context.Background(), "go", args...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if system != "" {
		cmd.Env = append(cmd.Env, "GOOS="+system)
	}
	return cmd.Output()
}

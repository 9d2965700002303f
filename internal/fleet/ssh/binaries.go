package ssh

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"sync"

	"soku/internal/measure"
)

// Binaries finds the program for the platform of a host: this program where it is the same
// platform, otherwise soku-OS-ARCH in a folder. It is safe for concurrent use.
type Binaries struct {
	Folder string                        // empty: none
	Self   func() (string, error)        // path of this program
	Open   func(string) (fs.File, error) // opens a file

	mu    sync.Mutex
	found map[Platform]Binary
}

// Binary is a program that can be copied to a host.
type Binary struct {
	Path string
	Sum  string // SHA-256 in hex
}

// For returns the program for a platform. The error is of kind usage where there is none.
func (b *Binaries) For(p Platform) (Binary, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if found, ok := b.found[p]; ok {
		return found, nil
	}
	path := filepath.Join(b.Folder, "soku-"+p.OS+"-"+p.Arch)
	if p == (Platform{runtime.GOOS, runtime.GOARCH}) {
		var err error
		if path, err = b.Self(); err != nil {
			return Binary{}, err
		}
	} else if b.Folder == "" {
		return Binary{}, measure.Fail(measure.KindUsage, "ssh.no_binaries", measure.Figures{"platform": p.String(), "name": filepath.Base(path)})
	}
	sum, err := b.sum(path)
	if err != nil {
		return Binary{}, measure.Fail(measure.KindUsage, "ssh.no_binary", measure.Figures{"platform": p.String(), "cause": err})
	}
	if b.found == nil {
		b.found = map[Platform]Binary{}
	}
	b.found[p] = Binary{path, sum}
	return b.found[p], nil
}

func (b *Binaries) sum(path string) (string, error) {
	f, err := b.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

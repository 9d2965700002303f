package service

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"soku/internal/durable"
	"soku/internal/measure"
)

// adminToken is the token of a folder and its file, made where there is none.
func adminToken(folder string) (token, file string, err error) {
	file = filepath.Join(folder, "admin-token")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		text = []byte("soku-admin-" + rand.Text() + "\n")
		err = durable.WriteFile(file, text, 0o600)
	}
	if err != nil {
		return "", file, measure.Fail(measure.KindStore, "hub.token", measure.Figures{"file": file, "cause": err})
	}
	if token = strings.TrimSpace(string(text)); len(token) < 16 {
		return "", file, measure.Fail(measure.KindFile, "hub.token.short", measure.Figures{"file": file})
	}
	return token, file, nil
}

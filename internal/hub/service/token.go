package service

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"soku/internal/durable"
	"soku/internal/measure"
)

// admin is who has the token of the file.
const admin = "admin"

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

// personOf knows those who have the token.
func personOf(token string) func(*http.Request) string {
	want := sha256.Sum256([]byte(token))
	return func(r *http.Request) string {
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		if got := sha256.Sum256([]byte(given)); !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			return ""
		}
		return admin
	}
}

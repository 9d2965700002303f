package users

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"soku/internal/measure"
)

// Bounds of passwords.
const (
	shortestPassword = 12  // characters
	longestPassword  = 512 // bytes
)

// The costs of argon2id: those that OWASP recommends for 19 MiB.
const (
	memoryKiB = 19 * 1024
	passes    = 2
	threads   = 1
	saltBytes = 16
	keyBytes  = 32
)

// hashing bounds how many passwords are hashed at a time, each in 19 MiB.
var hashing = make(chan struct{}, 2)

// hash is argon2id of a password. Characters that look alike and have several encodings are one.
func hash(ctx context.Context, password string, salt []byte, m, t uint32, p uint8) ([]byte, error) {
	select {
	case hashing <- struct{}{}:
		defer func() { <-hashing }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return argon2.IDKey([]byte(norm.NFKC.String(password)), salt, t, m, p, keyBytes), nil
}

// keep is how a password is kept, in the usual form: $argon2id$v=19$m=19456,t=2,p=1$SALT$KEY.
func keep(ctx context.Context, password string) (string, error) {
	if n := utf8.RuneCountInString(password); n < shortestPassword || len(password) > longestPassword || !utf8.ValidString(password) {
		return "", measure.Fail(measure.KindUsage, "users.password.length", measure.Figures{"shortest": shortestPassword, "longest": longestPassword})
	}
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it ends the program rather than fail
	key, err := hash(ctx, password, salt, memoryKiB, passes, threads)
	if err != nil {
		return "", err
	}
	text := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, threads, text(salt), text(key)), nil
}

// noPassword takes as long to check as that of a user, so that the time does not show which names there are.
const noPassword = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// matches reports whether a password is the one that was kept.
func matches(ctx context.Context, password, kept string) (bool, error) {
	var version int
	var m, t uint32
	var p uint8
	parts := strings.Split(kept, "$")
	if len(parts) != 6 || len(password) > longestPassword {
		return false, nil
	}
	_, wrongForm := fmt.Sscanf(strings.Join(parts[2:4], " "), "v=%d m=%d,t=%d,p=%d", &version, &m, &t, &p)
	salt, wrongSalt := base64.RawStdEncoding.DecodeString(parts[4])
	want, wrongKey := base64.RawStdEncoding.DecodeString(parts[5])
	whole := wrongForm == nil && wrongSalt == nil && wrongKey == nil && version == argon2.Version
	if !whole {
		return false, nil
	}
	got, err := hash(ctx, password, salt, m, t, p)
	return subtle.ConstantTimeCompare(got, want) == 1, err
}

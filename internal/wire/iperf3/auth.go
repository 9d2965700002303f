package iperf3

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1" // #nosec G505 -- iperf3's OAEP has SHA-1, where it is not broken
	"crypto/sha256"
	"crypto/subtle"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"soku/internal/measure"
)

// DefaultSkew is the default of the difference that the clocks of the two ends may have.
const DefaultSkew = 10 * time.Second

// maxUsersFile is the maximum size of a file of users, bytes.
const maxUsersFile = 1 << 20

// ParsePublicKey reads an RSA key in PEM, or PEM in base64, as in iperf3's environment
// variable.
func ParsePublicKey(text []byte) (*rsa.PublicKey, error) {
	der, err := pemOf(text)
	if err != nil {
		return nil, err
	}
	if key, err := x509.ParsePKCS1PublicKey(der); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "iperf3.key.not_public", measure.Figures{"cause": err})
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, measure.Fail(measure.KindFile, "iperf3.key.public_not_rsa", nil)
	}
	return key, nil
}

// ParsePrivateKey reads an RSA key without a password in PEM, or PEM in base64.
func ParsePrivateKey(text []byte) (*rsa.PrivateKey, error) {
	der, err := pemOf(text)
	if err != nil {
		return nil, err
	}
	if key, err := x509.ParsePKCS1PrivateKey(der); err == nil {
		return key, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "iperf3.key.not_private", measure.Figures{"cause": err})
	}
	key, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, measure.Fail(measure.KindFile, "iperf3.key.private_not_rsa", nil)
	}
	return key, nil
}

func pemOf(text []byte) ([]byte, error) {
	if !bytes.Contains(text, []byte("-----BEGIN")) {
		if plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text))); err == nil {
			text = plain
		}
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, measure.Fail(measure.KindFile, "iperf3.key.no_pem", nil)
	}
	return block.Bytes, nil
}

// Token authenticates a client: user, password and time, encrypted with the server's
// public key. iperf3 pads with OAEP; versions before 3.17, and later ones on request, with
// PKCS #1 v1.5.
func Token(user, password string, key *rsa.PublicKey, pkcs1 bool, at time.Time) (string, error) {
	if strings.ContainsAny(user+password, " \t\r\n") {
		return "", measure.Fail(measure.KindUsage, "iperf3.users.blanks", nil)
	}
	text := fmt.Appendf(nil, "user: %s\npwd:  %s\nts:   %d", user, password, at.Unix())
	var sealed []byte
	var err error
	if pkcs1 {
		sealed, err = rsa.EncryptPKCS1v15(rand.Reader, key, text) //nolint:staticcheck // what older servers want
	} else {
		sealed, err = rsa.EncryptOAEP(sha1.New(), rand.Reader, key, text, nil) // #nosec G401
	}
	return base64.StdEncoding.EncodeToString(sealed), err
}

// Guard decides which clients may measure. It is safe for concurrent use and must not be copied.
type Guard struct {
	Key   *rsa.PrivateKey
	Users Users
	Skew  time.Duration // maximum difference of the clocks; 0: DefaultSkew
	PKCS1 bool          // padding of the token; see [Token]

	used usedTokens
}

// Users maps names to the hex SHA-256 of "{user}password".
type Users map[string]string

// ParseUsers reads iperf3's file of users: one "user,hash" per line, comments after #.
func ParseUsers(text []byte) (Users, error) {
	if len(text) > maxUsersFile {
		return nil, measure.Fail(measure.KindFile, "iperf3.users.too_large", measure.Figures{"size_bytes": len(text), "most_bytes": maxUsersFile})
	}
	users := Users{}
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimRight(line, "\r")
		if line == "" || line[0] == '#' {
			continue
		}
		user, hash, ok := strings.Cut(line, ",")
		hash = strings.ToLower(strings.TrimSpace(hash))
		if b, err := hex.DecodeString(hash); !ok || user == "" || err != nil || len(b) != sha256.Size {
			return nil, measure.Fail(measure.KindFile, "iperf3.users.line", measure.Figures{"line": i + 1})
		}
		users[user] = hash
	}
	return users, nil
}

// HashPassword is the hash of a password in the file of users.
func HashPassword(user, password string) string {
	sum := sha256.Sum256([]byte("{" + user + "}" + password))
	return hex.EncodeToString(sum[:])
}

// Check returns the user of a token, or why the token is invalid. A token is valid once. It
// takes as long for an unknown user as for a wrong password.
func (g *Guard) Check(token string, now time.Time) (user string, err error) {
	sealed, err := base64.StdEncoding.DecodeString(token)
	if err != nil || len(sealed) == 0 || len(sealed) > g.Key.Size() {
		return "", measure.Fail(measure.KindRefused, "iperf3.users.no_token", nil)
	}
	var text []byte
	if g.PKCS1 {
		text, err = rsa.DecryptPKCS1v15(nil, g.Key, sealed) //nolint:staticcheck // what older clients send
	} else {
		text, err = rsa.DecryptOAEP(sha1.New(), nil, g.Key, sealed, nil) // #nosec G401
	}
	if err != nil {
		return "", measure.Fail(measure.KindRefused, "iperf3.users.other_key", nil)
	}
	user, password, at, err := parseToken(string(text))
	if err != nil {
		return "", err
	}
	want, known := g.Users[user]
	right := subtle.ConstantTimeCompare([]byte(HashPassword(user, password)), []byte(want)) == 1
	skew := g.Skew
	skew = cmp.Or(skew, DefaultSkew)
	switch {
	case !known || !right:
		return "", measure.Fail(measure.KindRefused, "iperf3.users.wrong", nil)
	case at.Sub(now).Abs() > skew:
		return "", measure.Fail(measure.KindRefused, "iperf3.users.clocks", measure.Figures{"apart_ns": at.Sub(now).Abs().Round(time.Second)})
	}
	if err := g.used.use(sealed, now, at.Add(skew)); err != nil {
		return "", err
	}
	return user, nil
}

// parseToken reads a decrypted token: three values, each after its name, separated by
// blanks.
func parseToken(text string) (user, password string, at time.Time, err error) {
	f := strings.Fields(text)
	if len(f) != 6 || f[0] != "user:" || f[2] != "pwd:" || f[4] != "ts:" {
		return "", "", at, measure.Fail(measure.KindRefused, "iperf3.users.malformed_token", nil)
	}
	seconds, err := strconv.ParseInt(f[5], 10, 64)
	if err != nil {
		return "", "", at, measure.Fail(measure.KindRefused, "iperf3.users.token_without_time", nil)
	}
	return f[1], f[3], time.Unix(seconds, 0), nil
}

// mostUsed bounds the tokens that are remembered at a time. Only who knows a password adds one.
const mostUsed = 10_000

// usedTokens holds the tokens that were accepted and are still within the allowed difference of
// the clocks: an attacker on the path could replay them. It is safe for concurrent use.
type usedTokens struct {
	mu    sync.Mutex
	until map[[sha256.Size]byte]time.Time
}

// use remembers an encrypted token until it is too old anyway. One that is there already is
// refused, and so are all while too many are.
func (u *usedTokens) use(sealed []byte, now, until time.Time) error {
	key := sha256.Sum256(bytes.TrimLeft(sealed, "\x00")) // it is a number: zeros in front change nothing
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.until == nil {
		u.until = map[[sha256.Size]byte]time.Time{}
	}
	if _, used := u.until[key]; used {
		return measure.Fail(measure.KindRefused, "iperf3.users.used", nil)
	}
	if len(u.until) >= mostUsed {
		for key, until := range u.until {
			if now.After(until) {
				delete(u.until, key)
			}
		}
	}
	if len(u.until) >= mostUsed {
		return measure.Fail(measure.KindRefused, "iperf3.users.too_many", nil)
	}
	u.until[key] = until
	return nil
}

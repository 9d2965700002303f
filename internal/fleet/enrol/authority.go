package enrol

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/nats-io/nkeys"

	"soku/internal/durable"
	"soku/internal/measure"
)

// authorityFile has the private keys of an authority.
const (
	authorityFile   = "authority.json"
	authoritySchema = "soku.authority/1"
)

// Authority signs what a broker believes. It is safe for concurrent use.
type Authority struct {
	operator, system, account, signing key
}

// key is a pair of keys. Its public half is its identity.
type key struct {
	id   string
	pair nkeys.KeyPair
}

// seeds is the content of the file.
type seeds struct {
	Schema   string `json:"schema"`
	Operator string `json:"operator"`
	System   string `json:"system_account"`
	Account  string `json:"account"`
	Signing  string `json:"signing_key"` // of the account: it signs JWTs of agents
}

// OpenAuthority reads the keys in a folder. Where there are none it makes them, once: the identity of the hub and all
// JWTs depend on them. Folder and file are for their owner alone. One process at a time may have an authority. An
// error has kind store, or kind file if the file is damaged, or kind permission if others may read it.
func OpenAuthority(folder string) (*Authority, error) {
	name := filepath.Join(folder, authorityFile)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, measure.Fail(measure.KindStore, "enrol.authority.open", measure.Figures{"file": name, "cause": err})
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return makeAuthority(name)
	}
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, measure.Fail(measure.KindPermission, "enrol.authority.mode", measure.Figures{"file": name})
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(name)
	}
	if err != nil {
		return nil, measure.Fail(measure.KindStore, "enrol.authority.open", measure.Figures{"file": name, "cause": err})
	}
	a, err := decodeAuthority(text)
	if err != nil {
		return nil, measure.Fail(measure.KindFile, "enrol.authority.damaged", measure.Figures{"file": name, "cause": err})
	}
	return a, nil
}

var errOtherSchema = errors.New("it is no " + authoritySchema)

func decodeAuthority(text []byte) (*Authority, error) {
	var s seeds
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, errOtherSchema // the error of a syntax may have parts of a key
	}
	if s.Schema != authoritySchema {
		return nil, errOtherSchema
	}
	a := &Authority{}
	for _, k := range []struct {
		to   *key
		seed string
		kind nkeys.PrefixByte
	}{
		{&a.operator, s.Operator, nkeys.PrefixByteOperator}, {&a.system, s.System, nkeys.PrefixByteAccount},
		{&a.account, s.Account, nkeys.PrefixByteAccount}, {&a.signing, s.Signing, nkeys.PrefixByteAccount},
	} {
		pair, err := nkeys.FromSeed([]byte(k.seed))
		if err != nil {
			return nil, err
		}
		if *k.to, err = keyOf(pair); err != nil {
			return nil, err
		}
		if nkeys.Prefix(k.to.id) != k.kind {
			return nil, nkeys.ErrInvalidSeed
		}
	}
	return a, nil
}

func keyOf(pair nkeys.KeyPair) (key, error) {
	id, err := pair.PublicKey()
	return key{id, pair}, err
}

func makeAuthority(name string) (*Authority, error) {
	s := seeds{Schema: authoritySchema}
	text, err := s.draw()
	if err == nil {
		err = durable.WriteFile(name, text, 0o600)
	}
	var a *Authority
	if err == nil {
		a, err = decodeAuthority(text)
	}
	if err != nil {
		return nil, measure.Fail(measure.KindStore, "enrol.authority.make", measure.Figures{"file": name, "cause": err})
	}
	return a, nil
}

// draw makes all keys.
func (s *seeds) draw() ([]byte, error) {
	for _, k := range []struct {
		to   *string
		kind nkeys.PrefixByte
	}{{&s.Operator, nkeys.PrefixByteOperator}, {&s.System, nkeys.PrefixByteAccount}, {&s.Account, nkeys.PrefixByteAccount}, {&s.Signing, nkeys.PrefixByteAccount}} {
		pair, err := nkeys.CreatePair(k.kind)
		if err != nil {
			return nil, err
		}
		seed, err := pair.Seed()
		if err != nil {
			return nil, err
		}
		*k.to = string(seed)
	}
	return json.MarshalIndent(s, "", "\t")
}

// ID is the identity of the hub: the public key of the operator.
func (a *Authority) ID() string { return a.operator.id }

// SystemAccount is the public key of the account of the broker itself.
func (a *Authority) SystemAccount() string { return a.system.id }

// Account is the public key of the account of the hub and its agents.
func (a *Authority) Account() string { return a.account.id }

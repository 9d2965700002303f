package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"soku/internal/measure"
	"soku/internal/store"
)

// Documents that others wrote.
var prepared = map[string]func(*testing.T, store.Store){
	"takes documents, compressed or not":        preparedTaken,
	"takes documents and results alike":         preparedAlike,
	"refuses another document of an ID":         preparedConflict,
	"refuses what is no document, and the rest": preparedRefused,
}

// Compressed is a document as an agent sends it.
func Compressed(document []byte) store.Document { return encoder.EncodeAll(document, nil) }

var encoder, _ = zstd.NewWriter(nil) // only a wrong option is an error

func prepare(t *testing.T, r *measure.Result) (plain, compressed store.Document) {
	t.Helper()
	plain = store.Document(document(t, r))
	return plain, Compressed(plain)
}

func preparedTaken(t *testing.T, s store.Store) {
	rows := []measure.LatencyRow{{}, {}}
	a, b := inCampaign(Result("0001aaaa", 1), "c1", "ultra", 2, 5), inCampaign(Result("0001bbbb", 2), "c1", "ultra", 2, 6)
	a.Latency.Rows, b.Latency.Rows = rows, rows
	plain, _ := prepare(t, a)
	_, compressed := prepare(t, b)
	if err := s.PutDocuments(t.Context(), plain, compressed); err != nil {
		t.Fatal(err)
	}
	clear(plain) // the caller may use its bytes again
	clear(compressed)
	for _, q := range []store.Query{{Campaign: "c1"}, {Endpoint: "vm.vlan"}, {Levels: a.Trial.Levels}, {Test: measure.TestTCP}} {
		wantList(t, s, q, "0001bbbb", "0001aaaa")
	}
	for i, r := range stream(t, s, store.Query{OldestFirst: true}, store.Whole) {
		if want := []*measure.Result{a, b}[i]; document(t, r) != document(t, want) {
			t.Errorf("%s came back as\n%s", document(t, want), document(t, r))
		}
	}
	page, err := s.List(t.Context(), store.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Put(t.Context(), Result("0002cccc", 2)); err != nil {
		t.Fatal(err)
	}
	put, err := s.List(t.Context(), store.Query{IDPrefix: "0002"})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := fmt.Sprint(page.Items[0].Figures), fmt.Sprint(put.Items[0].Figures); a != b || a == "map[]" {
		t.Errorf("the figures of a document are %s, of a result %s", a, b)
	}
}

func preparedAlike(t *testing.T, s store.Store) {
	r := Result("0001aaaa", 1)
	plain, compressed := prepare(t, r)
	var indented bytes.Buffer
	if err := json.Indent(&indented, plain, "", "  "); err != nil {
		t.Fatal(err)
	}
	for _, again := range []error{
		s.PutDocuments(t.Context(), compressed, compressed), s.Put(t.Context(), r), s.PutDocuments(t.Context(), plain),
		s.PutDocuments(t.Context(), indented.Bytes()), s.PutDocuments(t.Context(), Compressed(indented.Bytes()), plain), s.PutDocuments(t.Context()),
	} {
		if again != nil {
			t.Error(again)
		}
	}
	wantCount(t, s, 1)
}

func preparedConflict(t *testing.T, s store.Store) {
	put(t, s, Result("0001aaaa", 1))
	other := Result("0001aaaa", 1)
	other.Latency.Rows = []measure.LatencyRow{{}} // not decoded when it is put
	_, differs := prepare(t, other)
	_, fresh := prepare(t, Result("0001bbbb", 1))
	if err := s.PutDocuments(t.Context(), fresh, differs); !store.IsConflict(err) || !strings.Contains(err.Error(), "0001aaaa") {
		t.Errorf("another document of the same ID: %v", err)
	}
	_, one := prepare(t, Result("0003eeee", 1))
	_, two := prepare(t, Result("0003eeee", 2))
	if err := s.PutDocuments(t.Context(), one, two); !store.IsConflict(err) {
		t.Errorf("two documents of one ID: %v", err)
	}
	wantCount(t, s, 1)
}

func preparedRefused(t *testing.T, s store.Store) {
	_, fine := prepare(t, Result("0001aaaa", 1))
	long := Result("0001bbbb", 1)
	long.Path.Client.Name = strings.Repeat("x", 600)
	_, longName := prepare(t, long)
	zeros := func(n int) []byte {
		return append([]byte(`{"schema":"soku.result/1","id":"0001cccc","test":"tcp","later":"`), append(bytes.Repeat([]byte("0"), n), `"}`...)...)
	}
	for name, c := range map[string]struct {
		document store.Document
		kind     measure.Kind
		says     string
	}{
		"empty":              {nil, measure.KindFile, "document 2"},
		"text":               {store.Document("hello"), measure.KindFile, "document 2"},
		"a list":             {store.Document("[]"), measure.KindFile, "document 2"},
		"cut off":            {fine[:len(fine)/2], measure.KindFile, "document 2"},
		"damaged":            {append(bytes.Clone(fine[:len(fine)-9]), "123456789"...), measure.KindFile, "document 2"},
		"another schema":     {store.Document(`{"schema":"soku.result/2","id":"x"}`), measure.KindFile, "soku.result/2"},
		"without an ID":      {store.Document(`{"schema":"soku.result/1"}`), measure.KindUsage, "no id"},
		"a long name":        {longName, measure.KindFile, "bytes"},
		"large":              {zeros(store.MaxDocument), measure.KindFile, "document 2"},
		"large when decoded": {Compressed(zeros(store.MaxDocument)), measure.KindFile, "document 2"},
	} {
		err := s.PutDocuments(t.Context(), fine, c.document)
		if measure.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v (%s), want %s %q", name, err, measure.KindOf(err), c.kind, c.says)
		}
	}
	wantCount(t, s, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	wantKind(t, s.PutDocuments(ctx, fine), measure.KindInterrupted)
	if err := s.PutDocuments(t.Context(), fine, Compressed(zeros(store.MaxDocument-1000))); err != nil {
		t.Errorf("just below the limit: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantKind(t, s.PutDocuments(t.Context(), fine), measure.KindStore)
}

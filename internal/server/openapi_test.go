package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"soku/internal/measure"
	"soku/internal/wire/native"
)

// apiDocument reads docs/openapi.yaml as JSON values.
func apiDocument(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../../docs/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	js, err := yaml.YAMLToJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(js))
	if err != nil {
		t.Fatal(err)
	}
	return doc.(map[string]any)
}

func TestEveryRouteIsDescribedAndEveryDescriptionIsARoute(t *testing.T) {
	var described, served []string
	for path, item := range apiDocument(t)["paths"].(map[string]any) {
		for method := range item.(map[string]any) {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	for _, r := range routes {
		served = append(served, r.method+" "+r.path)
	}
	slices.Sort(described)
	slices.Sort(served)
	if !slices.Equal(described, served) {
		t.Errorf("described: %q\nserved:    %q", described, served)
	}
}

func TestEveryReferenceInTheDescriptionLeadsSomewhere(t *testing.T) {
	doc := apiDocument(t)
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for k, sub := range v {
				if k == "$ref" && find(doc, sub.(string)) == nil {
					t.Errorf("%s: %s leads nowhere", at, sub)
				}
				walk(at+"/"+k, sub)
			}
		case []any:
			for i, sub := range v {
				walk(fmt.Sprint(at, "/", i), sub)
			}
		}
	}
	walk("#", doc)
}

func find(doc any, ref string) any {
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		m, ok := doc.(map[string]any)
		if !ok {
			return nil
		}
		doc = m[strings.ReplaceAll(part, "~1", "/")]
	}
	return doc
}

func TestWhatTheServerSendsIsAsDescribed(t *testing.T) {
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("api.json", apiDocument(t)); err != nil {
		t.Fatal(err)
	}
	check := func(schema string, body []byte) {
		t.Helper()
		compiled, err := compiler.Compile("api.json#/components/schemas/" + schema)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
		if err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		if err := compiled.Validate(v); err != nil {
			t.Errorf("%s is no %s: %v", body, schema, err)
		}
	}
	fetch := func(s *running, path string) []byte {
		body, _ := io.ReadAll(s.do(http.MethodGet, path, nil, nil).Body)
		return body
	}
	event := func(e *native.Event) { b, _ := json.Marshal(e); check("Event", b) }

	s := serve(t, Config{Exclusive: true, MaxRate: 1_000_000, Version: "test"})
	request, _ := json.Marshal(native.CreateRequest{Test: measure.TestTCP, Options: tcpOptions()})
	check("CreateRequest", request)
	x, waiting := s.raw(tcpOptions()), s.raw(tcpOptions())
	for _, c := range []native.Created{x.created, waiting.created} {
		b, _ := json.Marshal(c)
		check("Created", b)
	}
	check("Info", fetch(s, native.InfoPath))
	check("Queue", fetch(s, native.QueuePath))
	check("Failure", fetch(s, "/elsewhere"))
	waiting.attach()
	event(waiting.event()) // queued
	x.attach()
	x.open(0)
	x.start()
	_, _ = x.data[0].Write(make([]byte, 10))
	x.data[0].(interface{ CloseWrite() error }).CloseWrite()
	for {
		e := x.event()
		event(e)
		if e.Event == native.EventRunning {
			s.sessions.id(x.created.ID).finished.fire()
		}
		if e.Last() {
			break
		}
	}
	s.stop()
	event(waiting.last()) // aborted
}

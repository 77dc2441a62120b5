package api_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/sessile-dev/sessile/api"
)

func load(t *testing.T) *openapi3.T {
	t.Helper()
	text, err := api.JSON()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestDocumentIsValid(t *testing.T) {
	if err := load(t).Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// The document means the same to those who read it as it was written.
func TestYAMLAndJSONAreTheSame(t *testing.T) {
	written, err := openapi3.NewLoader().LoadFromData(api.YAML())
	if err != nil {
		t.Fatal(err)
	}
	one, err := written.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	other, err := load(t).MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one, other) {
		t.Errorf("the YAML and the JSON say different things:\n%s\n%s", one, other)
	}
}

func TestOrderIsKept(t *testing.T) {
	text, err := api.JSON()
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for _, part := range []string{`{"openapi":`, `"info":`, `"servers":`, `"tags":`, `"paths":`, `"components":`} {
		at := bytes.Index(text, []byte(part))
		if at <= last {
			t.Errorf("%s stands at %d, behind %d", part, at, last)
		}
		last = at
	}
}

// Every operation is told of in full: a summary, a known tag, an answer that says what it is, and the answers every
// operation has.
func TestOperationsAreComplete(t *testing.T) {
	doc := load(t)
	var tags []string
	for _, tag := range doc.Tags {
		tags = append(tags, tag.Name)
	}
	seen := map[string]bool{}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			name := method + " " + path
			if op.Summary == "" || strings.HasSuffix(op.Summary, ".") {
				t.Errorf("%s: the summary is %q", name, op.Summary)
			}
			if len(op.Tags) != 1 || !slices.Contains(tags, op.Tags[0]) {
				t.Errorf("%s: the tags are %v", name, op.Tags)
			}
			if op.OperationID == "" || seen[op.OperationID] {
				t.Errorf("%s: the operation id %q is empty or taken", name, op.OperationID)
			}
			seen[op.OperationID] = true
			want := []string{"403", "500", "503"}
			if op.Security == nil {
				want = append(want, "401")
			}
			if op.RequestBody != nil {
				want = append(want, "400", "413", "415")
			}
			for _, status := range want {
				if op.Responses.Value(status) == nil {
					t.Errorf("%s: no answer %s is described", name, status)
				}
			}
		}
	}
}

// Everything in components is used, so that nothing described is without effect.
func TestComponentsAreUsed(t *testing.T) {
	text := string(api.YAML())
	doc := load(t)
	check := func(kind, name string) {
		if !strings.Contains(text, "'#/components/"+kind+"/"+name+"'") {
			t.Errorf("nothing refers to %s/%s", kind, name)
		}
	}
	for name := range doc.Components.Schemas {
		check("schemas", name)
	}
	for name := range doc.Components.Parameters {
		check("parameters", name)
	}
	for name := range doc.Components.Responses {
		check("responses", name)
	}
}

// Package api is the contract of the HTTP interface: one OpenAPI document, written by hand.
package api

import (
	"bytes"
	_ "embed"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
)

//go:embed openapi.yaml
var document []byte

// YAML returns the document as it was written. Callers must not change it.
func YAML() []byte { return document }

// JSON returns the document as JSON, with the members of objects in the order in which they were written: the same bytes
// in every process of one build. It is converted once; callers must not change it. An error says that the document in
// this build is broken, which the tests rule out.
func JSON() ([]byte, error) { return converted() }

// converted is a pure value: it depends on the embedded document alone.
var converted = sync.OnceValues(func() ([]byte, error) {
	var root any
	if err := yaml.UnmarshalWithOptions(document, &root, yaml.UseOrderedMap(), yaml.Strict()); err != nil {
		return nil, fmt.Errorf("api: reading the document: %w", err)
	}
	var out bytes.Buffer
	if err := write(jsontext.NewEncoder(&out), root); err != nil {
		return nil, fmt.Errorf("api: converting the document: %w", err)
	}
	return out.Bytes(), nil
})

// write writes a value as the YAML library reads it.
func write(e *jsontext.Encoder, value any) error {
	switch v := value.(type) {
	case yaml.MapSlice:
		return writeObject(e, v)
	case []any:
		return writeList(e, v)
	case string:
		return e.WriteToken(jsontext.String(v))
	case bool:
		return e.WriteToken(jsontext.Bool(v))
	case int64:
		return e.WriteToken(jsontext.Int(v))
	case uint64:
		return e.WriteToken(jsontext.Uint(v))
	case float64:
		return e.WriteToken(jsontext.Float(v))
	case nil:
		return e.WriteToken(jsontext.Null)
	}
	return fmt.Errorf("%T has no place in JSON", value)
}

func writeObject(e *jsontext.Encoder, members yaml.MapSlice) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, m := range members {
		name, ok := m.Key.(string)
		if !ok {
			return fmt.Errorf("%s: the name %v is no text", e.StackPointer(), m.Key)
		}
		if err := e.WriteToken(jsontext.String(name)); err != nil {
			return err
		}
		if err := write(e, m.Value); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

func writeList(e *jsontext.Encoder, items []any) error {
	if err := e.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for _, item := range items {
		if err := write(e, item); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndArray)
}

package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// entry is a setting found in the file.
type entry struct {
	text   string
	source string // file:line
}

// sections are the top-level keys that belong to other packages. They are kept as they stand, to be read there.
func sections() []string {
	return []string{"agents", "channels", "tools", "session", "logging", "delivery", "changeLog"}
}

// fileReader walks through a parsed file and collects settings by key.
type fileReader struct {
	name     string
	known    map[string]bool // keys of settings
	groups   map[string]bool // what stands before the dot in them
	entries  map[string]entry
	sections map[string][]byte
	problems []error
}

// parseFile reads the settings in a file. Messages name lines and keys, never values: there may be secrets among them.
func parseFile(name string, data []byte) (map[string]entry, map[string][]byte, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, nil, &Error{Source: name, Problem: yaml.FormatError(err, false, false)}
	}
	r := &fileReader{
		name:     name,
		known:    map[string]bool{},
		groups:   map[string]bool{},
		entries:  map[string]entry{},
		sections: map[string][]byte{},
	}
	for _, s := range settings() {
		r.known[s.Key] = s.Key != ""
		if group, _, dotted := strings.Cut(s.Key, "."); dotted {
			r.groups[group] = true
		}
	}
	if len(file.Docs) > 1 {
		return nil, nil, &Error{Source: name, Problem: "a configuration is one YAML document, here are several"}
	}
	if len(file.Docs) == 1 && file.Docs[0].Body != nil {
		r.mapping("", file.Docs[0].Body)
	}
	return r.entries, r.sections, errors.Join(r.problems...)
}

// mapping reads the members of a mapping; prefix is "" or the group with its dot.
func (r *fileReader) mapping(prefix string, node ast.Node) {
	if isEmpty(node) {
		return
	}
	members, ok := node.(ast.MapNode)
	if !ok {
		r.fail(strings.TrimSuffix(prefix, "."), node, "here must stand a mapping of keys to values")
		return
	}
	for it := members.MapRange(); it.Next(); {
		r.member(prefix, it.Key(), it.Value())
	}
}

func (r *fileReader) member(prefix string, keyNode ast.MapKeyNode, value ast.Node) {
	plain, ok := keyNode.(*ast.StringNode)
	if !ok {
		r.fail("", keyNode, "a key must be plain text")
		return
	}
	key := prefix + plain.Value
	switch {
	case prefix == "" && r.groups[key]:
		r.mapping(key+".", value)
	case prefix == "" && slices.Contains(sections(), key):
		r.section(key, value)
	case r.known[key]:
		r.scalar(key, value)
	default:
		r.fail(key, keyNode, "there is no such setting")
	}
}

func (r *fileReader) section(key string, node ast.Node) {
	text, err := yaml.Marshal(node)
	if err != nil {
		r.fail(key, node, "it cannot be read")
		return
	}
	r.sections[key] = text
}

func (r *fileReader) scalar(key string, node ast.Node) {
	var text string
	switch n := node.(type) {
	case *ast.StringNode:
		text = n.Value
	case *ast.LiteralNode:
		text = n.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		text = n.GetToken().Value
	default:
		r.fail(key, node, "here must stand one text, number or truth value")
		return
	}
	r.entries[key] = entry{text: text, source: r.at(node)}
}

func (r *fileReader) fail(key string, node ast.Node, problem string) {
	r.problems = append(r.problems, &Error{Setting: key, Source: r.at(node), Problem: problem})
}

func (r *fileReader) at(node ast.Node) string {
	token := node.GetToken()
	if token == nil || token.Position == nil {
		return r.name
	}
	return fmt.Sprintf("%s:%d", r.name, token.Position.Line)
}

// isEmpty reports whether nothing stands where a mapping could: "model:" alone sets nothing.
func isEmpty(node ast.Node) bool {
	if node == nil {
		return true
	}
	switch node.(type) {
	case *ast.NullNode, *ast.CommentGroupNode:
		return true
	}
	return false
}

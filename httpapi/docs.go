package httpapi

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

//go:embed docs.html
var docsTemplate string

// docMembers is a JSON object whose members keep their order.
type docMembers[T any] []docNamed[T]

type docNamed[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSONFrom reads an object.
func (m *docMembers[T]) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		one := docNamed[T]{Name: token.String()}
		if err := json.UnmarshalDecode(d, &one.Value); err != nil {
			return err
		}
		*m = append(*m, one)
	}
	_, err := d.ReadToken()
	return err
}

// docContract is what the page shows of the OpenAPI document.
type docContract struct {
	Info struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	} `json:"info"`
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	Paths      docMembers[docPath] `json:"paths"`
	Components struct {
		Parameters map[string]docParameter `json:"parameters"`
		Responses  map[string]docResponse  `json:"responses"`
		Schemas    docMembers[*docSchema]  `json:"schemas"`
	} `json:"components"`
}

type docPath struct {
	Parameters []docParameter `json:"parameters"`
	Get        *docOperation  `json:"get"`
	Post       *docOperation  `json:"post"`
	Put        *docOperation  `json:"put"`
	Patch      *docOperation  `json:"patch"`
	Delete     *docOperation  `json:"delete"`
}

type docOperation struct {
	ID          string                  `json:"operationId"`
	Tags        []string                `json:"tags"`
	Summary     string                  `json:"summary"`
	Description string                  `json:"description"`
	Parameters  []docParameter          `json:"parameters"`
	Body        *docBody                `json:"requestBody"`
	Responses   docMembers[docResponse] `json:"responses"`
	Security    *[]any                  `json:"security"`
	Codes       map[string][]string     `json:"x-error-codes"`
	Local       bool                    `json:"x-local-socket"`

	Method, Path string
}

// Open reports whether the operation needs no credentials.
func (o *docOperation) Open() bool { return o.Security != nil }

type docParameter struct {
	Ref         string     `json:"$ref"`
	Name        string     `json:"name"`
	In          string     `json:"in"`
	Required    bool       `json:"required"`
	Description string     `json:"description"`
	Schema      *docSchema `json:"schema"`
}

type docBody struct {
	Required bool                 `json:"required"`
	Content  docMembers[docMedia] `json:"content"`
}

type docResponse struct {
	Ref         string               `json:"$ref"`
	Description string               `json:"description"`
	Content     docMembers[docMedia] `json:"content"`
	Codes       []string             `json:"x-error-codes"`
}

type docMedia struct {
	Schema *docSchema             `json:"schema"`
	Events docMembers[*docSchema] `json:"x-events"`
}

type docSchema struct {
	Ref         string                 `json:"$ref"`
	Type        string                 `json:"type"`
	Description string                 `json:"description"`
	Nullable    bool                   `json:"nullable"`
	Enum        []any                  `json:"enum"`
	Default     any                    `json:"default"`
	Pattern     string                 `json:"pattern"`
	Minimum     *float64               `json:"minimum"`
	Maximum     *float64               `json:"maximum"`
	MinLength   *float64               `json:"minLength"`
	MaxLength   *float64               `json:"maxLength"`
	MinItems    *float64               `json:"minItems"`
	MaxItems    *float64               `json:"maxItems"`
	Unique      bool                   `json:"uniqueItems"`
	Items       *docSchema             `json:"items"`
	Properties  docMembers[*docSchema] `json:"properties"`
	Required    []string               `json:"required"`
	More        jsontext.Value         `json:"additionalProperties"`
	OneOf       []*docSchema           `json:"oneOf"`
	AnyOf       []*docSchema           `json:"anyOf"`
	Codes       docMembers[docCode]    `json:"x-codes"`
}

type docCode struct {
	Status  int    `json:"status"`
	Meaning string `json:"meaning"`
}

// renderDocs makes the page out of the document.
func renderDocs(document []byte) ([]byte, error) {
	var c docContract
	if err := json.Unmarshal(document, &c); err != nil {
		return nil, fmt.Errorf("httpapi: reading the document: %w", err)
	}
	page, err := template.New("docs").Funcs(template.FuncMap{
		"prose": prose, "target": target, "kind": (*docSchema).kind, "bounds": (*docSchema).bounds,
	}).Parse(docsTemplate)
	if err != nil {
		return nil, fmt.Errorf("httpapi: reading the template of the page: %w", err)
	}
	var out bytes.Buffer
	if err := page.Execute(&out, c.view()); err != nil {
		return nil, fmt.Errorf("httpapi: writing the page: %w", err)
	}
	return out.Bytes(), nil
}

// docView is what the template shows.
type docView struct {
	Title, Version, Description string
	Tags                        []docTag
	Schemas                     docMembers[*docSchema]
	Codes                       docMembers[docCode]
}

type docTag struct {
	Name, Description string
	Operations        []*docOperation
}

// view puts operations under their tags and replaces references to parameters and answers by what they stand for.
func (c *docContract) view() docView {
	v := docView{Title: c.Info.Title, Version: c.Info.Version, Description: c.Info.Description}
	operations := c.operations()
	for _, tag := range c.Tags {
		t := docTag{Name: tag.Name, Description: tag.Description}
		for _, o := range operations {
			if len(o.Tags) > 0 && o.Tags[0] == tag.Name {
				t.Operations = append(t.Operations, o)
			}
		}
		v.Tags = append(v.Tags, t)
	}
	for _, s := range c.Components.Schemas {
		if s.Value.Codes != nil {
			v.Codes = s.Value.Codes
		}
	}
	v.Schemas = c.Components.Schemas
	return v
}

func (c *docContract) operations() []*docOperation {
	var all []*docOperation
	for _, path := range c.Paths {
		item := path.Value
		for _, one := range []struct {
			method string
			o      *docOperation
		}{{"GET", item.Get}, {"POST", item.Post}, {"PUT", item.Put}, {"PATCH", item.Patch}, {"DELETE", item.Delete}} {
			if one.o == nil {
				continue
			}
			one.o.Method, one.o.Path = one.method, path.Name
			one.o.Parameters = append(append([]docParameter(nil), item.Parameters...), one.o.Parameters...)
			c.settle(one.o)
			all = append(all, one.o)
		}
	}
	return all
}

// settle replaces the references of an operation and joins the codes of its answers.
func (c *docContract) settle(o *docOperation) {
	for i, p := range o.Parameters {
		if p.Ref != "" {
			o.Parameters[i] = c.Components.Parameters[target(p.Ref)]
		}
	}
	for i := range o.Responses {
		answer := &o.Responses[i]
		if answer.Value.Ref != "" {
			answer.Value = c.Components.Responses[target(answer.Value.Ref)]
		}
		codes := append([]string(nil), o.Codes[answer.Name]...)
		for _, shared := range answer.Value.Codes {
			if !strings.Contains(" "+strings.Join(codes, " ")+" ", " "+shared+" ") {
				codes = append(codes, shared)
			}
		}
		answer.Value.Codes = codes
	}
}

// target is the last part of a reference.
func target(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// Needs reports whether an object cannot be without a member.
func (s *docSchema) Needs(member string) bool {
	for _, name := range s.Required {
		if name == member {
			return true
		}
	}
	return false
}

// kind says in a word what a value is, but for null.
func (s *docSchema) kind() string {
	word := map[string]string{
		"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "object": "object", "array": "list",
	}[s.Type]
	if word == "" && len(s.OneOf) == 0 && len(s.AnyOf) == 0 {
		word = "any JSON"
	}
	return word
}

// bounds says what a value is held to.
func (s *docSchema) bounds() string {
	var out []string
	between := func(low, high *float64, what string) {
		number := func(x *float64) string { return strconv.FormatFloat(*x, 'f', -1, 64) }
		switch {
		case low != nil && high != nil:
			out = append(out, number(low)+" to "+number(high)+what)
		case low != nil:
			out = append(out, "at least "+number(low)+what)
		case high != nil:
			out = append(out, "at most "+number(high)+what)
		}
	}
	between(s.Minimum, s.Maximum, "")
	if s.MinLength != nil && *s.MinLength == 1 && s.MaxLength == nil {
		out = append(out, "not empty")
	} else {
		between(s.MinLength, s.MaxLength, " characters")
	}
	if s.MinItems != nil && *s.MinItems == 1 && s.MaxItems == nil {
		out = append(out, "not empty")
	} else {
		between(s.MinItems, s.MaxItems, " items")
	}
	if s.Unique {
		out = append(out, "each once")
	}
	if s.Nullable && s.Type != "" {
		out = append(out, "or null")
	}
	if s.Default != nil {
		out = append(out, fmt.Sprintf("by default %v", s.Default))
	}
	return strings.Join(out, ", ")
}

// docSpan is a piece of a paragraph: plain, code, strong or em.
type docSpan struct{ Kind, Text string }

// prose parts a description into paragraphs and their spans: `code`, **strong** and *em*.
func prose(text string) [][]docSpan {
	var paragraphs [][]docSpan
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		var spans []docSpan
		for paragraph != "" {
			at := strings.IndexAny(paragraph, "`*")
			if at < 0 {
				spans = append(spans, docSpan{"plain", paragraph})
				break
			}
			kind, mark := "em", "*"
			switch {
			case paragraph[at] == '`':
				kind, mark = "code", "`"
			case strings.HasPrefix(paragraph[at:], "**"):
				kind, mark = "strong", "**"
			}
			inner, rest, closed := strings.Cut(paragraph[at+len(mark):], mark)
			if !closed {
				spans = append(spans, docSpan{"plain", paragraph})
				break
			}
			spans = append(spans, docSpan{"plain", paragraph[:at]}, docSpan{kind, inner})
			paragraph = rest
		}
		paragraphs = append(paragraphs, spans)
	}
	return paragraphs
}

package httpapi

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/sessile-dev/sessile/api"
	"github.com/sessile-dev/sessile/internal/apitest"
)

func TestOpenAPI(t *testing.T) {
	want, err := api.JSON()
	if err != nil {
		t.Fatal(err)
	}
	h := apitest.Check(t, newTestHandler(&refuser{}, nil))
	w, _ := do(h, "GET", "/openapi.json", "")
	if w.Code != 200 || w.Body.String() != string(want) {
		t.Errorf("%d, %d bytes, want the %d of the document", w.Code, w.Body.Len(), len(want))
	}
	checkHeaders(t, w)
}

func getDocs(t *testing.T) (http.Header, string) {
	t.Helper()
	w, _ := do(apitest.Check(t, newTestHandler(&refuser{}, nil)), "GET", "/docs", "")
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Header(), w.Body.String()
}

// The page loads nothing, runs nothing, and its headers let it do neither.
func TestDocsStandAlone(t *testing.T) {
	header, page := getDocs(t)
	for name, want := range map[string]string{
		"Content-Type": "text/html; charset=utf-8", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for _, foreign := range []string{"<script", "<link", "<img", "<iframe", "@import", "url(", " src=", " onclick="} {
		if strings.Contains(page, foreign) {
			t.Errorf("the page has %s", foreign)
		}
	}
	for _, link := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(link[1], "#") && link[1] != "/openapi.json" {
			t.Errorf("the page leads to %s", link[1])
		}
	}
}

// Everything of the document is on the page.
func TestDocsAreComplete(t *testing.T) {
	_, page := getDocs(t)
	doc := document(t)
	var want []string
	for _, route := range Routes() {
		want = append(want, `id="op-`+handlerName(route)+`"`, html.EscapeString(route.Path))
		op := doc.Paths.Value(route.Path).GetOperation(route.Method)
		want = append(want, op.Summary)
		article := page[max(0, strings.Index(page, `<article id="op-`+handlerName(route)+`"`)):]
		article, _, _ = strings.Cut(article, "</article>")
		if strings.Contains(article, "<h4>Body") != (route.body != noBody) {
			t.Errorf("%s: the page has the body rule wrong", route.Pattern())
		}
		for status := range op.Responses.Map() {
			if !strings.Contains(article, `<th scope="row">`+status+`</th>`) {
				t.Errorf("%s: the page does not tell of %s", route.Pattern(), status)
			}
		}
		for _, p := range op.Parameters {
			want = append(want, "<code>"+p.Value.Name+"</code>")
		}
	}
	for name, schema := range doc.Components.Schemas {
		want = append(want, `id="schema-`+name+`"`)
		for member := range schema.Value.Properties {
			want = append(want, "<code>"+member+"</code>")
		}
	}
	for code := range statuses {
		want = append(want, `id="code-`+string(code)+`"`)
	}
	for _, part := range want {
		if !strings.Contains(page, part) {
			t.Errorf("the page has no %s", part)
		}
	}
	for _, wrong := range []string{"<no value>", "%!", "ZgotmplZ", "map["} {
		if strings.Contains(page, wrong) {
			t.Errorf("the page has %s", wrong)
		}
	}
}

// Every element is closed where it should be, and every link within the page leads somewhere.
func TestDocsAreSound(t *testing.T) {
	_, page := getDocs(t)
	page = regexp.MustCompile(`<meta[^>]*`).ReplaceAllString(page, "$0/") // the one element that HTML does not close
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity = xml.HTMLEntity
	ids, links := map[string]bool{}, map[string]bool{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range start.Attr {
			if a.Name.Local == "id" {
				if ids[a.Value] {
					t.Errorf("the id %s stands there twice", a.Value)
				}
				ids[a.Value] = true
			}
			if name, local := strings.CutPrefix(a.Value, "#"); local && a.Name.Local == "href" {
				links[name] = true
			}
		}
	}
	for name := range links {
		if !ids[name] {
			t.Errorf("a link leads to %s, which is not there", name)
		}
	}
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                      "[[{plain plain}]]",
		"a `b*c` d":                  "[[{plain a } {code b*c} {plain  d}]]",
		"**bold** and *em*":          "[[{plain } {strong bold} {plain  and } {em em}]]",
		"one\nline\n\nand\nanother":  "[[{plain one\nline}] [{plain and\nanother}]]",
		"an open ` stays, 2 * 2 too": "[[{plain an open ` stays, 2 * 2 too}]]",
		"<b>&amp;</b> `<script>`":    "[[{plain <b>&amp;</b> } {code <script>}]]",
		"`{\"data\": …}`":            "[[{plain } {code {\"data\": …}}]]",
	} {
		if got := fmt.Sprint(prose(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

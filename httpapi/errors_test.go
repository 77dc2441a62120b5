package httpapi

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/sessile-dev/sessile"
)

// TestEveryCodeHasAStatus reads the codes out of the source of the root package, so that none can be forgotten.
func TestEveryCodeHasAStatus(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../error.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[sessile.Code]bool{}
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			if typ, ok := value.Type.(*ast.Ident); !ok || typ.Name != "Code" {
				continue
			}
			text, err := strconv.Unquote(value.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			codes[sessile.Code(text)] = true
		}
	}
	if len(codes) < 40 {
		t.Fatalf("only %d codes found", len(codes))
	}
	for code := range codes {
		if statuses[code] < 400 || statuses[code] > 599 {
			t.Errorf("%s has status %d", code, statuses[code])
		}
	}
	for code := range statuses {
		if !codes[code] {
			t.Errorf("%s has a status but is no code", code)
		}
	}
}

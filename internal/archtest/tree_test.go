package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is one Go file.
type source struct {
	path    string // from the root of the module, with slashes
	pkg     string // directory of the file, relative to the module; "." is the root
	test    bool
	lines   int
	imports []string
	syntax  *ast.File
}

// tree is every Go file of the module, whatever its build constraints.
type tree struct {
	fset  *token.FileSet
	files []source
}

// readTree parses the module. Nested modules, test data and hidden directories are no part of it.
func readTree(t *testing.T) tree {
	t.Helper()
	root := filepath.Join("..", "..")
	tr := tree{fset: token.NewFileSet()}
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != root && foreign(name) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(name) != ".go" {
			return nil
		}
		file, err := tr.parse(root, name)
		if err != nil {
			return err
		}
		tr.files = append(tr.files, file)
		return nil
	})
	if err != nil {
		t.Fatalf("reading the tree: %v", err)
	}
	return tr
}

func foreign(dir string) bool {
	base := filepath.Base(dir)
	if base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func (tr *tree) parse(root, name string) (source, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return source{}, err
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		return source{}, err
	}
	rel = filepath.ToSlash(rel)
	syntax, err := parser.ParseFile(tr.fset, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	file := source{
		path:   rel,
		pkg:    path.Dir(rel),
		test:   strings.HasSuffix(rel, "_test.go"),
		lines:  bytes.Count(text, []byte("\n")),
		syntax: syntax,
	}
	for _, spec := range syntax.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, err
		}
		file.imports = append(file.imports, imported)
	}
	return file, nil
}

// at says where a node stands.
func (tr *tree) at(node ast.Node) string {
	position := tr.fset.Position(node.Pos())
	return position.Filename + ":" + strconv.Itoa(position.Line)
}

// packages lists the directories with Go files that are not tests.
func (tr *tree) packages() []string {
	var list []string
	for _, file := range tr.files {
		if !file.test && !slices.Contains(list, file.pkg) {
			list = append(list, file.pkg)
		}
	}
	return list
}

// ours turns an import path into a path relative to the module; ok is false for packages of others.
func ours(imported string) (rel string, ok bool) {
	if imported == module {
		return ".", true
	}
	return strings.CutPrefix(imported, module+"/")
}

// standard reports whether a package is the standard library's: the first part of its path is no host.
func standard(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".")
}

// above reports whether the package upper imports lower, directly or through others.
func above(rules map[string]rule, upper, lower string) bool {
	for _, imported := range rules[upper].imports {
		if imported == lower || above(rules, imported, lower) {
			return true
		}
	}
	return false
}

// importsName reports whether a file imports a package under its own name.
func importsName(file *ast.File, imported string) bool {
	for _, spec := range file.Imports {
		if spec.Path.Value == strconv.Quote(imported) && spec.Name == nil {
			return true
		}
	}
	return false
}

// isCall reports whether a node calls pkg.name.
func isCall(node ast.Node, pkg, name string) bool {
	call, ok := node.(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || selector.Sel.Name != name {
		return false
	}
	ident, ok := selector.X.(*ast.Ident)
	return ok && ident.Name == pkg
}

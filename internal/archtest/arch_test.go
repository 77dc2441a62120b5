package archtest

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

func TestEveryPackageHasARule(t *testing.T) {
	tr := readTree(t)
	rules := imports()
	found := tr.packages()
	for _, pkg := range found {
		if _, ok := rules[pkg]; !ok {
			t.Errorf("package %s has no rule: say in rules_test.go what it may import, so that the arrows of the design "+
				"stay a decision and not an accident", pkg)
		}
	}
	for pkg := range rules {
		if !slices.Contains(found, pkg) {
			t.Errorf("rules_test.go has a rule for %s, which does not exist: take it out, so that the table tells what is", pkg)
		}
	}
}

func TestImports(t *testing.T) {
	tr := readTree(t)
	rules := imports()
	for _, file := range tr.files {
		r, ok := rules[file.pkg]
		if !ok || file.test {
			continue
		}
		for _, imported := range file.imports {
			checkImport(t, file, r, imported)
		}
	}
}

func checkImport(t *testing.T, file source, r rule, imported string) {
	t.Helper()
	if imported == "C" {
		t.Errorf("%s imports C: the module builds without cgo, so that one command builds it for every system", file.path)
		return
	}
	if rel, ok := ours(imported); ok {
		switch {
		case strings.HasPrefix(rel, "cmd/"):
			t.Errorf("%s imports %s: a command wires the others and is wired by none", file.path, rel)
		case !r.anything && !slices.Contains(r.imports, rel):
			t.Errorf("%s imports %s, which package %s must not know; it may import %v (design, section 3). What it needs "+
				"belongs lower down, or behind an interface of its own", file.path, rel, file.pkg, r.imports)
		}
		return
	}
	if r.pure && slices.Contains(impure(), imported) {
		t.Errorf("%s imports %s: package %s does no IO of its own, so that its rules can be tested and reused without",
			file.path, imported, file.pkg)
	}
	if r.external != nil && !standard(imported) && !within(imported, r.external) {
		t.Errorf("%s imports %s: package %s may use the standard library and %v only, since everybody who uses the "+
			"library links it", file.path, imported, file.pkg, r.external)
	}
}

func within(imported string, modules []string) bool {
	return slices.ContainsFunc(modules, func(m string) bool {
		return imported == m || strings.HasPrefix(imported, m+"/")
	})
}

// Tests may reach for a driver or a model to run against, but not for what stands on the package they test: that
// belongs in a test up there. The examples of the root package are the manual and may show everything but commands.
func TestImportsOfTests(t *testing.T) {
	tr := readTree(t)
	rules := imports()
	for _, file := range tr.files {
		if !file.test {
			continue
		}
		for _, imported := range file.imports {
			rel, ok := ours(imported)
			if !ok {
				continue
			}
			manual := file.pkg == "." && file.syntax.Name.Name == "sessile_test"
			switch {
			case strings.HasPrefix(rel, "cmd/"):
				t.Errorf("%s imports %s: nobody imports a command", file.path, rel)
			case !manual && above(rules, rel, file.pkg):
				t.Errorf("%s imports %s, which stands above %s: move the test up", file.path, rel, file.pkg)
			}
		}
	}
}

func TestPackageComments(t *testing.T) {
	tr := readTree(t)
	commented := map[string]int{}
	for _, file := range tr.files {
		if !file.test && file.syntax.Doc != nil {
			commented[file.pkg]++
		}
	}
	for _, pkg := range tr.packages() {
		if n := commented[pkg]; n != 1 {
			t.Errorf("package %s has %d package comments: it needs exactly one, which says what it is about", pkg, n)
		}
	}
}

func TestPackageNames(t *testing.T) {
	tr := readTree(t)
	for _, file := range tr.files {
		name := strings.TrimSuffix(file.syntax.Name.Name, "_test")
		if slices.Contains(vague(), name) || slices.Contains(vague(), path.Base(file.pkg)) {
			t.Errorf("%s is in package %s: a package is named for what it is about, and that name says nothing", file.path, name)
		}
	}
}

func TestFileLength(t *testing.T) {
	tr := readTree(t)
	for _, file := range tr.files {
		if !file.test && file.lines > maxLines {
			t.Errorf("%s has %d lines, more than %d: a file holds one concept, so split it", file.path, file.lines, maxLines)
		}
	}
}

func TestNoInit(t *testing.T) {
	tr := readTree(t)
	for _, file := range tr.files {
		for _, decl := range file.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: init function: what a package needs is handed to it, nothing happens by importing it", tr.at(fn))
			}
		}
	}
}

func TestNoSleepInTests(t *testing.T) {
	tr := readTree(t)
	for _, file := range tr.files {
		if !file.test || !importsName(file.syntax, "time") {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			if isCall(node, "synctest", "Test") {
				return false // time is the test's own in there, and sleeping is how it passes
			}
			if isCall(node, "time", "Sleep") {
				t.Errorf("%s: time.Sleep in a test is either too short or too long: wait for a signal, or use testing/synctest",
					tr.at(node))
			}
			return true
		})
	}
}

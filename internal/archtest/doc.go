// Package archtest holds the rules of the tree as tests: who may import whom, and a few habits that a reviewer would
// otherwise have to look for. It has no code of its own. A new package is added to the table in rules_test.go.
package archtest

package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// lines reads a file of one JSON object a line.
func lines[T any](t *testing.T, name string) []T {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var all []T
	scanner := bufio.NewScanner(bytes.NewReader(data))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		var one T
		if err := json.Unmarshal(scanner.Bytes(), &one); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		t.Fatalf("%s is empty", name)
	}
	return all
}

// The vectors of spec/session-tools.md, sections 3.5 (F) and 10.1 (V).
func TestSanitiseVectors(t *testing.T) {
	for _, v := range lines[struct{ ID, Note, In, Out string }](t, "sanitise.jsonl") {
		t.Run(v.ID, func(t *testing.T) {
			if got := Sanitise(v.In); strings.TrimSpace(got) != strings.TrimSpace(v.Out) {
				t.Errorf("%s: Sanitise(%q)\n got %q\nwant %q", v.Note, v.In, got, v.Out)
			}
		})
	}
}

package transcript

import (
	"strings"
	"testing"
)

// The vectors of spec/session-tools.md, section 10.2.
func TestRedactVectors(t *testing.T) {
	r, err := NewRedactor(RedactOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range lines[struct {
		ID  string
		In  []string
		Out string
	}](t, "redact.jsonl") {
		t.Run(v.ID, func(t *testing.T) {
			in := strings.Join(v.In, "")
			got, changed := r.Redact(in)
			if got != v.Out {
				t.Errorf("Redact(%q)\n got %q\nwant %q", in, got, v.Out)
			}
			if changed != (in != v.Out) {
				t.Errorf("changed is %t for %q", changed, in)
			}
			if again, changed := r.Redact(got); changed {
				t.Errorf("a second time changes %q into %q", got, again)
			}
		})
	}
}

package pisession_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/sessile-dev/sessile/pisession"
)

// chain is a file in which every entry is the child of the one before, with a text of a given length in each. It is made
// while it is read, and next to nothing is allocated for it.
type chain struct {
	entries, length int

	at      int // entries that were begun
	text    int // bytes of the text that are to come
	begun   bool
	line    []byte
	pending []byte
	read    int
}

func (c *chain) Read(p []byte) (int, error) {
	if len(c.pending) == 0 {
		c.pending = c.next()
	}
	if len(c.pending) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.pending)
	c.pending = c.pending[n:]
	c.read += n
	return n, nil
}

func (c *chain) next() []byte {
	switch {
	case c.text > 0:
		n := min(c.text, len(filler))
		c.text -= n
		return append(c.line[:0], filler[:n]...)
	case c.begun:
		c.begun = false
		return append(c.line[:0], `"}]}}`+"\n"...)
	case c.at == c.entries:
		return nil
	}
	c.line = c.line[:0]
	if c.at++; c.at == 1 {
		c.line = append(make([]byte, 0, 2*len(filler)), header...)
	}
	c.line = fmt.Appendf(c.line, `{"type":"message","id":"%08x","parentId":"%08x","message":{"role":"user","content":[{"type":"text","text":"`, c.at, c.at-1)
	c.text, c.begun = c.length/3*3, true
	return c.line
}

var filler = strings.Repeat(`a\n`, 1000)

// What a session takes depends on its entries and not on what is in them.
func TestMemory(t *testing.T) {
	for _, c := range []struct {
		name  string
		chain chain
		limit uint64 // bytes, of all allocations together
	}{
		{"one line of 32 MB", chain{entries: 1, length: 32 << 20}, 1 << 20},
		{"20 MB in lines of 20 KB", chain{entries: 1000, length: 20 << 10}, 2 << 20},
		{"100000 entries", chain{entries: 100_000, length: 30}, 100_000 * 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := allocated()
			s, err := pisession.Read(&c.chain)
			used := allocated() - before
			if err != nil {
				t.Fatal(err)
			}
			// The first entry names a parent that is not there.
			if s.Len() != c.chain.entries || s.FaultCount != 1 || len(s.FirstMessage) > pisession.MaxText {
				t.Errorf("%d entries, %d faults, a first message of %d bytes", s.Len(), s.FaultCount, len(s.FirstMessage))
			}
			if used > c.limit {
				t.Errorf("allocated %d bytes, more than %d", used, c.limit)
			}
			t.Logf("%d bytes read, %d allocated", c.chain.read, used)
		})
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestDepthIsNoMatter(t *testing.T) {
	const depth = 1_000_000
	text := header + `{"x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `,"id":"a"}`
	s, err := pisession.Read(strings.NewReader(text))
	if err != nil || s.Len() != 1 {
		t.Errorf("%v", err)
	}
}

func BenchmarkRead(b *testing.B) {
	for _, c := range []chain{{entries: 10, length: 1 << 20}, {entries: 10_000, length: 1000}, {entries: 100_000, length: 30}} {
		b.Run(fmt.Sprintf("entries=%d", c.entries), func(b *testing.B) {
			content, err := io.ReadAll(&c)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := pisession.Read(bytes.NewReader(content)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package turn

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/lorebook"
	"github.com/sessile-dev/sessile/model"
)

// Worldbook is what a worldbook brought to a prompt (spec/governed-state.md, section 9).
type Worldbook struct {
	ID      string
	Version int64
	UIDs    []int64 // activated, in order
	Matches []lorebook.Match
	content string
}

// activate scans the bound worldbook of a session, nil when it has none: over the user and assistant messages of the story
// and what the user says now. Reading and scanning a large book takes its time, so it is done outside of transactions.
func (s *Service) activate(ctx context.Context, session *sessile.Session, story []sessile.Message, message string) (*Worldbook, error) {
	if session.Worldbook == 0 {
		return nil, nil
	}
	var row sessile.Worldbook
	found := false
	err := s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
		row, found, err = tx.WorldbookByRow(session.Worldbook)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	book, err := s.books.parse(&row)
	if err != nil {
		return nil, err
	}
	texts := []string{message}
	for i := range slices.Backward(story) {
		if role := story[i].Role; role == "user" || role == "assistant" {
			texts = append(texts, plainText(&story[i]))
		}
	}
	w := &Worldbook{ID: row.ID, Version: row.Version, UIDs: []int64{}, Matches: book.Explain(texts).Matches}
	var contents []string
	for _, match := range w.Matches {
		w.UIDs = append(w.UIDs, match.UID)
		if entry, ok := book.Entry(match.UID); ok && strings.TrimSpace(entry.Content) != "" {
			contents = append(contents, entry.Content)
		}
	}
	w.content = strings.Join(contents, "\n\n")
	return w, nil
}

// tell puts the contents of the activated entries before the conversation.
func (w *Worldbook) tell(messages []model.Message) []model.Message {
	if w == nil || w.content == "" {
		return messages
	}
	return slices.Insert(messages, 0, model.Message{Role: "system", Content: w.content})
}

// books keeps the worldbooks that were used last, since compiling the keys of a large one takes its time. The zero value is
// ready.
type books struct {
	mu     sync.Mutex
	parsed map[bookKey]*lorebook.Book
}

type bookKey struct {
	id      string
	version int64
}

// maxBooks bounds how many are kept; beyond it all are dropped, which needs no bookkeeping.
const maxBooks = 64

func (b *books) parse(row *sessile.Worldbook) (*lorebook.Book, error) {
	key := bookKey{row.ID, row.Version}
	b.mu.Lock()
	book := b.parsed[key]
	b.mu.Unlock()
	if book != nil {
		return book, nil
	}
	book, _, err := lorebook.Parse(row.Book)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.parsed == nil || len(b.parsed) >= maxBooks {
		b.parsed = make(map[bookKey]*lorebook.Book)
	}
	b.parsed[key] = book
	return book, nil
}

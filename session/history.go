package session

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/transcript"
)

// Find resolves what a tool was given and checks whether the caller may do what action names with it. A session is not
// needed: a key may have none. Exactly one of target, refusal and error tells what came of it.
func (s *Service) Find(ctx context.Context, c Caller, text, action string) (t Target, refusal *Refusal, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
		r := s.resolver(tx, c)
		if t, refusal, err = r.find(text); err != nil || refusal != nil {
			return err
		}
		refusal = s.options.Visibility.Check(s.options.Keys, c, t.Key, t.Row, action)
		return nil
	})
	return t, refusal, err
}

func (s *Service) resolver(tx sessile.ReadTx, c Caller) *resolver {
	return &resolver{tx: tx, keys: s.options.Keys, visibility: s.options.Visibility, caller: c}
}

// HistoryQuery selects a stretch of a transcript for sessions_history (spec/session-tools.md, section 3).
type HistoryQuery struct {
	Limit        int
	Offset       int
	Paged        bool // Offset was given
	IncludeTools bool
	MessageID    string // asks for a window around this message
	SessionID    string // of an earlier session behind the same key
}

// HistoryOf reads the transcript of a target on its main branch the way agents may see it. A target without a session has
// none. Codes: not_found when the session id does not belong to the key.
func (s *Service) HistoryOf(ctx context.Context, account string, t Target, q HistoryQuery) (result transcript.Result, err error) {
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		row := t.Row
		if q.SessionID != "" && (row == nil || row.ID != q.SessionID) {
			retired, found, err := tx.RetiredSession(account, t.Key, q.SessionID)
			if err == nil && !found {
				err = sessile.NotFound()
			}
			if err != nil {
				return err
			}
			row = &retired
		}
		var floor int64
		var found bool
		if row != nil {
			if floor, found, err = lastFloor(tx, row); err != nil {
				return err
			}
		}
		if !found {
			result = s.page(q, nil, 0, 0)
			return nil
		}
		result, err = s.story(tx, row, floor, q)
		return err
	})
	return result, err
}

func (s *Service) page(q HistoryQuery, rows []transcript.Row, total int, start int64) transcript.Result {
	if q.MessageID != "" {
		return s.options.View.Window(transcript.Window{
			Rows: rows, MessageID: q.MessageID, Limit: q.Limit, IncludeTools: q.IncludeTools, Total: total, SessionStart: start,
		})
	}
	return s.options.View.Page(transcript.Page{
		Rows: rows, IncludeTools: q.IncludeTools, Paged: q.Paged, Offset: q.Offset, Total: total, SessionStart: start,
	})
}

func (s *Service) story(tx sessile.ReadTx, row *sessile.Session, floor int64, q HistoryQuery) (transcript.Result, error) {
	total, err := tx.StoryLength(floor)
	if err != nil {
		return transcript.Result{}, err
	}
	skip, limit := q.Offset, q.Limit
	if q.MessageID != "" {
		place, found, err := tx.StoryPlace(floor, q.MessageID)
		if err != nil {
			return transcript.Result{}, err
		}
		if !found {
			return s.page(q, nil, total, row.CreatedAt), nil
		}
		newest := min(total, place+q.Limit)
		skip, limit = total-newest, newest-max(0, place-q.Limit)
	}
	rows, err := storyTail(tx, floor, total, skip, limit)
	return s.page(q, rows, total, row.CreatedAt), err
}

// lastFloor finds the floor with which the main branch of a session ends.
func lastFloor(tx sessile.ReadTx, row *sessile.Session) (floor int64, found bool, err error) {
	b, found, err := tx.Branch(row.Row, sessile.MainBranch)
	if err != nil || !found {
		return 0, false, err
	}
	last, found, err := tx.LatestFloor(b.Row, true)
	if err != nil || found {
		return last.Row, found, err
	}
	return b.SourceFloor, b.SourceFloor != 0, nil
}

// storyTail reads the newest rows but for the skip that are newer still. Total is the number of all rows, for their places;
// 0 when places do not matter.
func storyTail(tx sessile.ReadTx, floor int64, total, skip, limit int) ([]transcript.Row, error) {
	if total > 0 {
		if skip >= total {
			return nil, nil
		}
		limit = min(limit, total-skip)
	}
	messages, err := tx.StoryTail(floor, skip, limit)
	if err != nil {
		return nil, err
	}
	first := max(1, total-skip-len(messages)+1)
	return rowsOf(messages, first), nil
}

func storyHead(tx sessile.ReadTx, floor int64) ([]transcript.Row, error) {
	messages, err := tx.StoryHead(floor, "user", storyHeadRows)
	return rowsOf(messages, 1), err
}

func rowsOf(messages []sessile.Message, first int) []transcript.Row {
	rows := make([]transcript.Row, len(messages))
	for i := range messages {
		m := &messages[i]
		rows[i] = transcript.Row{
			Seq: int64(first + i), ID: m.ID, Role: m.Role, Content: transcript.Text(m.Content), Extra: m.Extra,
			CreatedAt: m.CreatedAt, Hidden: m.Hidden,
		}
		if m.ContentFormat == "blocks" {
			rows[i].Content = jsontext.Value(m.Content)
		}
	}
	return rows
}

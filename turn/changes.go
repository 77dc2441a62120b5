package turn

import (
	"slices"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/changelog"
	"github.com/sessile-dev/sessile/model"
	"github.com/sessile-dev/sessile/session"
)

// hear logs what a person said where somebody watches, and takes the notices that wait for the session: they are told to the
// model, and count as seen when the turn commits (spec/session-tools.md, 7.3 and 7.5).
func hear(tx sessile.Tx, a *attempt) (err error) {
	if !a.queued && (a.runType == RunTypeRespond || a.runType == RunTypeEdit) {
		if err := changelog.HumanMessage(tx, &a.session, a.session.Channel, ""); err != nil {
			return err
		}
	}
	a.notices, err = tx.Notices(a.session.Account, a.session.Key)
	return err
}

// tellNotices puts the notices behind what else the system says, before the conversation.
func (a *attempt) tellNotices(messages []model.Message) []model.Message {
	if len(a.notices) == 0 {
		return messages
	}
	var lines []string
	for i := range a.notices {
		lines = append(lines, changelog.NoticeText(&a.notices[i]))
	}
	at := slices.IndexFunc(messages, func(m model.Message) bool { return m.Role != "system" })
	if at < 0 {
		at = len(messages)
	}
	return slices.Insert(messages, at, model.Message{Role: "system", Content: strings.Join(lines, "\n")})
}

// tellSystem puts a text before everything else.
func tellSystem(messages []model.Message, text string) []model.Message {
	return slices.Insert(messages, 0, model.Message{Role: "system", Content: text})
}

// settle acknowledges the notices that the model was told and notes what the turn cost.
func settle(tx sessile.Tx, a *attempt, said *answer) error {
	if err := changelog.Drain(tx, a.session.Account, a.notices); err != nil {
		return err
	}
	return touch(tx, a.session.Row, func(d *session.Details) {
		d.InputTokens, d.OutputTokens, d.TotalTokens = said.usage.InputTokens, said.usage.OutputTokens, said.prompt
		d.CacheRead = said.usage.CacheRead
	})
}

// touch moves the time of a session's last change, and changes its details unless change is nil. The row is read again: it may have changed during the turn.
func touch(tx sessile.Tx, row int64, change func(*session.Details)) error {
	s, found, err := tx.SessionByRow(row)
	if err != nil || !found {
		return err
	}
	if change != nil {
		if err := session.ChangeDetails(&s, change); err != nil {
			return err
		}
	}
	s.UpdatedAt = tx.Now()
	return tx.TouchSession(&s)
}

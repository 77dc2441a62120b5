package turn

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/model"
)

// DryRunRequest asks what a model would be told.
type DryRunRequest struct {
	Message                  string
	MaxInputTokens           *int64
	ReservedCompletionTokens *int64
}

// DryRun is a prompt that was assembled and not sent.
type DryRun struct {
	Prompt
	AvailableForReply *int64 // nil when the caller named no budget
}

// Prompt is what a model is told.
type Prompt struct {
	Messages      []model.Message
	TokenEstimate int64
	History       int        // messages of the story among them
	Worldbook     *Worldbook // nil when the session has none
}

// newPrompt puts the story, what the user says now and the worldbook together.
func newPrompt(story []sessile.Message, message string, worldbook *Worldbook) Prompt {
	p := Prompt{Messages: prompt(story, message), Worldbook: worldbook}
	p.History = len(p.Messages) - 1
	p.Messages = worldbook.tell(p.Messages)
	p.estimate()
	return p
}

func (p *Prompt) estimate() {
	p.TokenEstimate = 0
	for _, m := range p.Messages {
		p.TokenEstimate += estimateTokens(m.Content)
	}
}

// DryRun assembles the prompt of a turn on main and does nothing else (spec/governed-state.md, 5.3): no floor, no model, no
// state. Notices that wait for the session are in it, and go on waiting. Codes: not_found, session_archived.
func (s *Service) DryRun(ctx context.Context, account, sessionID string, r DryRunRequest) (d DryRun, err error) {
	var session sessile.Session
	var story []sessile.Message
	var told attempt
	err = s.store.View(ctx, func(tx sessile.ReadTx) (err error) {
		if session, err = activeSession(tx, account, sessionID); err != nil {
			return err
		}
		if told.notices, err = tx.Notices(account, session.Key); err != nil {
			return err
		}
		main, found, err := tx.Branch(session.Row, sessile.MainBranch)
		if err != nil || !found {
			return err
		}
		last, found, err := tx.LatestFloor(main.Row, true)
		if err != nil {
			return err
		}
		if found {
			story, err = tx.Story(last.Row, true, s.options.StoryFloors)
		}
		return err
	})
	if err != nil {
		return DryRun{}, err
	}
	worldbook, err := s.activate(ctx, &session, story, r.Message)
	if err != nil {
		return DryRun{}, err
	}
	d.Prompt = newPrompt(story, r.Message, worldbook)
	d.Messages = told.tellNotices(d.Messages)
	d.estimate()
	switch {
	case r.ReservedCompletionTokens != nil:
		d.AvailableForReply = r.ReservedCompletionTokens
	case r.MaxInputTokens != nil:
		left := max(0, *r.MaxInputTokens-d.TokenEstimate)
		d.AvailableForReply = &left
	}
	return d, nil
}

// Digest tells whether two prompts are the same, without telling what is in them.
func (p *Prompt) Digest() string {
	hash := sha256.New()
	for _, m := range p.Messages {
		fmt.Fprintf(hash, "%d %s %d %s", len(m.Role), m.Role, len(m.Content), m.Content)
	}
	return "sha256:" + hex.EncodeToString(hash.Sum(nil))
}

// estimateTokens is a rule of thumb that needs no model: four bytes a token, and four tokens of frame a message.
func estimateTokens(text string) int64 { return int64(len(text)+3)/4 + 4 }

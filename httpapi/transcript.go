package httpapi

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/turn"
)

// Bounds of the transcript routes.
const (
	maxIngestedRows    = 1000
	maxTranscriptRows  = 200
	transcriptPageSize = 50
)

// ingest answers POST /sessions/{session}/transcript: rows from elsewhere become one committed floor (design.md
// section 5). Members of a row that have no meaning here are kept as they came.
func (h *Handler) ingest(c *call) (reply, error) {
	o := openBody(c)
	r := turn.IngestRequest{RequestID: c.requestID}
	r.BranchID, _ = o.text("branch_id", optional, anyText)
	rows, _ := o.list("messages", required)
	if o.has("messages") && len(rows) == 0 {
		o.problem("messages", wrongEmpty, "at least one message is expected")
	}
	if len(rows) > maxIngestedRows {
		o.problem("messages", wrongLength, "at most 1000 messages are taken at once")
		rows = nil
	}
	for i, row := range rows {
		r.Messages = append(r.Messages, o.row("messages."+strconv.Itoa(i), row))
	}
	r.Writes = o.turnWrites()
	if err := h.admit(o, turn.Request{Writes: r.Writes}); err != nil {
		return reply{}, err
	}
	in, err := h.turns.Ingest(c.ctx, c.account, c.path("session"), r)
	if err != nil {
		return reply{}, err
	}
	return dataReply(http.StatusCreated, struct {
		FloorID    string   `json:"floor_id"`
		FloorNo    int64    `json:"floor_no"`
		MessageIDs []string `json:"message_ids"`
	}{in.FloorID, in.FloorNo, in.MessageIDs})
}

// row reads one message. content is a text or a list of blocks.
func (o *object) row(name string, value jsontext.Value) turn.IngestedMessage {
	in := o.open(name, value)
	m := turn.IngestedMessage{Role: in.choice("role", required, "user", "assistant", "system", "tool", "toolResult")}
	if content, ok := in.typed("content", required, "a text or a list", '"', '['); ok && content.Kind() == '"' {
		m.Content = unquote(content)
	} else if ok {
		blocks, _ := in.value("content", required)
		m.Content, m.Blocks = string(blocks), true
	}
	if at, ok := in.integer("created_at", optional, 0, 1<<53); ok {
		m.CreatedAt = &at
	}
	m.Extra = in.rest()
	return m
}

// rest takes the members nobody asked for, as one object in the form in which it is stored; nil when there are none.
// The names that every row has of its own are left out.
func (o *object) rest() []byte {
	var out []byte
	for i := range o.members {
		m := &o.members[i]
		if m.asked {
			continue
		}
		m.asked = true
		if m.name == "id" || m.name == "seq" {
			continue
		}
		value, ok := o.value(m.name, optional)
		if !ok {
			continue
		}
		out = append(append(appendText(append(out, ','), m.name), ':'), value...)
	}
	if out == nil {
		return nil
	}
	out[0] = '{'
	return append(out, '}')
}

// transcript answers GET /sessions/{session}/transcript.
func (h *Handler) transcript(c *call) (reply, error) {
	q := openQuery(c)
	branch := q.text("branch_id", optional, anyText)
	page := q.stretch(transcriptPageSize, maxTranscriptRows)
	if err := q.done(); err != nil {
		return reply{}, err
	}
	if branch == "" {
		branch = sessile.MainBranch
	}
	rows, total, err := h.floors.Transcript(c.ctx, c.account, c.path("session"), branch, page.Limit, page.Offset)
	if err != nil {
		return reply{}, err
	}
	items := make([]jsontext.Value, 0, len(rows))
	for i := range rows {
		item, err := showRow(page.Offset+i+1, &rows[i])
		if err != nil {
			return reply{}, err
		}
		items = append(items, item)
	}
	return pageReply(items, sessile.Page{Limit: page.Limit, Offset: page.Offset, SortBy: "seq"}, total)
}

// showRow writes a row with the members it was put in with behind those of every row.
func showRow(seq int, m *sessile.Message) (jsontext.Value, error) {
	content := jsontext.Value(m.Content)
	if m.ContentFormat != "blocks" {
		text, err := jsontext.AppendQuote(nil, m.Content)
		if err != nil {
			return nil, err
		}
		content = text
	}
	row, err := json.Marshal(struct {
		Seq       int            `json:"seq"`
		ID        string         `json:"id"`
		Role      string         `json:"role"`
		Content   jsontext.Value `json:"content"`
		CreatedAt int64          `json:"created_at"`
	}{seq, m.ID, m.Role, content, m.CreatedAt}, jsontext.AllowDuplicateNames(true))
	if err != nil || len(m.Extra) <= len("{}") {
		return row, err
	}
	row[len(row)-1] = ','
	return append(row, m.Extra[1:]...), nil
}

// listMessages answers GET /messages (spec/governed-state.md, section 6).
func (h *Handler) listMessages(c *call) (reply, error) {
	q := openQuery(c)
	f := sessile.MessageFilter{Account: c.account, PageID: q.text("page_id", optional, anyText)}
	f.Role = q.choice("role", "system", "user", "assistant", "narrator", "tool", "toolResult")
	switch q.choice("is_hidden", "true", "false", "1", "0") {
	case "true", "1":
		hidden := true
		f.Hidden = &hidden
	case "false", "0":
		hidden := false
		f.Hidden = &hidden
	}
	f.Page = q.page(sessile.DefaultPageSize, "created_at", "seq")
	if err := q.done(); err != nil {
		return reply{}, err
	}
	messages, total, err := h.floors.Messages(c.ctx, f)
	if err != nil {
		return reply{}, err
	}
	items := make([]messageBody, 0, len(messages))
	for i := range messages {
		items = append(items, showMessage(messages[i]))
	}
	return pageReply(items, f.Page, total)
}

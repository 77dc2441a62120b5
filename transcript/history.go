package transcript

import "github.com/go-json-experiment/json/jsontext"

// The bounds of the limit of sessions_history.
const (
	DefaultLimit = 200
	MaxLimit     = 1000
)

// View shows transcripts the way agents may see them. It is made once and may be used by several goroutines at once.
type View struct{ redactor *Redactor }

// NewView makes a view that masks with the redactor; nil masks by the built-in rules.
func NewView(redactor *Redactor) *View {
	if redactor == nil {
		redactor = &Redactor{}
	}
	return &View{redactor: redactor}
}

// Page is what [View.Page] shows.
type Page struct {
	// Rows are the stored rows of the page, oldest first: of all rows the newest, without the Offset that are newer still.
	// The caller reads as many as its limit says; rows that do not appear count.
	Rows []Row
	// IncludeTools keeps rows with role tool or toolResult, and structured reasoning.
	IncludeTools bool
	// Paged asks for pagination data: Offset, and Total, the number of all stored rows, then count.
	Paged  bool
	Offset int
	Total  int
	// SessionStart is when the session's present id began, in milliseconds; answers to announcements before it do not
	// appear. Default 0: all do.
	SessionStart int64
}

// Result is what sessions_history answers beside the session key: spec/session-tools.md, section 3.2.
type Result struct {
	Messages         []jsontext.Value `json:"messages"` // oldest first; compact JSON objects; never nil
	Truncated        bool             `json:"truncated"`
	DroppedMessages  bool             `json:"droppedMessages"`
	ContentTruncated bool             `json:"contentTruncated"`
	ContentRedacted  bool             `json:"contentRedacted"`
	Bytes            int              `json:"bytes"` // of Messages as JSON
	Offset           *int             `json:"offset,omitzero"`
	NextOffset       *int             `json:"nextOffset,omitzero"`
	HasMore          *bool            `json:"hasMore,omitzero"`
	TotalMessages    *int             `json:"totalMessages,omitzero"`
}

// shown is a message that is ready to go out.
type shown struct {
	message
	json  jsontext.Value
	flags flags
}

// Page shows a page of a transcript: projection, sanitiser, redaction and cuts in the order of sections 3.3 to 3.7, then
// the byte cap, then the pagination of 3.8. Rows that the cap drops come again on the page of NextOffset.
func (v *View) Page(p Page) Result {
	all := v.show(p.Rows, p.IncludeTools, p.SessionStart)
	from, size := len(all), len("[]")
	for from > 0 && size+cost(all[from-1], len(all)-from) <= MaxBytes {
		from--
		size += cost(all[from], len(all)-from-1)
	}
	dropped := from > 0
	switch {
	case !dropped:
	case from == len(all):
		all = []shown{all[from-1].omitted()}
	default:
		all = all[from:]
	}
	r := result(all, dropped)
	if p.Paged {
		r.paginate(p, all)
	}
	return r
}

// Window is what [View.Window] shows.
type Window struct {
	// Rows are stored rows around the message, oldest first.
	Rows         []Row
	MessageID    string
	Limit        int // how many messages at most; default DefaultLimit, at most MaxLimit
	IncludeTools bool
	Total        int // the number of all stored rows
	SessionStart int64
}

// Window shows the message of the id and what is around it: it grows by one older, then one newer message, while the
// array fits; a side that does not fit has done growing (section 3.6). A message that is not among the rows, or does not
// appear, gives none.
func (v *View) Window(w Window) Result {
	all := v.show(w.Rows, w.IncludeTools, w.SessionStart)
	anchor := -1
	for i := range all {
		if all[i].id == w.MessageID && w.MessageID != "" {
			anchor = i
		}
	}
	r := result(nil, false)
	if anchor >= 0 {
		if size := len("[]") + cost(all[anchor], 0); size > MaxBytes {
			r = result([]shown{all[anchor].omitted()}, true)
		} else {
			from, to, dropped := grow(all, anchor, size, limit(w.Limit))
			r = result(all[from:to], dropped)
		}
	}
	r.TotalMessages = &w.Total
	return r
}

// grow is where the window around the anchor begins and ends, and whether the byte cap held it back.
func grow(all []shown, anchor, size, most int) (from, to int, dropped bool) {
	from, to = anchor, anchor+1
	older, newer := true, true
	for to-from < most && (older || newer) {
		older = older && from > 0
		if older {
			if n := cost(all[from-1], to-from); size+n <= MaxBytes {
				from, size = from-1, size+n
			} else {
				older, dropped = false, true
			}
		}
		newer = newer && to < len(all)
		if newer && to-from < most {
			if n := cost(all[to], to-from); size+n <= MaxBytes {
				to, size = to+1, size+n
			} else {
				newer, dropped = false, true
			}
		}
	}
	return from, to, dropped
}

func limit(n int) int {
	if n <= 0 {
		return DefaultLimit
	}
	return min(n, MaxLimit)
}

// show projects and shapes the rows; those that do not appear are left out.
func (v *View) show(rows []Row, includeTools bool, sessionStart int64) []shown {
	all := make([]shown, 0, len(rows))
	p := projection{sessionStart: sessionStart}
	for _, row := range rows {
		m, ok := p.add(row)
		if !ok || !includeTools && toolRow(m.role) {
			continue
		}
		if text, flags, ok := v.shape(m, row.CreatedAt, includeTools); ok {
			all = append(all, shown{message: m, json: text, flags: flags})
		}
	}
	return all
}

func toolRow(role string) bool { return role == "tool" || role == "toolResult" }

// cost is what a message adds to the bytes of an array that holds so many others.
func cost(one shown, others int) int { return len(one.json) + min(others, 1) }

// omitted is what stands for a message that is too large.
func (s shown) omitted() shown {
	o := object{
		{"role", Text("assistant")},
		{"content", Text("[sessions_history omitted: message too large]")},
		{"__openclaw", s.place()},
	}
	if len(o.json()) > MaxBytes/2 { // an id of absurd length
		s.id = ""
		o.set("__openclaw", s.place())
	}
	s.json, s.flags = o.json(), flags{}
	return s
}

func result(all []shown, dropped bool) Result {
	r := Result{Messages: make([]jsontext.Value, 0, len(all)), DroppedMessages: dropped, Bytes: len("[]")}
	for i, one := range all {
		r.Messages = append(r.Messages, one.json)
		r.Bytes += cost(one, i)
		r.ContentTruncated = r.ContentTruncated || one.flags.truncated
		r.ContentRedacted = r.ContentRedacted || one.flags.redacted
	}
	r.Truncated = r.DroppedMessages || r.ContentTruncated
	return r
}

// paginate fills in the fields of section 3.8.
func (r *Result) paginate(p Page, all []shown) {
	next := p.Offset + len(p.Rows)
	if len(all) > 0 {
		next = max(p.Offset, p.Total-int(all[0].seq)+1)
	}
	more := next < p.Total
	if more && next <= p.Offset {
		next = p.Offset + 1
		more = next < p.Total
	}
	r.Offset, r.HasMore, r.TotalMessages = &p.Offset, &more, &p.Total
	if more {
		r.NextOffset = &next
	}
}

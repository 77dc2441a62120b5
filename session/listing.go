package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/transcript"
)

// ListQuery selects sessions for sessions_list (spec/session-tools.md, section 2). Zero members do not narrow.
type ListQuery struct {
	Kinds    []string // lower case
	Limit    int      // at least 1
	Since    int64    // updated then or later
	Agent    string
	Label    string
	Search   string
	Archived bool
	After    *sessile.SessionPlace // go on behind this one

	Messages int // how many recent messages of each, at most 20
	Titles   bool
	Previews bool
}

// Listed is a session as sessions_list shows it.
type Listed struct {
	Row      sessile.Session
	Details  Details
	Kind     string
	Channel  string
	Display  string
	Model    string // provider/model; "" for unknown
	Children []string
	Activity Activity
	Version  int64 // sequence of the newest logged change; 0 for none

	Title    string
	Preview  string
	Messages []jsontext.Value // nil when not asked for
}

// Listing is a page of sessions.
type Listing struct {
	Sessions []Listed
	Next     *sessile.SessionPlace // where the next page begins; nil at the end
	Level    Level
}

// How long a child is shown with its parent: after its last run ended, and after its last change where no run is known
// (spec/session-tools.md, 1.11).
const (
	endedWindow   = 30 * time.Minute
	touchedWindow = 60 * time.Minute
)

// maxDescribed bounds the rows of a page that get a title or a preview.
const maxDescribed = 100

// storyHeadRows and storyTailRows are how much of a transcript is looked at for titles and for messages.
const (
	storyHeadRows = 20
	storyTailRows = 200
)

// ListFor lists the sessions that a caller sees: pinned ones first, then the newest. What it does not see is filtered before
// the limit, and no transcript of it is read. An unreadable transcript leaves its row without messages.
func (s *Service) ListFor(ctx context.Context, c Caller, q ListQuery) (l Listing, err error) {
	l.Level = s.options.Visibility.LevelFor(c)
	err = s.store.View(ctx, func(tx sessile.ReadTx) error {
		if err := s.collect(tx, c, &q, &l); err != nil {
			return err
		}
		return s.describe(tx, c.Account, &q, l.Sessions)
	})
	return l, err
}

func (s *Service) collect(tx sessile.ReadTx, c Caller, q *ListQuery, l *Listing) error {
	selection := sessile.SessionSelection{Archived: q.Archived, Agent: q.Agent, Label: q.Label, Since: q.Since, After: q.After}
	restricted := s.options.Visibility.Restricted(c)
	switch {
	case restricted, l.Level == LevelTree, l.Level == LevelSelf:
		selection.Of = c.Key
	case l.Level == LevelAgent && selection.Agent == "":
		selection.Agent = s.options.Keys.Agent(c.Key)
	}
	s.options.Keys.selectKinds(q.Kinds, &selection)
	search := strings.ToLower(q.Search)
	// A search looks at the first sessions one by one. When they do not fill the page, the store finds the rest.
	budget := -1
	if search != "" && selection.Of == "" && !s.options.Models.mention(search) && tx.Searchable(search) {
		budget = maxSearched
	}
	var last sessile.SessionPlace
	visit := func(row *sessile.Session) (bool, error) {
		if budget == 0 {
			return false, nil
		}
		budget--
		last = placeOf(row)
		return s.take(c, q, row, restricted, search, l)
	}
	if err := tx.ListSessions(c.Account, selection, visit); err != nil || budget != 0 || l.Next != nil {
		return err
	}
	budget, selection.Found, selection.After = -1, search, &last
	return tx.ListSessions(c.Account, selection, visit)
}

// maxSearched is how many sessions a search looks at one by one.
const maxSearched = 500

// take adds a session to the page if the query asks for it, and reports whether there is to be another.
func (s *Service) take(c Caller, q *ListQuery, row *sessile.Session, restricted bool, search string, l *Listing) (more bool, err error) {
	if !s.listed(c, row, restricted) || len(q.Kinds) > 0 && !slices.Contains(q.Kinds, s.options.Keys.Kind(row)) {
		return true, nil
	}
	one, err := s.listedOf(row)
	if err != nil {
		return false, err
	}
	if search != "" && !one.matches(search) {
		return true, nil
	}
	if len(l.Sessions) == q.Limit {
		last := placeOf(&l.Sessions[q.Limit-1].Row)
		l.Next = &last
		return false, nil
	}
	l.Sessions = append(l.Sessions, one)
	return true, nil
}

func placeOf(row *sessile.Session) sessile.SessionPlace {
	return sessile.SessionPlace{PinnedAt: row.PinnedAt, UpdatedAt: row.UpdatedAt, Key: row.Key}
}

// listed reports whether a row may be in a list for the caller at all.
func (s *Service) listed(c Caller, row *sessile.Session, restricted bool) bool {
	keys := s.options.Keys
	switch {
	case isCronRun(row.Key), row.Key == unknownKey, row.Key == globalKey && keys.Alias() != globalKey:
		return false
	case restricted && row.Key != c.Key && !owns(c, row):
		return false
	}
	return s.options.Visibility.Check(keys, c, row.Key, row, "sessions_list") == nil
}

func (s *Service) listedOf(row *sessile.Session) (Listed, error) {
	d, err := DetailsOf(row)
	if err != nil {
		return Listed{}, err
	}
	one := Listed{
		Row: *row, Details: d, Kind: s.options.Keys.Kind(row), Channel: s.options.Keys.ChannelOf(row, &d),
		Display: s.options.Keys.Display(row.Key),
	}
	one.Model, err = s.modelOf(row, &d)
	return one, err
}

// ModelOf is what answers in a session, as provider/model: its override, else its settings, else the agent's.
func (s *Service) modelOf(row *sessile.Session, d *Details) (string, error) {
	if d.ModelOverride != "" {
		return d.ModelOverride, nil
	}
	if len(row.Settings) > len("{}") {
		settings, err := decodeSettings(row.Settings)
		if err != nil {
			return "", err
		}
		provider, name := settingText(settings["model_provider"]), settingText(settings["model_name"])
		if name != "" && provider != "" {
			return provider + "/" + name, nil
		}
		if name != "" {
			return name, nil
		}
	}
	return s.options.Models.Default(row.AgentID), nil
}

// ModelName names, for an endpoint, the model that answers in a session: its override, else that of its agent; "" for the one
// that the endpoint is set up with.
func (s *Service) ModelName(row *sessile.Session) string {
	d, err := DetailsOf(row)
	model := d.ModelOverride
	if err != nil || model == "" {
		model = s.options.Models.Default(row.AgentID)
	}
	_, name := SplitModel(model)
	return name
}

func settingText(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return ""
	}
	return string(text)
}

// matches looks for a text in lower case.
func (l *Listed) matches(search string) bool {
	provider, model := SplitModel(l.Model)
	texts := []string{l.Row.DisplayName, l.Row.Subject, l.Row.ID, l.Row.Key, model, provider, l.Model}
	if l.Row.Label != nil {
		texts = append(texts, *l.Row.Label)
	}
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), search) })
}

// describe fills in what takes more than the row.
func (s *Service) describe(tx sessile.ReadTx, account string, q *ListQuery, sessions []Listed) error {
	keys := make([]string, len(sessions))
	for i := range sessions {
		keys[i] = sessions[i].Row.Key
	}
	versions, err := tx.StateVersions(account, keys)
	if err != nil {
		return err
	}
	now := s.options.Now()
	children, err := tx.Children(account, keys, now.Add(-touchedWindow).UnixMilli(), now.Add(-endedWindow).UnixMilli())
	if err != nil {
		return err
	}
	for i := range sessions {
		one := &sessions[i]
		one.Version, one.Children = versions[one.Row.Key], children[one.Row.Key]
		if one.Activity, err = activityOf(tx, one.Row.Row, now.UnixMilli()); err != nil {
			return err
		}
		if err := s.tell(tx, one, q, i < maxDescribed); err != nil {
			s.options.Logger.Warn("a transcript could not be read for a list", "session", one.Row.ID, "error", err)
		}
	}
	return nil
}

// tell reads the transcript of a row as far as it is asked for.
func (s *Service) tell(tx sessile.ReadTx, one *Listed, q *ListQuery, described bool) error {
	titles, previews := q.Titles && described, q.Previews && described
	if !titles && !previews && q.Messages <= 0 {
		return nil
	}
	floor, found, err := lastFloor(tx, &one.Row)
	if err != nil {
		return err
	}
	var newest, oldest []transcript.Row
	if found && (previews || q.Messages > 0) {
		if newest, err = storyTail(tx, floor, 0, 0, storyTailRows); err != nil {
			return err
		}
	}
	if titles {
		parts := transcript.TitleParts{
			DisplayName: one.Row.DisplayName, Subject: one.Row.Subject, SessionID: one.Row.ID, UpdatedAt: one.Row.UpdatedAt,
		}
		if one.Row.Label != nil {
			parts.Label = *one.Row.Label
		}
		if found && parts.Unnamed() { // the head of a long transcript is far away
			if oldest, err = storyHead(tx, floor); err != nil {
				return err
			}
			parts.FirstUserText = s.options.View.FirstUserText(oldest)
		}
		one.Title = transcript.Title(parts)
	}
	if previews {
		one.Preview = s.options.View.Preview(newest)
	}
	if q.Messages > 0 {
		one.Messages = s.options.View.Recent(newest, q.Messages)
	}
	return nil
}

package session

import (
	"fmt"
	"strings"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/state"
)

// The functions of this file work inside a transaction of the caller's: what agents do with sessions is one step with the
// runs it makes.

// Resolve finds the session that a tool was given, without a check of who may see it (spec/session-tools.md, 1.4).
func (s *Service) Resolve(tx sessile.ReadTx, c Caller, text string) (Target, *Refusal, error) {
	return s.resolver(tx, c).find(text)
}

// May checks whether the caller may do what action names with a target.
func (s *Service) May(c Caller, t Target, action string) *Refusal {
	return s.options.Visibility.Check(s.options.Keys, c, t.Key, t.Row, action)
}

// maxNamed bounds how many sessions of one label an error names.
const maxNamed = 10

// FindLabel finds the one session that is not archived with a label, of an agent unless that is "". A caller that finds only
// what it spawned is told nothing of others.
func (s *Service) FindLabel(tx sessile.ReadTx, c Caller, label, agent, action string) (t Target, refusal *Refusal, err error) {
	v, own := s.options.Visibility, s.options.Keys.Agent(c.Key)
	restricted := v.Restricted(c)
	if agent != "" && agent != own {
		if restricted {
			return t, forbid(LayerSandbox, "%s by label is limited to the agent of this sandboxed session", action), nil
		}
		if refusal := v.crossAgent(LevelAll, own, agent, action); refusal != nil {
			return t, refusal, nil
		}
	}
	selection := sessile.SessionSelection{Label: label, Agent: agent}
	if restricted {
		selection.Of = c.Key
	}
	var found []sessile.Session
	err = tx.ListSessions(c.Account, selection, func(row *sessile.Session) (bool, error) {
		if !restricted || owns(c, row) {
			found = append(found, *row)
		}
		return len(found) < maxNamed, nil
	})
	switch {
	case err != nil:
		return t, nil, err
	case len(found) == 1:
		row := &found[0]
		return Target{Key: row.Key, Display: s.options.Keys.Display(row.Key), Row: row}, nil, nil
	case restricted:
		return t, forbid(LayerSandbox, "no session with this label is visible from this sandboxed session"), nil
	case len(found) == 0:
		return t, &Refusal{Reason: fmt.Sprintf("no session has the label %q", label)}, nil
	}
	keys := make([]string, len(found))
	for i := range found {
		keys[i] = found[i].Key
	}
	return t, &Refusal{Reason: fmt.Sprintf("several sessions have the label %q: %s", label, strings.Join(keys, ", "))}, nil
}

// Ensure finds the session of a key and makes it when there is none.
func (s *Service) Ensure(tx sessile.Tx, account, key string) (sessile.Session, error) {
	row, found, err := tx.SessionByKey(account, key)
	if err != nil || found {
		return row, err
	}
	row = sessile.Session{
		ID: s.options.IDs.New(sessile.PrefixSession), Account: account, Key: key, Status: sessile.SessionActive, Settings: []byte("{}"),
		CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	return row, s.add(tx, &row, "")
}

// Child describes a session that another one spawns (spec/session-tools.md, 5.5).
type Child struct {
	Key       string
	SpawnedBy string
	Label     string
	Details   Details
	// Fork copies the transcript of the spawner and takes its governed state along.
	Fork bool
}

// AddChild makes a session that shares the key-value state of the one that spawned it.
func (s *Service) AddChild(tx sessile.Tx, account string, c Child) (sessile.Session, error) {
	row := sessile.Session{
		ID: s.options.IDs.New(sessile.PrefixSession), Account: account, Key: c.Key, Status: sessile.SessionActive, Settings: []byte("{}"),
		SpawnedBy: c.SpawnedBy, CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
	}
	if c.Label != "" {
		row.Label = &c.Label
	}
	if err := c.Details.store(&row); err != nil {
		return row, err
	}
	if err := s.add(tx, &row, ""); err != nil {
		return row, err
	}
	if err := state.ShareEntries(tx, account, c.SpawnedBy, c.Key, state.EntriesShare); err != nil {
		return row, err
	}
	if !c.Fork {
		return row, nil
	}
	parent, found, err := tx.SessionByKey(account, c.SpawnedBy)
	if err == nil && !found {
		err = sessile.NotFound()
	}
	if err != nil {
		return row, err
	}
	return row, s.copyTranscript(tx, &parent, &row, true)
}

// HasTranscript reports whether anything was said on the main branch of a session.
func HasTranscript(tx sessile.ReadTx, row *sessile.Session) (bool, error) {
	_, found, err := lastFloor(tx, row)
	return found, err
}

// LastHumanText is what a person last said in a session, "" for nothing: messages of other sessions do not count.
func (s *Service) LastHumanText(tx sessile.ReadTx, row *sessile.Session) (string, error) {
	floor, found, err := lastFloor(tx, row)
	if err != nil || !found {
		return "", err
	}
	rows, err := tx.StoryTail(floor, 0, storyTailRows)
	if err != nil {
		return "", err
	}
	for i := len(rows) - 1; i >= 0; i-- {
		m := &rows[i]
		if m.Role == "user" && m.ContentFormat != "blocks" && !strings.Contains(string(m.Extra), `"provenance"`) {
			return m.Content, nil
		}
	}
	return "", nil
}

// Remove deletes a session like [Service.Delete]; the caller calls [Service.Purge] after the commit. Codes:
// active_run_in_progress.
func (s *Service) Remove(tx sessile.Tx, row *sessile.Session) error { return s.remove(tx, row) }

// Purge has the clean-up look for what was deleted.
func (s *Service) Purge() { s.wakePurge() }

// Keys are the rules of session keys in force.
func (s *Service) Keys() Keys { return s.options.Keys.withDefaults() }

// Normalize gives a session key the form in which it is stored.
func (s *Service) Normalize(key string) string { return s.options.Keys.Normalize(key) }

// Models are what sessions may choose from.
func (s *Service) Models() Models { return s.options.Models }

// ModelOf is what answers in a session, as provider/model; "" for unknown.
func (s *Service) ModelOf(row *sessile.Session) string {
	d, err := DetailsOf(row)
	if err != nil {
		return ""
	}
	model, _ := s.modelOf(row, &d)
	return model
}

// notDelivered are the channels that nothing is delivered to (conformance/WIRE.md).
var notDelivered = map[string]bool{"": true, internalWebChat: true, "internal": true, unknownKey: true}

// RouteOf is where what a session says goes: its delivery route, on the channel that is named unless that is "", else what its
// key says. ok is false where nothing can be delivered.
func RouteOf(row *sessile.Session, channel string) (r Route, ok bool) {
	d, err := DetailsOf(row)
	if err != nil {
		return r, false
	}
	for _, candidate := range []Route{d.Delivery(), d.DeliveryContext, d.Last, keyRoute(row.Key)} {
		if channel != "" && candidate.Channel != channel {
			continue
		}
		if !notDelivered[candidate.Channel] && candidate.To != "" {
			return candidate, true
		}
	}
	return r, false
}

// keyRoute is the route that the key of an agent's session tells.
func keyRoute(key string) Route {
	channel := keyChannel(key)
	if channel == "" {
		return Route{}
	}
	_, rest, _ := SplitKey(key)
	for _, word := range []string{":direct:", ":dm:", ":group:", ":channel:", ":room:"} {
		if at := strings.Index(rest, word); at >= 0 {
			to, _, _ := strings.Cut(rest[at+len(word):], ":thread:")
			return Route{Channel: channel, To: to}
		}
	}
	return Route{}
}

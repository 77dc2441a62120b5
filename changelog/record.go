package changelog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sessile-dev/sessile"
)

// maxPast is how far back an event may claim to have occurred.
const maxPast = 24 * 60 * 60 * 1000

// Record appends an event about a session and tells its watchers, but not the actor. It fills in account, session, agent,
// sequence and, where it is missing or out of bounds, the time: at most a day ago, never in the future. An event whose
// dedupe key is known already is not appended again; e then is the first one.
func Record(tx sessile.Tx, about *sessile.Session, e *sessile.Event) error {
	if e.Dedupe != "" {
		first, found, err := tx.EventNamed(about.Account, e.Dedupe)
		if err != nil {
			return err
		}
		if found {
			*e = first
			return nil
		}
	}
	e.Account, e.SessionKey, e.SessionID, e.AgentID = about.Account, about.Key, about.ID, about.AgentID
	now := tx.Now()
	e.OccurredAt = min(max(cmp.Or(e.OccurredAt, now), now-maxPast), now)
	if err := tx.AddEvent(e); err != nil {
		return err
	}
	if !notifies(e.Kind) {
		return nil
	}
	return notify(tx, about, e)
}

func notifies(kind sessile.EventKind) bool {
	switch kind {
	case sessile.EventHumanDirectMessage, sessile.EventGoalChanged, sessile.EventUpstreamMissing:
		return true
	}
	return false
}

func notify(tx sessile.Tx, about *sessile.Session, e *sessile.Event) error {
	watches, err := tx.WatchersOf(about.Account, about.Key)
	if err != nil {
		return err
	}
	for _, parent := range parents(about) {
		known := slices.ContainsFunc(watches, func(w sessile.Watch) bool { return w.Watcher == parent })
		if !known && MayWatch(parent, about.Key) {
			watches = append(watches, sessile.Watch{Watcher: parent, Target: about.Key})
		}
	}
	for _, w := range watches {
		if w.Watcher == e.ActorID {
			continue
		}
		w.Material = e.Sequence
		if w.Notified == w.LastSeen {
			w.Notified = e.Sequence
		}
		if err := tx.PutWatch(about.Account, w); err != nil {
			return err
		}
		if err := tx.AddNotice(about.Account, &sessile.Notice{Watcher: w.Watcher, Target: w.Target, Since: w.LastSeen}); err != nil {
			return err
		}
	}
	return nil
}

// parents are the sessions that a session descends from.
func parents(s *sessile.Session) []string {
	var keys []string
	for _, key := range []string{s.SpawnedBy, s.ParentKey} {
		if key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// MayWatch reports whether a session can be told of another: watchers are sessions of an agent, and nobody watches itself.
func MayWatch(watcher, target string) bool {
	return strings.HasPrefix(watcher, "agent:") && watcher != target
}

// HumanMessage records that a person wrote to a session, if it has a parent or a watcher who may care. Channel is where
// from; "" for unknown.
func HumanMessage(tx sessile.Tx, to *sessile.Session, channel, sender string) error {
	if len(parents(to)) == 0 {
		watchers, err := tx.WatchersOf(to.Account, to.Key)
		if err != nil || len(watchers) == 0 {
			return err
		}
	}
	return Record(tx, to, &sessile.Event{
		Kind: sessile.EventHumanDirectMessage, ActorType: sessile.ActorHuman, ActorID: sender,
		Summary: "a person wrote a message on channel " + cmp.Or(channel, "unknown"),
	})
}

// ChildSpawned records that a session was spawned by another, which from now on is told of what happens to it.
func ChildSpawned(tx sessile.Tx, child *sessile.Session, runID string) error {
	e := sessile.Event{
		Kind: sessile.EventChildSpawned, ActorType: sessile.ActorAgent, ActorID: child.SpawnedBy, RunID: runID,
		Summary: "spawned by another session", Dedupe: "spawned:" + runID,
	}
	if err := Record(tx, child, &e); err != nil {
		return err
	}
	_, err := StartWatch(tx, child.Account, child.SpawnedBy, child.Key)
	return err
}

// StartWatch has a session be told of what happens to another from now on. A watch that exists stays as it is. false when
// the one cannot watch the other; see [MayWatch].
func StartWatch(tx sessile.Tx, account, watcher, target string) (bool, error) {
	if !MayWatch(watcher, target) {
		return false, nil
	}
	_, found, err := tx.Watch(account, watcher, target)
	if err != nil || found {
		return found, err
	}
	head, err := tx.EventHead(account, target)
	if err != nil {
		return false, err
	}
	return true, tx.PutWatch(account, sessile.Watch{
		Watcher: watcher, Target: target, LastSeen: head.Head, Notified: head.Head, Material: head.Head,
	})
}

// Drain acknowledges notices of a watcher: what they told of counts as seen. Where more happened while a notice waited, the
// next one takes its place.
func Drain(tx sessile.Tx, account string, notices []sessile.Notice) error {
	for _, n := range notices {
		if err := tx.DeleteNotice(account, n.Watcher, n.Target); err != nil {
			return err
		}
		w, found, err := tx.Watch(account, n.Watcher, n.Target)
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		w.LastSeen = w.Notified
		more := w.Material > w.Notified
		w.Notified = max(w.Notified, w.Material)
		if err := tx.PutWatch(account, w); err != nil {
			return err
		}
		if more {
			if err := tx.AddNotice(account, &sessile.Notice{Watcher: n.Watcher, Target: n.Target, Since: w.LastSeen}); err != nil {
				return err
			}
		}
	}
	return nil
}

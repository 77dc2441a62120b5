package state

import (
	"context"
	"math"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
)

// Extensions is the use cases of what extensions keep that run elsewhere: one JSON value for each plugin and session, and
// one for each plugin and branch (spec/extension-state.md, sections 1 to 5; conformance/WIRE.md, "Sessions"). The two
// never see each other.
//
// The value of a session hangs on the session's key, as key-value entries do, and shares their fate and the room of their
// home: it stays when the session is reset, is seen by sub-agents, and a fork of the session starts without it, copies or
// shares it. The value of a branch belongs to the branch of this one session. A branch without a value of its own shows
// what the branch it was forked from showed at the floor where it starts, as that floor committed; later writes there do
// not reach it.
//
// Each method is one transaction; a write is durable when it answers. It is safe for concurrent use.
type Extensions struct {
	store   sessile.Store
	entries *Entries
}

// extensionNamespace holds values of sessions among the entries. Names that begin with two underscores are nobody else's.
const extensionNamespace = "__extensions"

// NewExtensions makes the use cases over a store, beside the key-value state on it. It does no IO.
func NewExtensions(store sessile.Store, entries *Entries) *Extensions {
	return &Extensions{store: store, entries: entries}
}

// ExtensionAddress names a value. Branch "" is the session as a whole. A branch need not exist.
type ExtensionAddress struct {
	SessionID string
	Plugin    string // as [sessile.ValidPlugin] wants it
	Branch    string
}

// ExtensionValue is a value as it is seen from its address. Inherited ones are another branch's, with its revision.
type ExtensionValue struct {
	Value     jsontext.Value
	Revision  int64 // changes with every write, never 0
	Inherited bool
}

// Precondition is what must hold of the value that an address shows, inherited or not; the zero value asks for nothing.
type Precondition struct {
	Revisions []int64 // it has one of these; nil asks for none
	Exists    bool    // there is one
	Missing   bool    // there is none
}

func (p *Precondition) check(v *ExtensionValue) error {
	switch {
	case p.Missing && v.Revision != 0:
		return sessile.Errorf(sessile.CodePreconditionFailed, "there is a value already, its revision is %d", v.Revision)
	case (p.Exists || p.Revisions != nil) && v.Revision == 0:
		return sessile.Errorf(sessile.CodePreconditionFailed, "there is no value")
	case p.Revisions != nil && !slices.Contains(p.Revisions, v.Revision):
		return sessile.Errorf(sessile.CodePreconditionFailed, "the revision is %d now", v.Revision)
	}
	return nil
}

// Get reads a value. Codes: not_found, for the session and for the value.
func (e *Extensions) Get(ctx context.Context, account string, a ExtensionAddress) (v ExtensionValue, err error) {
	err = e.store.View(ctx, func(tx sessile.ReadTx) error {
		session, err := ownSession(tx, account, a.SessionID)
		if err != nil {
			return err
		}
		place, err := findExtension(tx, &session, a)
		v = place.shown
		if err == nil && v.Revision == 0 {
			err = sessile.NotFound()
		}
		return err
	})
	return v, err
}

// Put writes a value that [NormalizeValue] made. A branch gets one of its own. Codes: not_found, session_archived,
// payload_too_large over [sessile.MaxExtensionBytes], precondition_failed, and for a value of a session
// entry_limit_exceeded when its home is full.
func (e *Extensions) Put(ctx context.Context, account string, a ExtensionAddress, value jsontext.Value, p Precondition) (v ExtensionValue, err error) {
	err = e.store.Update(ctx, func(tx sessile.Tx) error {
		place, err := e.open(tx, account, a, len(value), &p)
		if err != nil {
			return err
		}
		v = ExtensionValue{Value: value}
		if a.Branch == "" {
			v.Revision, err = e.putEntry(tx, place, a.Plugin, value)
		} else {
			v.Revision, err = putOnBranch(tx, place, a, value)
		}
		return err
	})
	return v, err
}

// Delete removes a value and tells whether there was one. What a branch inherited it cannot remove, and shows again without
// a value of its own; null hides it (spec/extension-state.md, section 5). Codes: not_found for the session,
// session_archived, precondition_failed.
func (e *Extensions) Delete(ctx context.Context, account string, a ExtensionAddress, p Precondition) (deleted bool, err error) {
	err = e.store.Update(ctx, func(tx sessile.Tx) error {
		deleted = false
		place, err := e.open(tx, account, a, 0, &p)
		if err != nil {
			return err
		}
		if a.Branch == "" {
			if place.home.Row != 0 {
				deleted, err = tx.DeleteEntry(place.home.Row, extensionNamespace, a.Plugin)
			}
			return err
		}
		if place.own.Revision == 0 || place.own.Dropped {
			return nil
		}
		deleted = true
		return dropFromBranch(tx, &place.own)
	})
	return deleted, err
}

// extensionPlace is what stands at an address. Rows and revisions are 0 where there is nothing.
type extensionPlace struct {
	session *sessile.Session
	shown   ExtensionValue
	home    sessile.Home
	entry   sessile.Entry
	branch  sessile.Branch
	own     sessile.ExtensionVersion // the branch's newest
}

// open holds the checks of a change in their order.
func (e *Extensions) open(tx sessile.ReadTx, account string, a ExtensionAddress, size int, p *Precondition) (extensionPlace, error) {
	session, err := ownSession(tx, account, a.SessionID)
	if err != nil {
		return extensionPlace{}, err
	}
	if session.Status == sessile.SessionArchived {
		return extensionPlace{}, sessile.Errorf(sessile.CodeSessionArchived, "the session is archived, restore it first")
	}
	if size > sessile.MaxExtensionBytes {
		return extensionPlace{}, sessile.Errorf(sessile.CodePayloadTooLarge, "the value has %d bytes, the limit is %d", size, sessile.MaxExtensionBytes)
	}
	place, err := findExtension(tx, &session, a)
	if err == nil {
		err = p.check(&place.shown)
	}
	return place, err
}

func findExtension(tx sessile.ReadTx, session *sessile.Session, a ExtensionAddress) (place extensionPlace, err error) {
	place.session = session
	if a.Branch != "" {
		return place, place.findOnBranch(tx, a)
	}
	found := false
	if place.home, found, err = tx.Home(session.Account, session.Key); err != nil || !found {
		return place, err
	}
	if place.entry, _, err = tx.Entry(place.home.Row, extensionNamespace, a.Plugin); err == nil {
		place.shown = ExtensionValue{Value: jsontext.Value(place.entry.Value), Revision: place.entry.Revision}
	}
	return place, err
}

func (p *extensionPlace) findOnBranch(tx sessile.ReadTx, a ExtensionAddress) (err error) {
	found := false
	if p.branch, found, err = tx.Branch(p.session.Row, a.Branch); err != nil || !found {
		return err
	}
	if p.own, found, err = tx.ExtensionAt(p.branch.Row, a.Plugin, math.MaxInt64); err != nil {
		return err
	}
	shown := p.own
	if p.shown.Inherited = !found || shown.Dropped; p.shown.Inherited {
		if shown, err = inheritedExtension(tx, &p.branch, a.Plugin); err != nil {
			return err
		}
	}
	p.shown.Value, p.shown.Revision = shown.Value, shown.Revision
	return nil
}

// inheritedExtension is what a branch got at its fork. Its first commit pointed it at that; until then it reads through the
// floor it was registered from.
func inheritedExtension(tx sessile.ReadTx, branch *sessile.Branch, plugin string) (v sessile.ExtensionVersion, err error) {
	at := branch.Row
	if branch.SourceFloor != 0 {
		committed, err := tx.HasSnapshotFloor(branch.Row)
		if err != nil {
			return v, err
		}
		if !committed {
			floor, _, err := tx.FloorByRow(branch.SourceFloor)
			if err != nil {
				return v, err
			}
			if own, found, err := tx.ExtensionAt(floor.Branch, plugin, floor.CommitSeq); err != nil || found && !own.Dropped {
				return own, err
			}
			at = floor.Branch
		}
	}
	v, _, err = tx.ExtensionBase(at, plugin)
	return v, err
}

func (e *Extensions) putEntry(tx sessile.Tx, place extensionPlace, plugin string, value jsontext.Value) (int64, error) {
	entry := sessile.Entry{Namespace: extensionNamespace, Key: plugin, Value: string(value)}
	if err := e.entries.checkRoom(place.home, place.entry, place.entry.Revision != 0, &entry); err != nil {
		return 0, err
	}
	if place.home.Row == 0 {
		var err error
		if place.home, err = tx.AddHome(place.session.Account, place.session.Key); err != nil {
			return 0, err
		}
	}
	err := tx.PutEntry(place.home.Row, &entry)
	return entry.Revision, err
}

func putOnBranch(tx sessile.Tx, place extensionPlace, a ExtensionAddress, value jsontext.Value) (int64, error) {
	if place.branch.Row == 0 {
		place.branch = sessile.Branch{Session: place.session.Row, Name: a.Branch, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
		if err := tx.AddBranch(&place.branch); err != nil {
			return 0, err
		}
	}
	if place.own.Revision != 0 {
		if err := retireExtension(tx, &place.own); err != nil {
			return 0, err
		}
	}
	v := sessile.ExtensionVersion{Branch: place.branch.Row, Plugin: a.Plugin, Value: value}
	err := tx.PutExtension(&v)
	return v.Revision, err
}

// retireExtension removes a branch's newest version, unless a floor shows it: branches may be forked there.
func retireExtension(tx sessile.Tx, newest *sessile.ExtensionVersion) error {
	shown, err := tx.ExtensionShown(newest.Branch, newest.Revision)
	if err != nil || shown {
		return err
	}
	return tx.RemoveExtension(newest.Branch, newest.Plugin, newest.Revision)
}

// dropFromBranch takes a branch's newest version away. Where an older one is left, because a floor shows it, it says so.
func dropFromBranch(tx sessile.Tx, newest *sessile.ExtensionVersion) error {
	if err := retireExtension(tx, newest); err != nil {
		return err
	}
	left, found, err := tx.ExtensionAt(newest.Branch, newest.Plugin, math.MaxInt64)
	if err != nil || !found || left.Dropped {
		return err
	}
	return tx.PutExtension(&sessile.ExtensionVersion{Branch: newest.Branch, Plugin: newest.Plugin, Dropped: true})
}

// forgetExtensions removes what extensions kept on a branch for the sake of floors that are gone.
func forgetExtensions(tx sessile.Tx, branch int64) error {
	hidden, err := tx.HiddenExtensions(branch)
	if err != nil {
		return err
	}
	for i := range hidden {
		if err := tx.RemoveExtension(branch, hidden[i].Plugin, hidden[i].Revision); err != nil {
			return err
		}
	}
	return nil
}

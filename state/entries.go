package state

import (
	"context"
	"time"

	"github.com/sessile-dev/sessile"
)

// EntryOptions tell how key-value entries behave.
type EntryOptions struct {
	// Limits bound what may be kept; a zero member means the default of [sessile.DefaultEntryLimits].
	Limits sessile.EntryLimits
	// Now tells the time, for what has expired; default time.Now.
	Now func() time.Time
}

// Entries is the use cases of key-value state: texts under a namespace and a key, which hang on a session key and not on
// a session (spec/kv-tool.md). A session key that nothing was written under has no entries, and any text is a session
// key. Names and values are compared byte for byte. Each method is one transaction; a write is durable when it answers.
// It is safe for concurrent use.
type Entries struct {
	store   sessile.Store
	limits  sessile.EntryLimits
	now     func() time.Time
	watched watchers
	expires chan struct{} // holds at most one signal: an entry was written that expires
}

// NewEntries makes the use cases over a store. It does no IO.
func NewEntries(store sessile.Store, o EntryOptions) *Entries {
	defaults := sessile.DefaultEntryLimits()
	for _, l := range []struct{ given, standard *int64 }{
		{&o.Limits.ValueBytes, &defaults.ValueBytes},
		{&o.Limits.NameBytes, &defaults.NameBytes},
		{&o.Limits.Entries, &defaults.Entries},
		{&o.Limits.Bytes, &defaults.Bytes},
	} {
		if *l.given == 0 {
			*l.given = *l.standard
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Entries{store: store, limits: o.Limits, now: o.Now, expires: make(chan struct{}, 1)}
}

// EntryName names an entry.
type EntryName struct {
	SessionKey string
	Namespace  string
	Key        string
}

// EntryWrite is a value to write. Expected, when set, is the revision that the entry must have, 0 for none at all. TTL is
// how long it stays, 0 for ever.
type EntryWrite struct {
	Value    string
	Expected *int64
	TTL      time.Duration
}

// Get finds an entry; one that expired is not there.
func (e *Entries) Get(ctx context.Context, account string, name EntryName) (entry sessile.Entry, found bool, err error) {
	now := e.now().UnixMilli()
	err = e.store.View(ctx, func(tx sessile.ReadTx) error {
		home, exists, err := tx.Home(account, name.SessionKey)
		if err != nil || !exists {
			return err
		}
		entry, found, err = live(tx, home.Row, name, now)
		return err
	})
	return entry, found, err
}

// live finds an entry that has not expired by now.
func live(tx sessile.ReadTx, home int64, name EntryName, now int64) (sessile.Entry, bool, error) {
	entry, found, err := tx.Entry(home, name.Namespace, name.Key)
	if found && expired(&entry, now) {
		entry, found = sessile.Entry{}, false
	}
	return entry, found, err
}

func expired(e *sessile.Entry, now int64) bool { return e.ExpiresAt != 0 && e.ExpiresAt <= now }

// Set inserts or replaces an entry and returns it as it stands. Codes: entry_too_large, entry_limit_exceeded,
// revision_mismatch, whose details are a [RevisionMismatch].
func (e *Entries) Set(ctx context.Context, account string, name EntryName, w EntryWrite) (entry sessile.Entry, err error) {
	if err := e.checkSizes(name, w.Value); err != nil {
		return sessile.Entry{}, err
	}
	changed := int64(0)
	err = e.store.Update(ctx, func(tx sessile.Tx) error {
		home, exists, err := tx.Home(account, name.SessionKey)
		if err != nil {
			return err
		}
		var before sessile.Entry // expired or not: its room is what it takes
		replaces := false
		if exists {
			if before, replaces, err = tx.Entry(home.Row, name.Namespace, name.Key); err != nil {
				return err
			}
		}
		if err := checkRevision(before, replaces && !expired(&before, tx.Now()), w.Expected); err != nil {
			return err
		}
		entry = sessile.Entry{Namespace: name.Namespace, Key: name.Key, Value: w.Value}
		if w.TTL > 0 {
			entry.ExpiresAt = tx.Now() + w.TTL.Milliseconds()
		}
		if err := e.checkRoom(home, before, replaces, &entry); err != nil {
			return err
		}
		if !exists {
			if home, err = tx.AddHome(account, name.SessionKey); err != nil {
				return err
			}
		}
		changed = home.Row
		return tx.PutEntry(home.Row, &entry)
	})
	if err == nil {
		e.tell(ctx, account, changed, name.Namespace)
		if entry.ExpiresAt != 0 {
			e.wake()
		}
	}
	return entry, err
}

func (e *Entries) checkSizes(name EntryName, value string) error {
	for _, part := range []struct {
		what  string
		text  string
		limit int64
	}{
		{"session key", name.SessionKey, e.limits.NameBytes},
		{"namespace", name.Namespace, e.limits.NameBytes},
		{"key", name.Key, e.limits.NameBytes},
		{"value", value, e.limits.ValueBytes},
	} {
		if size := int64(len(part.text)); size > part.limit {
			return sessile.Errorf(sessile.CodeEntryTooLarge, "the %s has %d bytes, the limit is %d", part.what, size, part.limit)
		}
	}
	return nil
}

func (e *Entries) checkRoom(home sessile.Home, before sessile.Entry, replaces bool, entry *sessile.Entry) error {
	entries, bytes := home.Entries+1, home.Bytes+entry.Size()
	if replaces {
		entries, bytes = entries-1, bytes-before.Size()
	}
	if entries > max(e.limits.Entries, home.Entries) {
		return sessile.Errorf(sessile.CodeEntryLimit, "the session would keep %d entries, the limit is %d", entries, e.limits.Entries)
	}
	if bytes > max(e.limits.Bytes, home.Bytes) {
		return sessile.Errorf(sessile.CodeEntryLimit, "the entries of the session would take %d bytes, the limit is %d", bytes, e.limits.Bytes)
	}
	return nil
}

// RevisionMismatch is what stands there instead of the revision that a write expected: 0 and nil where there is nothing.
type RevisionMismatch struct {
	CurrentRevision int64   `json:"current_revision"`
	CurrentValue    *string `json:"current_value"`
}

func checkRevision(entry sessile.Entry, found bool, expected *int64) error {
	if !found {
		entry = sessile.Entry{}
	}
	if expected == nil || *expected == entry.Revision {
		return nil
	}
	err := sessile.Errorf(sessile.CodeRevisionMismatch, "the revision is %d, not %d", entry.Revision, *expected)
	details := RevisionMismatch{CurrentRevision: entry.Revision}
	if found {
		details.CurrentValue = &entry.Value
	} else {
		err.Message = "there is no such entry, its revision is 0"
	}
	err.Details = details
	return err
}

// Delete removes an entry and tells whether there was one. Codes: revision_mismatch, as [Entries.Set].
func (e *Entries) Delete(ctx context.Context, account string, name EntryName, expected *int64) (deleted bool, err error) {
	changed := int64(0)
	err = e.store.Update(ctx, func(tx sessile.Tx) error {
		deleted = false
		home, exists, err := tx.Home(account, name.SessionKey)
		if err != nil {
			return err
		}
		if !exists {
			return checkRevision(sessile.Entry{}, false, expected)
		}
		entry, found, err := live(tx, home.Row, name, tx.Now())
		if err != nil {
			return err
		}
		if err := checkRevision(entry, found, expected); err != nil {
			return err
		}
		deleted, changed = found, home.Row
		_, err = tx.DeleteEntry(home.Row, name.Namespace, name.Key)
		return err
	})
	if err == nil && deleted {
		e.tell(ctx, account, changed, name.Namespace)
	}
	return deleted, err
}

// Clear removes a namespace and tells how many entries there were.
func (e *Entries) Clear(ctx context.Context, account, sessionKey, namespace string) (deleted int64, err error) {
	changed := int64(0)
	err = e.store.Update(ctx, func(tx sessile.Tx) error {
		deleted = 0
		home, exists, err := tx.Home(account, sessionKey)
		if err != nil || !exists {
			return err
		}
		changed = home.Row
		deleted, err = tx.ClearEntries(home.Row, namespace, tx.Now())
		return err
	})
	if err == nil && deleted > 0 {
		e.tell(ctx, account, changed, namespace)
	}
	return deleted, err
}

// EntryPage selects entries of a namespace. Limit 0 is all of them.
type EntryPage struct {
	Namespace string
	Prefix    string
	After     *string // the key before the first one wanted
	Limit     int
}

// List lists the entries of a namespace by the bytes of their keys. With a limit, more tells whether further ones follow.
func (e *Entries) List(ctx context.Context, account, sessionKey string, p EntryPage) (entries []sessile.Entry, more bool, err error) {
	filter := sessile.EntryFilter{Namespace: p.Namespace, Prefix: p.Prefix, After: p.After, Now: e.now().UnixMilli()}
	if p.Limit > 0 {
		filter.Limit = p.Limit + 1
	}
	err = e.store.View(ctx, func(tx sessile.ReadTx) error {
		home, exists, err := tx.Home(account, sessionKey)
		if err != nil || !exists {
			return err
		}
		entries, err = tx.Entries(home.Row, filter)
		return err
	})
	if p.Limit > 0 && len(entries) > p.Limit {
		entries, more = entries[:p.Limit], true
	}
	return entries, more, err
}

// Namespaces lists the namespaces that hold entries, in the order of their bytes.
func (e *Entries) Namespaces(ctx context.Context, account, sessionKey string) (namespaces []string, err error) {
	err = e.store.View(ctx, func(tx sessile.ReadTx) error {
		home, exists, err := tx.Home(account, sessionKey)
		if err != nil || !exists {
			return err
		}
		namespaces, err = tx.EntryNamespaces(home.Row)
		return err
	})
	return namespaces, err
}

// EntrySharing tells what a new session key sees of another one's entries.
type EntrySharing string

// The ways; a key that is not made to share or to copy starts empty.
const (
	EntriesEmpty EntrySharing = "empty"
	EntriesCopy  EntrySharing = "copy"  // what is there now; both are independent from then on. No value is copied
	EntriesShare EntrySharing = "share" // one state under both keys
)

// ShareEntries gives a new session key its entries, in a transaction of the caller: to must lead nowhere yet.
func ShareEntries(tx sessile.Tx, account, from, to string, how EntrySharing) error {
	if how != EntriesCopy && how != EntriesShare {
		return nil
	}
	home, exists, err := tx.Home(account, from)
	if err != nil {
		return err
	}
	if how == EntriesCopy {
		if !exists {
			return nil
		}
		copied, err := tx.AddHome(account, to)
		if err != nil {
			return err
		}
		return tx.CopyEntries(home.Row, copied.Row)
	}
	if !exists {
		if home, err = tx.AddHome(account, from); err != nil {
			return err
		}
	}
	return tx.ShareHome(account, to, home.Row)
}

package sqlite

import (
	"hash/maphash"
	"sync"

	"github.com/sessile-dev/sessile"
)

// headCache holds own heads of branches as they are read most often: one cell by its names. It may answer instead of
// the database because this process alone writes to the file.
//
// The writer publishes after each commit and before anybody is told of it, so a reader never finds less than what has
// been acknowledged to it. A reader that missed may fill in what it found in the database, but only if nothing was
// published to that shard since before it looked: what it found may be old by then.
type headCache struct {
	seed   maphash.Seed
	limit  int64 // bytes of one shard; 0 switches the cache off
	shards [64]headShard
}

// headShard is locked for a map access at a time and never while another lock is taken.
type headShard struct {
	mu      sync.Mutex
	version uint64 // counts what was published
	bytes   int64
	heads   map[sessile.CellAddress]sessile.Version
}

// headOverhead is about what an entry costs beside its texts.
const headOverhead = 400

func newHeadCache(limit int64) *headCache {
	c := &headCache{seed: maphash.MakeSeed()}
	c.limit = limit / int64(len(c.shards))
	for i := range c.shards {
		c.shards[i].heads = make(map[sessile.CellAddress]sessile.Version)
	}
	return c
}

func (c *headCache) shard(a *sessile.CellAddress) *headShard {
	h := maphash.String(c.seed, a.Slot) ^ maphash.String(c.seed, a.SessionID)
	return &c.shards[h%uint64(len(c.shards))]
}

// get finds a head. When there is none, version is what fill wants to be told.
func (c *headCache) get(a sessile.CellAddress) (v sessile.Version, found bool, version uint64) {
	s := c.shard(&a)
	s.mu.Lock()
	defer s.mu.Unlock()
	v, found = s.heads[a]
	return v, found, s.version
}

// fill keeps what a reader found in the database.
func (c *headCache) fill(a sessile.CellAddress, v sessile.Version, version uint64) {
	s := c.shard(&a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == version {
		s.put(a, v, c.limit)
	}
}

// publish tells of a head that was committed.
func (c *headCache) publish(h *committedHead) {
	s := c.shard(&h.address)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	if h.whole {
		s.put(h.address, h.version, c.limit)
		return
	}
	s.drop(h.address)
}

// clear forgets everything: a branch or a session is gone.
func (c *headCache) clear() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		s.version++
		s.bytes = 0
		clear(s.heads)
		s.mu.Unlock()
	}
}

func (s *headShard) put(a sessile.CellAddress, v sessile.Version, limit int64) {
	s.drop(a)
	size := headSize(&a, &v)
	if size > limit {
		return
	}
	s.heads[a] = v
	s.bytes += size
	for other := range s.heads { // in no order: a head is as good as another
		if s.bytes <= limit {
			return
		}
		if other != a {
			s.drop(other)
		}
	}
}

func (s *headShard) drop(a sessile.CellAddress) {
	if v, found := s.heads[a]; found {
		s.bytes -= headSize(&a, &v)
		delete(s.heads, a)
	}
}

func headSize(a *sessile.CellAddress, v *sessile.Version) int64 {
	return int64(headOverhead + len(a.Account) + len(a.SessionID) + len(a.Branch) + len(a.Namespace) + len(a.Slot) + len(v.Value))
}

// committedHead is a head on its way from an update through its batch to the cache.
type committedHead struct {
	address sessile.CellAddress
	version sessile.Version
	whole   bool // version is all a reader wants; else the next reader has to look
}

// headOf is what is known of a mutation when it is appended. The name of a turn's floor is not.
func headOf(m *sessile.Mutation) committedHead {
	return committedHead{
		address: m.Address,
		whole:   m.Floor == 0,
		version: sessile.Version{
			Namespace: m.Address.Namespace, Slot: m.Address.Slot, SlotRow: m.Slot, Seq: m.Seq, Branch: m.Branch, Present: m.Present,
			Value: m.Value, Size: m.Size, CreatedAt: m.CreatedAt,
		},
	}
}

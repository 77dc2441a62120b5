package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sessile-dev/sessile/extstate"
	"github.com/sessile-dev/sessile/internal/sqliteconn"
)

//go:embed extstate.mjs
var extstateScript []byte

// extensionEntries are the sizes of the trees; 0 is the session scope, which looks at no tree.
var extensionEntries = []int{0, 10, 500, 5000}

// coldPlugins is how many values a cold read finds in the file before the cache is emptied again.
const coldPlugins = 1000

// extensionValue is a value of 1 KB, read and written as JSON by both sides.
type extensionValue struct {
	N    int    `json:"n"`
	Text string `json:"text"`
}

func newExtensionValue(n int) extensionValue { return extensionValue{n, strings.Repeat("x", 1000)} }

// measureExtensions compares extstate with a baseline that works as the TypeScript package does: Node where it has
// node:sqlite (SESSILE_NODE24, or node on the path), else the same in Go.
func measureExtensions(ctx context.Context, rounds int, span time.Duration) (*report, error) {
	dir, err := os.MkdirTemp("", "sessile-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "extstate.mjs")
	if err := os.WriteFile(script, extstateScript, 0o600); err != nil {
		return nil, err
	}
	span /= 5 // there are many figures
	name, baseline := "Node", nodeBaseline(ctx, script, dir, span)
	if baseline == nil {
		name = "Go that rebuilds the tree"
		baseline = func() (map[string]float64, error) { return rebuildBaseline(filepath.Join(dir, "rebuild.sqlite"), span) }
	}
	r := &report{}
	cpu := startCPU()
	for range rounds {
		theirs, err := baseline()
		if err != nil {
			return nil, err
		}
		for _, entries := range extensionEntries {
			g, err := newExtensionGround(ctx, filepath.Join(dir, "go.sqlite"), entries)
			if err != nil {
				return nil, err
			}
			err = errors.Join(g.round(ctx, r, theirs, name, span), g.close())
			if err != nil {
				return nil, err
			}
		}
	}
	r.OtherCPU = cpu.others()
	r.Void = r.OtherCPU > 0.15
	return r, nil
}

// nodeBaseline is nil when there is no Node with node:sqlite.
func nodeBaseline(ctx context.Context, script, dir string, span time.Duration) func() (map[string]float64, error) {
	node := os.Getenv("SESSILE_NODE24")
	if node == "" {
		node = "node"
	}
	if exec.CommandContext(ctx, node, "-e", "require('node:sqlite')").Run() != nil {
		fmt.Fprintln(os.Stderr, "bench: no Node with node:sqlite; the baseline is in Go")
		return nil
	}
	return func() (map[string]float64, error) {
		out, err := exec.CommandContext(ctx, node, script, dir, strconv.Itoa(int(span.Milliseconds())), strconv.Itoa(coldPlugins)).Output()
		if err != nil {
			return nil, err
		}
		figures := map[string]float64{}
		return figures, json.Unmarshal(out, &figures)
	}
}

func shapeName(entries int) string {
	if entries == 0 {
		return "session"
	}
	return fmt.Sprintf("branch, %d entries", entries)
}

func linearTree(entries int) *extstate.Tree {
	tree := extstate.NewTree(fmt.Sprintf("s%d", entries))
	for i := range entries {
		tree.Append(fmt.Sprintf("e%d", i))
	}
	return tree
}

// extensionGround has the values of many plugins in one session.
type extensionGround struct {
	entries int
	tree    *extstate.Tree
	plugins []*extstate.State[extensionValue]
	stale   *extstate.State[extensionValue] // of the first plugin
	file    *extstate.File
}

func newExtensionGround(ctx context.Context, path string, entries int) (*extensionGround, error) {
	g := &extensionGround{entries: entries, tree: linearTree(entries)}
	options := extstate.Options{PluginID: "p0", DatabasePath: path, StaleCache: true}
	branch := ""
	if entries > 0 {
		options.Scope, branch = extstate.ScopeBranch, "e0"
	}
	var err error
	if g.stale, err = extstate.Open[extensionValue](options); err != nil {
		return nil, err
	}
	options.StaleCache = false
	for i := range coldPlugins {
		options.PluginID = fmt.Sprintf("p%d", i)
		s, err := extstate.Open[extensionValue](options)
		if err != nil {
			return nil, err
		}
		g.plugins = append(g.plugins, s)
	}
	if err := g.stale.Write(ctx, g.tree, newExtensionValue(0)); err != nil { // makes the file
		return nil, err
	}
	if err := fillExtensions(path, g.tree.SessionID(), branch); err != nil {
		return nil, err
	}
	g.file, err = extstate.OpenFile(path, extstate.FileOptions{})
	return g, err
}

// fillExtensions puts a value for each plugin.
func fillExtensions(path, session, branch string) error {
	conn, err := sqliteconn.Open(path, sqliteconn.Options{})
	if err != nil {
		return err
	}
	err = conn.Exec("BEGIN IMMEDIATE")
	for i := 0; err == nil && i < coldPlugins; i++ {
		var text []byte
		if text, err = json.Marshal(newExtensionValue(i)); err == nil {
			err = conn.Exec(`INSERT OR REPLACE INTO state (plugin_id, session_id, branch_id, value) VALUES (?, ?, ?, ?)`,
				fmt.Sprintf("p%d", i), session, branch, text)
		}
	}
	if err == nil {
		err = conn.Exec("COMMIT")
	}
	return errors.Join(err, conn.Close())
}

func (g *extensionGround) close() error {
	errs := []error{g.file.Close(), g.stale.Close()}
	for _, s := range g.plugins {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

func (g *extensionGround) read(ctx context.Context, s *extstate.State[extensionValue]) error {
	value, found, err := s.Read(ctx, g.tree)
	if err == nil && (!found || len(value.Text) != 1000) {
		err = errors.New("a value is not there")
	}
	return err
}

func (g *extensionGround) round(ctx context.Context, r *report, theirs map[string]float64, baseline string, span time.Duration) error {
	name := shapeName(g.entries)
	add := func(what string, perSecond float64) {
		r.add(what+", "+name, "calls/s", perSecond)
		theirFigure := theirs[strings.TrimSuffix(what, " without asking")+", "+name]
		if !strings.HasSuffix(what, " without asking") {
			r.add(what+", "+name+": "+baseline, "calls/s", theirFigure)
		}
		r.add(what+", "+name+" / "+baseline, "ratio", perSecond/theirFigure)
	}
	writes, err := rate(span, func(n int) error { return g.plugins[0].Write(ctx, g.tree, newExtensionValue(n)) })
	if err != nil {
		return err
	}
	add("write", writes)
	for what, s := range map[string]*extstate.State[extensionValue]{"cached read": g.plugins[0], "cached read without asking": g.stale} {
		reads, err := rate(span, func(int) error { return g.read(ctx, s) })
		if err != nil {
			return err
		}
		add(what, reads)
	}
	cold, err := coldRate(span, func() error {
		_, _, err := g.file.ForceRefresh(ctx, g.tree.SessionID())
		return err
	}, func(n int) error { return g.read(ctx, g.plugins[n]) })
	if err != nil {
		return err
	}
	add("cold read", cold)
	return nil
}

// rate is how often a second a call can be made.
func rate(span time.Duration, call func(n int) error) (float64, error) {
	start, n := time.Now(), 0
	for {
		for range 8 {
			if err := call(n); err != nil {
				return 0, err
			}
			n++
		}
		if took := time.Since(start); took >= span {
			return float64(n) / took.Seconds(), nil
		}
	}
}

// coldRate is rate for calls of which each of coldPlugins can be made once before empty.
func coldRate(span time.Duration, empty func() error, call func(n int) error) (float64, error) {
	var took time.Duration
	calls := 0
	for took < span {
		if err := empty(); err != nil {
			return 0, err
		}
		start := time.Now()
		for n := 0; n < coldPlugins && took+time.Since(start) < span; n++ {
			if err := call(n); err != nil {
				return 0, err
			}
			calls++
		}
		took += time.Since(start)
	}
	return float64(calls) / took.Seconds(), nil
}

// rebuilding is the baseline in Go: the tree is rebuilt at every call, and a write is three transactions.
type rebuilding struct {
	conn    *sqliteconn.Conn
	session string
	entries []extstate.Entry
	leaf    string
	cache   map[[2]string][]byte // by plugin and branch
}

func rebuildBaseline(path string, span time.Duration) (map[string]float64, error) {
	ours, err := extstate.Open[extensionValue](extstate.Options{PluginID: "p0", DatabasePath: path})
	if err != nil {
		return nil, err
	}
	if _, _, err := ours.Read(context.Background(), linearTree(0)); err != nil { // makes the tables
		return nil, err
	}
	if err := ours.Close(); err != nil {
		return nil, err
	}
	conn, err := sqliteconn.Open(path, sqliteconn.Options{})
	if err != nil {
		return nil, err
	}
	figures := map[string]float64{}
	for _, entries := range extensionEntries {
		tree := linearTree(entries)
		b := &rebuilding{conn: conn, session: tree.SessionID(), entries: tree.Entries(), cache: make(map[[2]string][]byte)}
		b.leaf, _ = tree.Leaf()
		if err := errors.Join(fillExtensions(path, b.session, b.key()), b.measure(figures, shapeName(entries), span)); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	return figures, conn.Close()
}

func (b *rebuilding) measure(figures map[string]float64, name string, span time.Duration) error {
	var errs [3]error
	figures["write, "+name], errs[0] = rate(span, func(n int) error { return b.write("p0", newExtensionValue(n)) })
	figures["cached read, "+name], errs[1] = rate(span, func(int) error { return b.read("p0") })
	figures["cold read, "+name], errs[2] = coldRate(span, func() error { clear(b.cache); return nil },
		func(n int) error { return b.read(fmt.Sprintf("p%d", n)) })
	return errors.Join(errs[:]...)
}

func (b *rebuilding) key() string {
	parents, children := map[string]*string{}, map[string]int{}
	for _, e := range b.entries {
		parents[e.ID] = e.ParentID
		if e.ParentID != nil {
			children[*e.ParentID]++
		}
	}
	at := b.leaf
	for parent := parents[at]; parent != nil && children[*parent] == 1; parent = parents[at] {
		at = *parent
	}
	return at
}

func (b *rebuilding) read(plugin string) error {
	at := [2]string{plugin, b.key()}
	text, cached := b.cache[at]
	if !cached {
		_, err := b.conn.One(`SELECT value FROM state WHERE plugin_id = ? AND session_id = ? AND branch_id = ?`,
			func(r *sqliteconn.Rows) { text = r.Bytes(0) }, plugin, b.session, at[1])
		if err != nil {
			return err
		}
		b.cache[at] = text
	}
	var value extensionValue
	return json.Unmarshal(text, &value)
}

func (b *rebuilding) write(plugin string, value extensionValue) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	holder, key := fmt.Sprintf("pid:%d", os.Getpid()), b.key()
	if err := b.conn.Exec(`INSERT INTO write_lock (session_id, holder, acquired_at) VALUES (?, ?, ?)`, b.session, holder, time.Now().UnixMilli()); err != nil {
		return err
	}
	err = b.conn.Exec(`INSERT OR REPLACE INTO state (plugin_id, session_id, branch_id, value) VALUES (?, ?, ?, ?)`, plugin, b.session, key, text)
	b.cache[[2]string{plugin, key}] = text
	return errors.Join(err, b.conn.Exec(`DELETE FROM write_lock WHERE session_id = ? AND holder = ?`, b.session, holder))
}

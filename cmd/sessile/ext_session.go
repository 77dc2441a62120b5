package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/extstate"
	"github.com/sessile-dev/sessile/pisession"
)

// extSession chooses a session, and a place in its tree.
type extSession struct {
	Session string `placeholder:"ID" help:"Session, by its id or by its file (the newest one of this directory)."`
	Leaf    string `placeholder:"ENTRY" help:"Entry to see the session from (the last one of its file)."`
	Tree    string `placeholder:"FILE" help:"Take session, leaf and entries from JSON instead of a session file; - is standard input."`
}

// piView is a session as package extstate sees it.
type piView struct {
	session string
	leaf    *string
	entries []extstate.Entry
	file    string // of the session; empty if the view comes from elsewhere
	given   bool   // the leaf was named, not taken from the end of the file
	title   string // the name of the session, else what was said first, if its file was read
}

func (v *piView) SessionID() string { return v.session }

func (v *piView) Leaf() (string, bool) {
	if v.leaf == nil {
		return "", false
	}
	return *v.leaf, true
}

func (v *piView) Entries() []extstate.Entry { return v.entries }

// Version promises nothing: a view is used once.
func (v *piView) Version() uint64 { return 0 }

// sessionDir is a directory of session files.
type sessionDir struct {
	path   string
	layout pisession.Layout
}

func (d sessionDir) files() fs.FS { return os.DirFS(d.path) }

// sessionDirs are the directories that may hold sessions, those that were chosen instead of Pi's own before it. Pi itself
// looks into the first one only; whoever looks for a session from outside does not know how Pi was started.
func (p *extPlace) sessionDirs() ([]sessionDir, error) {
	place, err := p.place()
	if err != nil {
		return nil, err
	}
	agent, err := place.AgentDirectory()
	if err != nil {
		return nil, err
	}
	var dirs []sessionDir
	for _, chosen := range []string{
		p.Sessions, os.Getenv(envSessionDir), sessionDirSetting(filepath.Join(place.ProjectDir, ".pi")), sessionDirSetting(agent),
	} {
		if chosen = inHome(chosen); chosen != "" {
			dirs = append(dirs, sessionDir{chosen, pisession.Flat})
		}
	}
	return append(dirs, sessionDir{filepath.Join(agent, "sessions"), pisession.ByProject}), nil
}

// sessionDirSetting is what settings.json of a directory says; "" if it says nothing. Pi reads that of a project it does
// not trust, too.
func sessionDirSetting(dir string) string {
	content, err := os.ReadFile(filepath.Join(dir, "settings.json"))
	if err != nil {
		return ""
	}
	var settings struct {
		SessionDir string `json:"sessionDir"`
	}
	if json.Unmarshal(content, &settings, jsontext.AllowDuplicateNames(true)) != nil {
		return ""
	}
	return settings.SessionDir
}

// inHome expands a leading ~.
func inHome(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return path
}

// findSession finds the file of a session.
func (p *extPlace) findSession(id string) (string, error) {
	dirs, err := p.sessionDirs()
	if err != nil {
		return "", err
	}
	for _, d := range dirs {
		name, err := pisession.Find(d.files(), d.layout, id)
		if err == nil {
			return filepath.Join(d.path, filepath.FromSlash(name)), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", &usageError{"there is no file of session " + id + " in " + pathsOf(dirs), "name the file, or its directory with --sessions"}
}

func pathsOf(dirs []sessionDir) string {
	names := make([]string, 0, len(dirs))
	for _, d := range dirs {
		names = append(names, d.path)
	}
	return strings.Join(names, ", ")
}

// newestSession finds the session of this directory that was used last.
func (p *extPlace) newestSession() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	dirs, err := p.sessionDirs()
	if err != nil {
		return "", err
	}
	for _, d := range dirs {
		list, _ := pisession.List(d.files(), d.layout) // what cannot be read is not the newest
		for _, s := range list {
			if filepath.Clean(s.WorkingDirectory) == here {
				return filepath.Join(d.path, filepath.FromSlash(s.Path)), nil
			}
		}
	}
	return "", &usageError{"there is no session of this directory", "name one with --session ID"}
}

// isFile reports whether a session was named by its file.
func isFile(session string) bool {
	return strings.HasSuffix(session, ".jsonl") || strings.ContainsAny(session, `/\`)
}

// view reads what was chosen. The session scope needs no tree: then a session that was named by its id needs no file, since
// not every session has one.
func (s *extSession) view(p *extPlace, scope extstate.Scope, to streams) (*piView, error) {
	switch {
	case s.Tree != "":
		return s.viewOfTree(to)
	case s.Session != "" && !isFile(s.Session) && scope == extstate.ScopeSession:
		return &piView{session: s.Session}, nil
	case s.Session == "":
		file, err := p.newestSession()
		if err != nil {
			return nil, err
		}
		return s.viewOfFile(file, to)
	case isFile(s.Session):
		return s.viewOfFile(s.Session, to)
	}
	file, err := p.findSession(s.Session)
	if err != nil {
		return nil, err
	}
	return s.viewOfFile(file, to)
}

func (s *extSession) viewOfFile(file string, to streams) (*piView, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, &reachError{err}
	}
	defer f.Close()
	read, err := pisession.Read(f)
	if errors.Is(err, pisession.ErrNotSession) {
		return nil, &usageError{file + " is not a session file", ""}
	}
	if err != nil {
		return nil, &reachError{err}
	}
	for _, fault := range read.Faults {
		fmt.Fprintf(to.err, "warning: %s:%d: %s\n", visible(file), fault.Line, describeFault(fault))
	}
	if more := read.FaultCount - len(read.Faults); more > 0 {
		fmt.Fprintf(to.err, "warning: %d more\n", more)
	}
	v := &piView{session: read.SessionID(), file: file, title: cmp.Or(read.Name, read.FirstMessage), entries: make([]extstate.Entry, 0, read.Len())}
	for e := range read.All() {
		entry := extstate.Entry{ID: e.ID}
		if e.HasParent {
			entry.ParentID = &e.Parent
		}
		v.entries = append(v.entries, entry)
	}
	if leaf, ok := read.Leaf(); ok {
		v.leaf = &leaf
	}
	if s.Leaf != "" {
		if _, ok := read.Lookup(s.Leaf); !ok {
			return nil, &usageError{fmt.Sprintf("the session has no entry %s", s.Leaf), ""}
		}
		v.leaf, v.given = &s.Leaf, true
	}
	return v, nil
}

func describeFault(f pisession.Fault) string {
	switch f.Kind {
	case pisession.FaultLine:
		return "the line is no JSON object; passed over"
	case pisession.FaultNoID:
		return "the entry has no id; passed over"
	case pisession.FaultParent:
		return fmt.Sprintf("the parent of %s is no text; taken for a root", oneLine(f.ID))
	case pisession.FaultDuplicate:
		return fmt.Sprintf("the id %s is there twice; the last one counts", oneLine(f.ID))
	case pisession.FaultEmptyParent:
		return fmt.Sprintf("the parent of %s is empty", oneLine(f.ID))
	case pisession.FaultMissingParent:
		return fmt.Sprintf("the parent of %s is not in the file", oneLine(f.ID))
	case pisession.FaultCycle:
		return fmt.Sprintf("%s is its own ancestor", oneLine(f.ID))
	default:
		return string(f.Kind)
	}
}

// liveTree is how a running Pi tells where it stands: what its extensions see of the session.
type liveTree struct {
	SessionID string  `json:"sessionId"`
	LeafID    *string `json:"leafId"`
	Entries   []struct {
		ID       string  `json:"id"`
		ParentID *string `json:"parentId"`
	} `json:"entries"`
}

func (s *extSession) viewOfTree(to streams) (*piView, error) {
	if s.Session != "" || s.Leaf != "" {
		return nil, &usageError{"--tree says which session and which leaf", "leave out --session and --leaf"}
	}
	in := to.in
	if s.Tree != "-" {
		f, err := os.Open(s.Tree)
		if err != nil {
			return nil, &reachError{err}
		}
		defer f.Close()
		in = f
	}
	var tree liveTree
	err := json.UnmarshalRead(io.LimitReader(in, maxInput), &tree, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err != nil || tree.SessionID == "" {
		return nil, &usageError{
			"the tree is not of the form that is wanted",
			`it is {"sessionId": "…", "leafId": "…" or null, "entries": [{"id": "…", "parentId": "…" or null}]}`,
		}
	}
	v := &piView{session: tree.SessionID, leaf: tree.LeafID, given: true, entries: make([]extstate.Entry, 0, len(tree.Entries))}
	for _, e := range tree.Entries {
		v.entries = append(v.entries, extstate.Entry{ID: e.ID, ParentID: e.ParentID})
	}
	return v, nil
}

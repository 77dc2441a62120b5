package pisession

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Layout is how files lie in a directory of sessions.
type Layout int

const (
	// ByProject is Pi's own layout: a directory for each working directory, with the files in it.
	ByProject Layout = iota
	// Flat is that of a directory which was chosen: all files lie in it.
	Flat
)

// List reads the summaries of all sessions, newest modified first. What is no session is not listed. A file or directory
// that cannot be read is not listed either, but is told in the error: the list holds the others even then. A directory
// that does not exist has no sessions.
func List(fsys fs.FS, layout Layout) ([]Summary, error) {
	files, err := paths(fsys, layout)
	list := []Summary{}
	faults := []error{err}
	for _, name := range files {
		sum, err := readFile(fsys, name)
		switch {
		case err == nil:
			list = append(list, sum)
		case !errors.Is(err, ErrNotSession):
			faults = append(faults, fmt.Errorf("pisession: %s: %w", name, err))
		}
	}
	slices.SortStableFunc(list, func(a, b Summary) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(path.Base(b.Path), path.Base(a.Path)))
	})
	return list, errors.Join(faults...)
}

func readFile(fsys fs.FS, name string) (Summary, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return Summary{}, err
	}
	defer func() { _ = f.Close() }()
	sum, err := ReadSummary(f)
	if err != nil {
		return Summary{}, err
	}
	sum.Path = name
	if sum.Modified.IsZero() {
		info, err := f.Stat()
		if err != nil {
			return Summary{}, err
		}
		sum.Modified = info.ModTime().UTC()
	}
	return sum, nil
}

// Headers reads the headers of all sessions, by path. It tells what cannot be read as [List] does.
func Headers(fsys fs.FS, layout Layout) (map[string]Header, error) {
	files, err := paths(fsys, layout)
	headers := map[string]Header{}
	faults := []error{err}
	for _, name := range files {
		h, err := readFileHeader(fsys, name)
		switch {
		case err == nil:
			headers[name] = h
		case !errors.Is(err, ErrNotSession):
			faults = append(faults, fmt.Errorf("pisession: %s: %w", name, err))
		}
	}
	return headers, errors.Join(faults...)
}

// Find returns the path of the file of a session. If there are several it is the first one in the order of the names. It
// returns an error that is [fs.ErrNotExist] if there is none; files that cannot be read are passed over.
func Find(fsys fs.FS, layout Layout, id string) (string, error) {
	files, err := paths(fsys, layout)
	// The name says which one it is, in most cases.
	slices.SortStableFunc(files, func(a, b string) int {
		return cmp.Compare(rank(a, id), rank(b, id))
	})
	for _, name := range files {
		if h, err := readFileHeader(fsys, name); err == nil && h.ID == id {
			return name, nil
		}
	}
	return "", errors.Join(&fs.PathError{Op: "find session", Path: id, Err: fs.ErrNotExist}, err)
}

func rank(name, id string) int {
	if strings.HasSuffix(name, "_"+id+extension) {
		return 0
	}
	return 1
}

func readFileHeader(fsys fs.FS, name string) (Header, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return Header{}, err
	}
	defer func() { _ = f.Close() }()
	return ReadHeader(f)
}

// paths are the files that may be sessions, in the order of their names.
func paths(fsys fs.FS, layout Layout) ([]string, error) {
	if layout == Flat {
		return filesIn(fsys, ".")
	}
	entries, err := fs.ReadDir(fsys, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	faults := []error{err}
	var files []string
	for _, e := range entries {
		if !isDir(fsys, e.Name(), e) {
			continue
		}
		found, err := filesIn(fsys, e.Name())
		files = append(files, found...)
		faults = append(faults, err)
	}
	return files, errors.Join(faults...)
}

// filesIn lists the files of a directory that could be sessions; links to files are files.
func filesIn(fsys fs.FS, dir string) ([]string, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var files []string
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if strings.HasSuffix(name, extension) && !isDir(fsys, name, e) {
			files = append(files, name)
		}
	}
	return files, err
}

// isDir follows links. A link that leads nowhere is no directory.
func isDir(fsys fs.FS, name string, e fs.DirEntry) bool {
	if e.Type()&fs.ModeSymlink == 0 {
		return e.IsDir()
	}
	info, err := fs.Stat(fsys, name)
	return err == nil && info.IsDir()
}

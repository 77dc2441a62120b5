package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/sqlite"
	"github.com/sessile-dev/sessile/storetest"
)

func open(t testing.TB, dir string) sessile.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "state.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

func TestStore(t *testing.T) { storetest.Run(t, open) }

func TestCrash(t *testing.T) { storetest.Crash(t, open) }

func TestOneProcessOwnsTheFile(t *testing.T) {
	dir := t.TempDir()
	store := open(t, dir)
	path := filepath.Join(dir, "state.db")
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	locked, ok := errors.AsType[*sqlite.LockedError](err)
	if !ok {
		t.Fatalf("a second Open answered %v", err)
	}
	if locked.PID != os.Getpid() || !strings.HasSuffix(locked.Socket, ".sock") {
		t.Errorf("the owner is described as %+v", locked)
	}
	link := filepath.Join(dir, "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if _, err := sqlite.Open(t.Context(), link, sqlite.Options{}); err == nil {
		t.Error("a link to the file goes past the lock")
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := sqlite.Open(t.Context(), link, sqlite.Options{})
	if err != nil {
		t.Fatalf("after Close: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestOpenMakesAPrivateFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd ?#% name")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	store := open(t, dir)
	defer store.Close()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", entry.Name(), info.Mode())
		}
	}
	if len(entries) < 2 {
		t.Errorf("the folder holds %v", entries)
	}
}

func TestOpenWantsAFolder(t *testing.T) {
	if _, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "no", "state.db"), sqlite.Options{}); err == nil {
		t.Error("a database in a folder that does not exist was opened")
	}
}

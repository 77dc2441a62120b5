package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
)

// LockedError says that another process owns the database file.
type LockedError struct {
	Path   string // of the database
	PID    int    // of the owner; 0 when it did not say
	Socket string // where the owner listens; "" when it did not say
}

// Error names the file and its owner.
func (e *LockedError) Error() string {
	if e.PID == 0 {
		return fmt.Sprintf("the database %s is in use by another process", e.Path)
	}
	return fmt.Sprintf("the database %s is in use by process %d", e.Path, e.PID)
}

// lockOwner is what the lock file says about its holder.
type lockOwner struct {
	PID    int    `json:"pid"`
	Socket string `json:"socket"`
}

// fileLock is held as long as its file is open; the system frees it when the process ends, however it ends.
type fileLock struct {
	file  *os.File
	owner lockOwner
}

// errHeld is what lockExclusively answers when somebody else has the lock.
var errHeld = errors.New("held by another process")

func lockFile(database string) (*fileLock, error) {
	file, err := os.OpenFile(database+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lockExclusively(file); err != nil {
		defer file.Close()
		if !errors.Is(err, errHeld) {
			return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		var owner lockOwner
		if text, err := os.ReadFile(file.Name()); err == nil {
			_ = json.Unmarshal(text, &owner) // an owner that is just starting has not written yet
		}
		return nil, &LockedError{Path: database, PID: owner.PID, Socket: owner.Socket}
	}
	l := &fileLock{file: file, owner: lockOwner{PID: os.Getpid(), Socket: socketPath(database)}}
	if err := l.write(); err != nil {
		return nil, errors.Join(err, l.release())
	}
	return l, nil
}

func (l *fileLock) write() error {
	text, err := json.Marshal(l.owner)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = l.file.WriteAt(text, 0)
	return err
}

// release empties the file but leaves it: removing it would let two processes lock two different files.
func (l *fileLock) release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}

// maxSocketPath is what every system takes as the path of a socket.
const maxSocketPath = 100

// socketPath is beside the database, or in the folder for temporary files where that path would be too long.
func socketPath(database string) string {
	if path := database + ".sock"; len(path) <= maxSocketPath {
		return path
	}
	sum := sha256.Sum256([]byte(database))
	return filepath.Join(os.TempDir(), "sessile-"+hex.EncodeToString(sum[:8])+".sock")
}

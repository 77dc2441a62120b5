package sqlite

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockExclusively locks one byte far behind the text, so that others can still read who holds the lock.
func lockExclusively(file *os.File) error {
	at := &windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}

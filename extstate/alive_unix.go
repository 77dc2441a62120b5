//go:build unix

package extstate

import (
	"errors"
	"syscall"
)

// pidAlive sends signal 0, which only asks.
func pidAlive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

package extstate

import (
	"errors"
	"syscall"
)

const (
	queryLimitedInformation = 0x1000
	stillActive             = 259
)

func pidAlive(pid int) bool {
	handle, err := syscall.OpenProcess(queryLimitedInformation, false, uint32(pid))
	if err != nil {
		return errors.Is(err, syscall.ERROR_ACCESS_DENIED)
	}
	defer func() { _ = syscall.CloseHandle(handle) }()
	var code uint32
	return syscall.GetExitCodeProcess(handle, &code) == nil && code == stillActive
}

//go:build linux

package main

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// cpu is a moment: how long all processors have worked and been idle since boot, and how long this process has worked with
// its children.
type cpu struct{ total, idle, own time.Duration }

func startCPU() cpu {
	c := cpu{own: ownTime()}
	c.total, c.idle = machineTime()
	return c
}

// others is the share of the machine that other processes used since then; 0 where that cannot be read. Children that
// still run count as others, so peers are measured apart.
func (c cpu) others() float64 {
	now := startCPU()
	all := now.total - c.total
	if all <= 0 {
		return 0
	}
	busy := all - (now.idle - c.idle)
	return max(0, float64(busy-(now.own-c.own))/float64(all))
}

func machineTime() (total, idle time.Duration) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	for i, field := range strings.Fields(line)[1:] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil || i >= 8 {
			break
		}
		d := time.Duration(ticks) * 10 * time.Millisecond
		total += d
		if i == 3 || i == 4 { // idle, and waiting for a disk
			idle += d
		}
	}
	return total, idle
}

func ownTime() time.Duration {
	total := time.Duration(0)
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			total += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return total
}

// threadTime is how long the calling thread has worked.
func threadTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// residentBytes is the memory the process holds; 0 where that cannot be read.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

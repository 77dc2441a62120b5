//go:build !linux

package main

import "time"

// cpu tells nothing on this system.
type cpu struct{}

func startCPU() cpu { return cpu{} }

func (cpu) others() float64 { return 0 }

// threadTime stands in with the time of the clock.
func threadTime() time.Duration { return time.Duration(time.Now().UnixNano()) }

// ownTime is not known here.
func ownTime() time.Duration { return 0 }

// residentBytes is not known here.
func residentBytes() int64 { return 0 }

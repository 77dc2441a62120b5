package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// endure loads the server with 64 writers for a while and tells, ten times, what it has taken so far: that memory and
// write-ahead log are bounded, not how fast it is.
func endure(ctx context.Context, b *bench, span time.Duration) error {
	fmt.Printf("%8s  %12s  %14s  %14s  %12s  %14s\n", "time", "mutations", "log now, MiB", "log most, MiB", "heap, MiB", "resident, MiB")
	start, most := time.Now(), int64(0)
	for range 10 { // in parts, so that the times of the calls do not add up in memory
		largest, err := watchLog(b.dir, func() error {
			_, err := drive(ctx, b.addr, clients, span/10, b.write)
			return err
		})
		if err != nil {
			return err
		}
		most = max(most, largest)
		log, err := logSize(b.dir)
		if err != nil {
			return err
		}
		fmt.Printf("%8s  %12d  %14.1f  %14.1f  %12.1f  %14.1f\n", time.Since(start).Round(time.Second), b.next.Load(),
			mebibytes(log), mebibytes(most), mebibytes(heap()), mebibytes(residentBytes()))
	}
	return ctx.Err()
}

// watchLog tells the largest size that the log had while load ran, looking a hundred times a second.
func watchLog(dir string, load func() error) (largest int64, err error) {
	done := make(chan error, 1)
	go func() { done <- load() }()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			return largest, err
		case <-tick.C:
			log, err := logSize(dir)
			if err != nil {
				return 0, errors.Join(err, <-done)
			}
			largest = max(largest, log)
		}
	}
}

func logSize(dir string) (int64, error) {
	info, err := os.Stat(filepath.Join(dir, "product.db-wal"))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// heap is what is in use after a collection. The page caches of the database lie outside it.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse)
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }

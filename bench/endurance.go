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

// endure loads the server with 64 writers and 16 readers for a while and tells, ten times, what it has taken so far: that
// memory and write-ahead log are bounded, not how fast it is.
func endure(ctx context.Context, b *bench, span time.Duration) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	loads := make(chan error, 2)
	go func() {
		_, err := drive(ctx, b.addr, clients, span, b.write)
		loads <- err
	}()
	go func() {
		_, err := drive(ctx, b.addr, clients/4, span, b.reads())
		loads <- err
	}()
	fmt.Printf("%8s  %12s  %14s  %14s  %12s  %14s\n", "time", "mutations", "log now, MiB", "log most, MiB", "heap, MiB", "resident, MiB")
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	start, told, most := time.Now(), 0, int64(0)
	for running := 2; running > 0; {
		select {
		case err := <-loads:
			if err != nil {
				cancel()
				return errors.Join(err, <-loads)
			}
			running--
		case <-tick.C:
			log, err := logSize(b.dir)
			if err != nil {
				return err
			}
			most = max(most, log)
			if elapsed := time.Since(start); elapsed >= span*time.Duration(told+1)/10 {
				told++
				fmt.Printf("%8s  %12d  %14.1f  %14.1f  %12.1f  %14.1f\n", elapsed.Round(time.Second), b.next.Load(),
					mebibytes(log), mebibytes(most), mebibytes(heap()), mebibytes(residentBytes()))
			}
		}
	}
	return nil
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

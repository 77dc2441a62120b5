// Command river measures River on SQLite for the benchmarks of Sessile: how many jobs a second are inserted and worked, with
// 64 workers, tuned as far as it lets itself be. It prints one number. It is a module of its own, so that nothing of it is
// linked by the product.
//
//	go -C bench/river run . -dir DIR -jobs N
package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite"
)

type args struct {
	N int64 `json:"n"`
}

// Kind is part of [river.JobArgs].
func (args) Kind() string { return "nothing" }

type worker struct {
	river.WorkerDefaults[args]
	left *atomic.Int64
	done chan struct{}
}

// Work does nothing, which is what is measured.
func (w *worker) Work(context.Context, *river.Job[args]) error {
	if w.left.Add(-1) == 0 {
		close(w.done)
	}
	return nil
}

func main() {
	if err := command(); err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

func command() error {
	dir := flag.String("dir", "", "where the database is made")
	jobs := flag.Int64("jobs", 3000, "how many jobs are worked")
	flag.Parse()
	ctx := context.Background()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(*dir, "river.db")+
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	driver := riversqlite.New(db)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	var left atomic.Int64
	left.Store(*jobs)
	w := &worker{left: &left, done: make(chan struct{})}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(driver, &river.Config{
		FetchCooldown: time.Millisecond, FetchPollInterval: 5 * time.Millisecond,
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 64}},
		Workers: workers, Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return err
	}
	if err := client.Start(ctx); err != nil {
		return err
	}
	begin := time.Now()
	var next atomic.Int64
	var group sync.WaitGroup
	failures := make(chan error, 64)
	for range 64 {
		group.Go(func() {
			for n := next.Add(1); n <= *jobs; n = next.Add(1) {
				if _, err := client.Insert(ctx, args{n}, nil); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-failures:
		return err
	case <-w.done:
	}
	if err := client.Stop(ctx); err != nil { // completions are written in batches behind the work
		return err
	}
	fmt.Printf("%.1f\n", float64(*jobs)/time.Since(begin).Seconds())
	return nil
}

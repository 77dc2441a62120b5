// Bench measures Sessile against the limits of its own ground and against what a user would take instead, in one run:
//
//	go run ./bench            prints a table
//	go run ./bench -json      prints JSON
//	go run ./bench -peers     measures Redis and PostgreSQL too, where they are installed
//	go run ./bench -only reads    measures one part: writes, reads or depth
//	go run ./bench -endurance 2m    loads a server for so long and watches its memory and its log
//	go run ./bench -transcript  measures the sanitiser and redaction of transcripts on hostile texts, and nothing else
//	go run ./bench -listing     measures sessions_list out of few and out of many sessions, and nothing else
//	go run ./bench -runs        measures the steps of runs beside River on SQLite, and nothing else
//	go run ./bench -extstate    measures the state of extensions beside Node, where it has node:sqlite, and nothing else
//
// All figures are ratios to a baseline of the same run. Rounds are interleaved; the table shows the median of the rounds,
// and their minimum and maximum. Values are distinct texts of 1 KB. A run in which other processes used more than 15 % of
// the machine is marked void.
//
// The baselines: B1 is a loop of one thread that commits batches of 64 puts, on the driver and tables of the product; B2 a
// bare net/http handler that answers the same bytes; B4 one put in a transaction of its own.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"text/tabwriter"
	"time"
)

// goal is a ratio that the product should keep.
type goal struct {
	name    string
	atLeast float64 // 0: atMost counts
	atMost  float64
}

// result is one figure over the rounds.
type result struct {
	Name    string    `json:"name"`
	Unit    string    `json:"unit"`
	Rounds  []float64 `json:"rounds"`
	AtLeast float64   `json:"at_least,omitzero"`
	AtMost  float64   `json:"at_most,omitzero"`
}

func (r *result) median() float64 {
	sorted := slices.Sorted(slices.Values(r.Rounds))
	return sorted[len(sorted)/2]
}

func (r *result) verdict() string {
	switch {
	case r.AtLeast > 0 && r.median() >= r.AtLeast, r.AtMost > 0 && r.median() <= r.AtMost:
		return "kept"
	case r.AtLeast > 0, r.AtMost > 0:
		return "missed"
	}
	return ""
}

// report collects figures by name, in the order in which they first came.
type report struct {
	Results  []*result `json:"results"`
	OtherCPU float64   `json:"other_cpu_share"`
	Void     bool      `json:"void"`
}

func (r *report) add(name, unit string, value float64) {
	for _, one := range r.Results {
		if one.Name == name {
			one.Rounds = append(one.Rounds, value)
			return
		}
	}
	r.Results = append(r.Results, &result{Name: name, Unit: unit, Rounds: []float64{value}})
}

func (r *report) ratio(g goal, value float64) {
	r.add(g.name, "ratio", value)
	last := r.Results[slices.IndexFunc(r.Results, func(one *result) bool { return one.Name == g.name })]
	last.AtLeast, last.AtMost = g.atLeast, g.atMost
}

func main() {
	if err := command(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command() error {
	rounds := flag.Int("rounds", 5, "rounds of the run")
	span := flag.Duration("span", 1500*time.Millisecond, "how long one load lasts")
	asJSON := flag.Bool("json", false, "print JSON")
	peers := flag.Bool("peers", false, "measure Redis and PostgreSQL too")
	endurance := flag.Duration("endurance", 0, "load a server for so long and watch its memory and its write-ahead log, instead of measuring")
	only := flag.String("only", "", "measure one part only: writes, reads or depth")
	transcripts := flag.Bool("transcript", false, "measure the sanitiser and redaction only")
	lists := flag.Bool("listing", false, "measure sessions_list only")
	runs := flag.Bool("runs", false, "measure runs of agents only, beside River on SQLite")
	extensions := flag.Bool("extstate", false, "measure the state of extensions only")
	profile := flag.String("cpuprofile", "", "write a profile of the processor time to this file")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if *transcripts {
		return measureTranscripts(*rounds)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *lists {
		return measureListings(ctx, *rounds)
	}
	if *endurance > 0 {
		return runEndurance(ctx, *endurance)
	}
	if *runs {
		r, err := measureRuns(ctx, *rounds, *span)
		if err != nil {
			return err
		}
		return show(r, *asJSON)
	}
	if *extensions {
		r, err := measureExtensions(ctx, *rounds, *span)
		if err != nil {
			return err
		}
		return show(r, *asJSON)
	}
	r, err := run(ctx, *rounds, *span, *peers, *only)
	if err != nil {
		return err
	}
	return show(r, *asJSON)
}

func run(ctx context.Context, rounds int, span time.Duration, withPeers bool, only string) (*report, error) {
	if _, known := parts[only]; only != "" && !known {
		return nil, fmt.Errorf("there is no part %q", only)
	}
	dir, err := os.MkdirTemp("", "sessile-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	b, err := newBench(ctx, dir, span)
	if err != nil {
		return nil, err
	}
	defer b.close()
	var others []peer
	if withPeers {
		others = startPeers(ctx, dir)
		for _, p := range others {
			defer p.stop()
		}
	}
	r := &report{}
	cpu := startCPU()
	for range rounds {
		if err := b.round(ctx, r, others, only); err != nil {
			return nil, err
		}
	}
	r.OtherCPU = cpu.others()
	r.Void = r.OtherCPU > 0.15
	return r, nil
}

func runEndurance(ctx context.Context, span time.Duration) error {
	dir, err := os.MkdirTemp("", "sessile-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := newBench(ctx, dir, span)
	if err != nil {
		return err
	}
	defer b.close()
	return endure(ctx, b, span)
}

func show(r *report, asJSON bool) error {
	if asJSON {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		return out.Encode(r)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "figure\tmedian\tmin\tmax\tunit\tgoal\t")
	for _, one := range r.Results {
		aim := ""
		switch {
		case one.AtLeast > 0:
			aim = fmt.Sprintf("at least %.2f", one.AtLeast)
		case one.AtMost > 0:
			aim = fmt.Sprintf("at most %.2f", one.AtMost)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", one.Name, number(one.median()), number(slices.Min(one.Rounds)), number(slices.Max(one.Rounds)), one.Unit, aim, one.verdict())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Printf("\nother processes used %.0f %% of the machine\n", 100*r.OtherCPU)
	if r.Void {
		fmt.Println("VOID: that is too much; run it again on a quiet machine")
	}
	return nil
}

func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

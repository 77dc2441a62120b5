//go:build unix

package extstate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/extstate"
)

// living is the holder text of a process that is there and is not this one.
func living() string { return fmt.Sprintf("pid:%d", os.Getppid()) }

func (d *desk) refused(err error, action extstate.Action, holder string) string {
	d.Helper()
	var refused *extstate.RefusedError
	if !errors.As(err, &refused) || refused.Action != action || refused.SessionID != "s1" || refused.Holder != holder {
		d.Fatalf("%v; want a refusal of %s by %s", err, action, holder)
	}
	start := fmt.Sprintf("session-state: %s refused — initiator: %s; action: %s; object: session s1; reason: ", action, holder, action)
	if !strings.HasPrefix(err.Error(), start) {
		d.Errorf("the refusal reads %q", err)
	}
	return err.Error()
}

func TestC39(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.reads(s, tree(""), "absent")
	d.lock(living(), 0)
	d.refused(s.Write(background, tree(""), jsontext.Value("1")), extstate.ActionWrite, living())
	d.rows("")
	if held := d.file().locks(t); held["s1"] != living() {
		t.Errorf("lock rows %v", held)
	}
	d.reads(s, tree(""), "absent")
	d.write(s, tree("").in("s2"), "2")
}

func TestC40(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.reads(s, tree(""), "absent")
	d.lock(living(), 0)
	ui := &user{}
	v := tree("").with(ui)
	wrote := d.refused(s.Write(background, v, jsontext.Value("1")), extstate.ActionWrite, living())
	dropped := d.refused(s.Drop(background, v), extstate.ActionDrop, living())
	want := []note{{wrote, extstate.LevelError}, {dropped, extstate.LevelError}}
	if fmt.Sprint(ui.notes) != fmt.Sprint(want) {
		t.Errorf("told %v, want %v", ui.notes, want)
	}
	ui.fails = errors.New("no screen")
	if err := s.Drop(background, v); !errors.Is(err, ui.fails) {
		t.Errorf("an error of the UI: %v", err)
	}
}

// A refusal leaves what is pending and what is cached as it was.
func TestRefusalChangesNothing(t *testing.T) {
	d := newDesk(t)
	b := d.branch()
	v := tree("a")
	d.write(b, v.at("a"), `"old"`)
	d.write(b, v, `"pending"`)
	d.lock(living(), 0)
	d.refused(b.Write(background, v.at("a"), jsontext.Value(`"new"`)), extstate.ActionWrite, living())
	d.reads(b, v, `"pending"`)
	d.rows(`a="old"`)
}

func TestC41(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.reads(s, tree(""), "absent")
	d.lock(living(), 0)
	ui := &user{}
	var bad *extstate.ValueError
	if err := s.Write(background, tree("").with(ui), nil); !errors.As(err, &bad) || len(ui.notes) > 0 {
		t.Errorf("%v, told %v", err, ui.notes)
	}
}

func TestTakeOver(t *testing.T) {
	dead := fmt.Sprintf("pid:%d", (&desk{T: t}).deadPID())
	for _, c := range []struct {
		name, holder string
		age          time.Duration
		taken        bool
	}{
		{"C42", living(), 59 * time.Second, false},
		{"C42", living(), 60 * time.Second, false},
		{"C42", living(), 60*time.Second + time.Millisecond, true},
		{"C42", living(), 61 * time.Second, true},
		{"C43", dead, 0, true},
		{"C43", "pid:99999999999999999999", 0, true},
		{"C44", fmt.Sprintf("pid:%d", os.Getpid()), 0, true},
		{"C45", "host-a", 0, false},
		{"C45", "host-a", 61 * time.Second, true},
		{"C45", dead + " ", 0, false},
		{"C45", "pid:", 0, false},
		{"C45", "pid:-1", 0, false},
	} {
		t.Run(c.name+"/"+c.holder, func(t *testing.T) {
			d := newDesk(t)
			s := d.session()
			d.reads(s, tree(""), "absent")
			d.lock(c.holder, c.age)
			err := s.Write(background, tree(""), jsontext.Value("1"))
			if !c.taken {
				d.refused(err, extstate.ActionWrite, c.holder)
				return
			}
			if err != nil {
				t.Error(err)
			}
			d.rows("=1")
			d.unlocked()
		})
	}
}

func TestC46(t *testing.T) {
	d := newDesk(t)
	d.copyFile("states-v1.sqlite")
	s := d.open(extstate.Options{PluginID: "demo-ext"})
	v := tree("").in("s-old")
	d.reads(s, v, `{"v":1}`)
	if held := d.file().locks(t); held["s-old"] != "pid:1" {
		t.Fatalf("lock rows %v", held)
	}
	d.write(s, v, "2")
	d.unlocked()
	if _, _, _, err := d.file().readLock("s-old"); err != nil {
		t.Errorf("acquired_at: %v", err)
	}
}

func TestC47(t *testing.T) {
	d := newDesk(t)
	d.copyFile("states-v0.sqlite")
	s := d.open(extstate.Options{PluginID: "demo-ext"})
	d.reads(s, tree("").in("s-old"), `{"v":0}`)
	d.unlocked()
}

// patient is a test that waits for SQLite's busy timeout of five seconds.
func patient(t *testing.T) *desk {
	if testing.Short() {
		t.Skip("waits for five seconds")
	}
	t.Parallel()
	return newDesk(t)
}

// busy expects the error of a statement that gave up after about five seconds.
func (d *desk) busy(start time.Time, err error) {
	d.Helper()
	var failed *extstate.SQLiteError
	if !errors.As(err, &failed) || failed.Code != 5 || !strings.Contains(err.Error(), "database is locked") {
		d.Errorf("%v, want SQLite's code 5", err)
	}
	if took := time.Since(start); took < 4*time.Second {
		d.Errorf("gave up after %v", took)
	}
}

func TestC48(t *testing.T) {
	d := patient(t)
	s := d.session()
	d.write(s, tree("").in("s2"), "1")
	release := d.keepLocked()
	done := make(chan struct{})
	time.AfterFunc(800*time.Millisecond, func() { release(); close(done) })
	start := time.Now()
	d.write(s, tree(""), "1")
	if took := time.Since(start); took < 700*time.Millisecond {
		t.Errorf("the write did not wait: %v", took)
	}
	<-done
}

func TestC49(t *testing.T) {
	d := patient(t)
	s := d.session()
	d.write(s, tree(""), "1")
	release := d.keepLocked()
	ui := &user{}
	start := time.Now()
	err := s.Write(background, tree("").with(ui), jsontext.Value("2"))
	d.busy(start, err)
	release()
	if len(ui.notes) > 0 {
		t.Errorf("told %v", ui.notes)
	}
	d.rows("=1")
	d.unlocked()
}

func TestC50(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.write(s, tree(""), "1")
	d.write(s, tree("").in("s2"), "2")
	d.reads(s, tree(""), "1")
	release := d.keepLocked()
	defer release()
	start := time.Now()
	d.reads(s, tree(""), "1")
	d.reads(s, tree("").in("s2"), "2")
	d.reads(s, tree("").in("s3"), "absent")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("reads waited: %v", took)
	}
}

// Reads go on while a write of the same process waits for another process, and a first open waits for nobody either.
func TestReadsDoNotWaitForWrites(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	d.write(s, tree(""), "1")
	release := d.keepLocked()
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan error)
	go func() { written <- s.Write(ctx, tree(""), jsontext.Value("2")) }()
	d.reads(s, tree(""), "1")
	if got := d.runWorker("read"); got != "1" {
		t.Errorf("another process reads %s", got)
	}
	cancel()
	if err := <-written; !errors.Is(err, context.Canceled) {
		t.Errorf("a write whose context ended: %v", err)
	}
	release()
	d.reads(s, tree(""), "1")
	d.write(s, tree(""), "3")
	d.reads(s, tree(""), "3")
}

func TestC51(t *testing.T) {
	d := patient(t)
	b, v := d.branch(), tree("r; x<r; z<r")
	d.write(b, v.at("r"), "1")
	release := d.keepLocked()
	start := time.Now()
	_, found, err := b.Read(background, v.at("x"))
	d.busy(start, err)
	if found {
		t.Error("a value although its row could not be written")
	}
	release()
	d.reads(b, v.at("x"), "1")
	d.rows("r=1 x=1")
}

func TestC74(t *testing.T) {
	d := newDesk(t)
	outputs := runWorkers(t, map[string]*execCmd{
		"reference": startWorker(t.Context(), "reference", d.path, "r", "200x"),
		"go":        startWorker(t.Context(), "extstate", d.path, "g", "200x"),
	})
	r := d.file()
	for name, output := range outputs {
		if done, lost := checkWorker(t, r, output); done != 200 || lost > 0 {
			t.Errorf("%s: %d done, %d lost", name, done, lost)
		}
	}
	d.unlocked()
}

func TestC75(t *testing.T) {
	d := newDesk(t)
	s := d.session()
	release, err := s.Hold(background, tree(""))
	if err != nil {
		t.Fatal(err)
	}
	if got := d.runWorker("write one", "5"); got != fmt.Sprintf("held by pid:%d", os.Getpid()) {
		t.Errorf("the reference while Go holds the session: %s", got)
	}
	d.write(s, tree(""), "1") // our own writes go on, and keep the lock
	d.drop(s, tree(""))
	if held := d.file().locks(t); len(held) != 1 {
		t.Errorf("lock rows %v", held)
	}
	nested, err := s.Hold(background, tree(""))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second call does nothing
		if err := nested(); err != nil {
			t.Error(err)
		}
	}
	if got := d.runWorker("write one", "5"); !strings.HasPrefix(got, "held by") {
		t.Errorf("the reference after the inner release: %s", got)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if got := d.runWorker("write one", "5"); got != "done" {
		t.Errorf("the reference after the release: %s", got)
	}
	d.reads(s, tree(""), "5")
	d.unlocked()
}

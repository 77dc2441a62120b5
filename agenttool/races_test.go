package agenttool_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agentrun"
)

func TestManyBeginAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, settings{runs: agents().runs, rest: true})
		w.model.when("the question", hangs())
		const many = 150
		for i := range many {
			key := fmt.Sprintf("agent:main:direct:many%d", i)
			w.session(key)
			w.call(asker, "sessions_send", `{"sessionKey":"`+key+`","message":"the question","timeoutSeconds":0}`)
		}
		w.settings.rest = false
		w.restart()
		w.pass(time.Second)
		w.equal("sessions at work", len(w.model.heard("the question")), many)
	})
}

func TestLaneIsFilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, agents(func(o *agentrun.Options) { o.MaxConcurrent, o.MaxChildren = 8, 20 }))
		w.session(asker)
		w.model.when("[Subagent Task]", hangs())
		for range 12 {
			w.call(asker, "sessions_spawn", `{"task":"t"}`)
		}
		w.settle()
		w.equal("at work", len(w.model.heard("[Subagent Task]")), 8)
	})
}

func TestFailureThatIsNotStored(t *testing.T) {
	for name, begin := range map[string]func(w *world) string{
		"a sub-agent": func(w *world) string { return w.call(asker, "sessions_spawn", `{"task":"the task"}`).text("runId") },
		"a message": func(w *world) string {
			return w.call(asker, "sessions_send", `{"sessionKey":"`+helper+`","message":"the task","timeoutSeconds":0}`).text("runId")
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &faults{}
				s := agents()
				s.faults = f
				w := newWorld(t, s)
				w.session(asker)
				w.session(helper)
				w.model.when("the task", after(time.Second, says("done")))
				id := begin(w)
				w.settle()
				f.next(4) // the commit with its two further tries, then the failure
				w.pass(30 * time.Second)
				w.equal("run", w.run(id).Status, sessile.RunRunning)
				w.pass(5 * time.Minute)
				w.equal("run", string(w.run(id).Status)+" "+w.run(id).Result, "succeeded done")
			})
		})
	}
}

func TestTurnThatIsNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &faults{}
		s := agents()
		s.faults = f
		w := newWorld(t, s)
		w.session(helper)
		w.model.when("hello", after(time.Second, says("hi")))
		ended := make(chan error)
		go func() {
			_, err := w.respond(helper, "hello")
			ended <- err
		}()
		w.settle()
		f.next(4)
		if err := <-ended; err == nil {
			t.Fatal("the turn succeeded")
		}
		a := w.call(asker, "sessions_send", `{"sessionKey":"`+helper+`","message":"the question","timeoutSeconds":600}`)
		w.equal("status", a.text("status"), "ok")
	})
}

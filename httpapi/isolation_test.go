package httpapi_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/httpapi"
)

// named lets in whoever says who it is.
type named struct{}

func (named) Account(r *http.Request) (string, error) { return r.Header.Get("X-Api-Key"), nil }

// houses are worlds of several accounts on one server.
type houses struct {
	*testing.T
	handler *server
	made    int
}

// world is a session with one of everything, by the names that probes use.
type world map[string]string

func (h *houses) ask(account, method, target, body string) (status int, answer string) {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Host = "localhost:7474"
	r.Header.Set("X-Api-Key", account)
	r.Header.Set("X-Request-Id", "the-request")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// data asks for something that must be answered, and returns what stands at a path of names and indexes in its data.
func (h *houses) data(account, method, target, body string, path ...any) string {
	h.Helper()
	status, answer := h.ask(account, method, target, body)
	if status >= 300 {
		h.Fatalf("%s %s: %d %s", method, target, status, answer)
	}
	var found struct {
		Data any `json:"data"`
	}
	if err := json.Unmarshal([]byte(answer), &found); err != nil {
		h.Fatal(err)
	}
	at := found.Data
	for _, step := range path {
		switch step := step.(type) {
		case string:
			at = at.(map[string]any)[step]
		case int:
			at = at.([]any)[step]
		}
	}
	text, _ := at.(string)
	if text == "" && len(path) > 0 {
		h.Fatalf("%s %s: nothing at %v of %s", method, target, path, answer)
	}
	return text
}

// world makes a session of an account: two committed turns on main, a registered branch, a namespace with one slot, and a
// worldbook. Names are its own, so that they mean nothing elsewhere.
func (h *houses) world(account string) world {
	h.Helper()
	h.made++
	own := func(name string) string { return fmt.Sprintf("%s%d", name, h.made) }
	w := world{"namespace": own("space"), "slot": own("slot"), "branch": own("branch"), "plugin": own("plugin")}
	w["worldbook"] = h.data(account, "POST", "/worldbooks", `{"name":"book","book":{"entries":[]}}`, "id")
	w["session"] = h.data(account, "POST", "/sessions", `{"title":"private","worldbook_profile_id":"`+w["worldbook"]+`"}`, "id")
	base := "/sessions/" + w["session"]
	w["target"] = h.data(account, "POST", "/sessions", `{}`, "key")
	h.data(account, "PUT", base+"/extensions/"+w["plugin"], `{"value":"private"}`)
	h.data(account, "PUT", base+"/extensions/"+w["plugin"]+"?scope=branch", `{"value":"private"}`)
	h.data(account, "POST", base+"/state/namespaces", `{"namespace":"`+w["namespace"]+`","logical_owner_type":"app","logical_owner_id":"x"}`)
	turn := `{"message":"private words","session_state_writes":[{"namespace":"` + w["namespace"] + `","slot":"` + w["slot"] + `","value":"private"}]}`
	w["parent"] = h.data(account, "POST", base+"/respond", turn, "floor_id")
	w["floor"] = h.data(account, "POST", base+"/respond", turn, "floor_id")
	h.data(account, "POST", "/floors/"+w["floor"]+"/branch", `{"branch_id":"`+w["branch"]+`"}`)
	w["mutation"] = h.data(account, "GET", base+"/session-state/mutations", "", 0, "id")
	routed := own("agent:main:direct:routed")
	h.data(account, "POST", "/sessions", `{"key":"`+routed+`","delivery_context":{"channel":"slack","to":"private"}}`)
	h.data(account, "POST", "/tools/sessions_send", `{"session_key":"`+w["target"]+`","arguments":{"sessionKey":"`+routed+`","message":"go","timeoutSeconds":0}}`)
	h.handler.work(h)
	w["delivery"] = h.data(account, "GET", "/deliveries", "", 0, "id")
	w["run"] = h.data(account, "POST", "/tools/sessions_spawn", `{"session_key":"`+w["target"]+`","arguments":{"task":"private words"}}`, "runId")
	w["page"] = h.data(account, "GET", base+"/timeline?offset=1", "", 0, "pages", 0, "id")
	w["message"] = h.data(account, "GET", base+"/timeline?offset=1", "", 0, "pages", 0, "messages", 0, "id")
	return w
}

// missing looks like an object of that name and is none.
func missing(name string) string {
	prefixes := map[string]string{
		"session": "ses_", "floor": "flr_", "parent": "flr_", "message": "msg_", "page": "pag_", "worldbook": "wbk_",
		"run": "run_",
	}
	switch name {
	case "mutation":
		return sessile.MutationID(1 << 40)
	case "delivery":
		return sessile.DeliveryID(1 << 40)
	}
	if prefix, ok := prefixes[name]; ok {
		return prefix + strings.Repeat("0", 25) + "1"
	}
	return "nothing" + name
}

var placeholder = regexp.MustCompile(`\{([a-z]+)\}`)

func (p probe) template() (method, target string) {
	method, path, _ := strings.Cut(p.route, " ")
	return method, path + p.path
}

// objects are the names that a probe fills in, each once.
func (p probe) objects() []string {
	_, target := p.template()
	var names []string
	for _, found := range placeholder.FindAllStringSubmatch(target+p.body, -1) {
		if !slices.Contains(names, found[1]) {
			names = append(names, found[1])
		}
	}
	return names
}

func (p probe) fill(h *houses, account string, w world) (status int, answer string) {
	method, target := p.template()
	fill := func(text string) string {
		return placeholder.ReplaceAllStringFunc(text, func(name string) string { return w[strings.Trim(name, "{}")] })
	}
	return h.ask(account, method, fill(target), fill(p.body))
}

// What belongs to another account, or to another session where the request names one, is answered byte for byte like what
// does not exist (spec/governed-state.md, 3.4), and so is every id in a body or a query. A route without a probe makes
// the test fail.
func TestIsolation(t *testing.T) {
	h := &houses{T: t, handler: newServer(t, httpapi.Options{Accounts: named{}})}
	victim := h.world("victim")
	stranger := h.world("stranger")
	second := h.world("stranger")
	before := h.fingerprint("victim", victim)

	for _, p := range probes() {
		t.Run(p.route+" "+p.path+p.body, func(t *testing.T) {
			owner := fmt.Sprintf("owner%d", h.made)
			status, answer := p.fill(h, owner, h.world(owner))
			if status != cmp.Or(p.status, http.StatusOK) || strings.Contains(answer, "event: error") {
				t.Fatalf("the request is no good: its owner is answered %d %s", status, answer)
			}
			objects := p.objects()
			for _, set := range append(one(objects), objects) {
				p.compare(t, h, stranger, victim, set, "of another account")
				if tiedToSession(set, objects) {
					p.compare(t, h, stranger, second, set, "of another session")
				}
			}
		})
	}
	if after := h.fingerprint("victim", victim); after != before {
		t.Errorf("a stranger changed something: before\n%s\nafter\n%s", before, after)
	}
}

// tiedToSession tells whether the request names a session besides these objects, by its id or by a floor. Worldbooks, and what
// a session watches, are of no session.
func tiedToSession(set, objects []string) bool {
	if slices.Contains(set, "worldbook") || slices.Contains(set, "target") {
		return false
	}
	for _, names := range []string{"session", "floor"} {
		if slices.Contains(objects, names) {
			return !slices.Contains(set, names)
		}
	}
	return false
}

// one is each name alone.
func one(names []string) (sets [][]string) {
	if len(names) < 2 {
		return nil
	}
	for _, name := range names {
		sets = append(sets, []string{name})
	}
	return sets
}

// revision is another one with each write.
var revision = regexp.MustCompile(`"revision":[0-9]+`)

// compare asks as the owner of own, with some of the objects taken from elsewhere, and with none there.
func (p probe) compare(t *testing.T, h *houses, own, elsewhere world, foreign []string, what string) {
	t.Helper()
	ask := func(pick func(name string) string) string {
		w := maps.Clone(own)
		for _, name := range foreign {
			w[name] = pick(name)
		}
		status, answer := p.fill(h, "stranger", w)
		for _, name := range foreign { // what the caller itself said
			answer = strings.ReplaceAll(answer, w[name], "("+name+")")
		}
		return fmt.Sprintf("%d %s", status, revision.ReplaceAllString(answer, "(revision)"))
	}
	got := ask(func(name string) string { return elsewhere[name] })
	want := ask(missing)
	if got != want {
		t.Errorf("%s %s is told from one that is missing:\n%s\n%s", strings.Join(foreign, ", "), what, got, want)
	}
}

// fingerprint is everything that an account can read of its world.
func (h *houses) fingerprint(account string, w world) string {
	var all strings.Builder
	for _, target := range []string{
		"/sessions", "/worldbooks", "/worldbooks/{worldbook}", "/floors", "/messages?page_id={page}",
		"/sessions/{session}/timeline", "/sessions/{session}/transcript", "/sessions/{session}/branches",
		"/sessions/{session}/state/namespaces", "/sessions/{session}/state/resolve?branch_id=main",
		"/sessions/{session}/state/resolve?branch_id={branch}", "/sessions/{session}/session-state/mutations",
		"/runs", "/deliveries", "/sessions/{session}/session-state/live", "/sessions/{session}/state/floors/{floor}/snapshot",
		"/sessions/{session}/extensions/{plugin}", "/sessions/{session}/extensions/{plugin}?scope=branch&branch_id={branch}",
	} {
		status, answer := probe{route: "GET " + target}.fill(h, account, w)
		fmt.Fprintf(&all, "%s: %d %s\n", target, status, answer)
	}
	return all.String()
}

// Every route that names an object stands in the table, with all of its objects.
func TestIsolationIsComplete(t *testing.T) {
	probed := map[string][]string{}
	for _, p := range probes() {
		probed[p.route] = append(probed[p.route], p.objects()...)
	}
	spared := withoutObjects()
	for _, route := range httpapi.Routes() {
		pattern := route.Pattern()
		objects := placeholder.FindAllStringSubmatch(route.Path, -1)
		_, without := spared[pattern]
		delete(spared, pattern)
		if without || route.Open && len(objects) == 0 {
			continue
		}
		found, ok := probed[pattern]
		if !ok {
			t.Errorf("%s has no probe: say in isolation_routes_test.go how to ask it for something of another account, or why it names nothing", pattern)
		}
		for _, object := range objects {
			if ok && !slices.Contains(found, object[1]) {
				t.Errorf("%s: no probe fills in %s", pattern, object[0])
			}
		}
		delete(probed, pattern)
	}
	for pattern := range probed {
		t.Errorf("there is no route %s", pattern)
	}
	for pattern := range spared {
		t.Errorf("there is no route %s", pattern)
	}
}

func TestListsShowOwn(t *testing.T) {
	h := &houses{T: t, handler: newServer(t, httpapi.Options{Accounts: named{}})}
	victim := h.world("victim")
	for _, target := range []string{"/sessions", "/sessions?keyword=private", "/worldbooks", "/floors"} {
		for account, want := range map[string]bool{"victim": true, "stranger": false} {
			status, answer := h.ask(account, "GET", target, "")
			if status != http.StatusOK {
				t.Fatalf("%s: %d %s", target, status, answer)
			}
			shown := strings.Contains(answer, victim["session"]) || strings.Contains(answer, victim["worldbook"])
			if shown != want {
				t.Errorf("%s shows %s what the victim has: %v", target, account, shown)
			}
			if !want && !strings.Contains(answer, `"total":0`) {
				t.Errorf("%s counts for a stranger: %s", target, answer)
			}
		}
	}
}

// What stands under a session key is the account's own: another one neither sees it nor takes it away, whether or not the
// key has a session.
func TestKeysAreOfAnAccount(t *testing.T) {
	h := &houses{T: t, handler: newServer(t, httpapi.Options{Accounts: named{}})}
	const key = "agent:main:shared"
	call := func(account, arguments string) string {
		_, answer := h.ask(account, "POST", "/tools/session_state", `{"session_key":"`+key+`","arguments":`+arguments+`}`)
		return answer
	}
	const get = `{"operation":"get","namespace":"n","key":"k"}`
	h.data("a", "POST", "/sessions", `{"key":"`+key+`"}`)
	h.data("b", "POST", "/sessions", `{"key":"`+key+`"}`) // the same key is another one elsewhere
	call("a", `{"operation":"set","namespace":"n","key":"k","value":"private"}`)
	if got := call("b", get); got != `{"data":{"value":null}}` {
		t.Errorf("another account reads %s", got)
	}
	call("b", `{"operation":"clear","namespace":"n"}`)
	h.data("b", "POST", "/sessions/clear-all", `{}`)
	h.data("b", "DELETE", "/sessions?key="+key, "")
	if got := call("a", get); got != `{"data":{"value":"private"}}` {
		t.Errorf("after another account deleted its own, the owner reads %s", got)
	}
	if status, _ := h.ask("a", "GET", "/sessions/"+h.data("a", "GET", "/sessions?key="+key, "", 0, "id"), ""); status != 200 {
		t.Error("the owner's session is gone")
	}
}

package agenttool_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/agenttool"
)

// echoTool answers with the arguments that reached it.
func echoTool(name string) agenttool.Tool {
	return agenttool.Tool{
		Name: name, Required: []string{"a"}, Types: map[string]string{"a": "string", "n": "integer"},
		Run: func(_ context.Context, _ agenttool.Caller, a agenttool.Arguments) (agenttool.Result, error) {
			if string(a["a"]) == `"broken"` {
				return agenttool.Result{}, errors.New("the disk is on fire")
			}
			return agenttool.Result{Data: jsontext.Value(`{"a":` + string(a["a"]) + `,"session":` + string(a["_session_key"]) + `}`)}, nil
		},
	}
}

func TestArguments(t *testing.T) {
	tools := agenttool.New([]agenttool.Tool{echoTool("t")}, agenttool.Options{})
	for arguments, want := range map[string]string{
		`{"a":"x","a":"y"}`:                      `{"a":"y","session":"k"}`,
		`{"A":"x","a":"y"}`:                      `{"a":"y","session":"k"}`,
		`{"a":"x","_session_key":"evil"}`:        `{"a":"x","session":"k"}`,
		`{"a":"x","n":5.0}`:                      `{"a":"x","session":"k"}`,
		`{"a":"x","n":5.5}`:                      "tool_arguments_invalid",
		`{"a":"x","n":null}`:                     `{"a":"x","session":"k"}`,
		`{"a":null}`:                             "tool_arguments_invalid",
		`["a"]`:                                  "tool_arguments_invalid",
		`{"a":"\ud800"}`:                         "tool_arguments_invalid",
		"{\"a\":\"\xff\"}":                       "tool_arguments_invalid",
		`{"a":"x"} {}`:                           "tool_arguments_invalid",
		`{"a":"x"`:                               "tool_arguments_invalid",
		``:                                       "tool_arguments_invalid",
		`{"a":"broken"}`:                         "internal_error",
		`{"a":"` + strings.Repeat("x", 9) + `"}`: `{"a":"xxxxxxxxx","session":"k"}`,
	} {
		result, err := tools.Call(t.Context(), caller("k"), "t", []byte(arguments))
		got := string(result.Data)
		if err != nil {
			got = string(sessile.CodeOf(err))
		}
		if got != want {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	tools := agenttool.New([]agenttool.Tool{echoTool("list_2"), echoTool("list")}, agenttool.Options{})
	names := []string{"list", "\tlist ", `"list"`, "functions_list", "list_7", "list_2"}
	for i, name := range append(names, "list_x", "List", "", "_3") {
		found := i < len(names)
		_, err := tools.Call(t.Context(), caller("k"), name, []byte(`{"a":"x"}`))
		if (err == nil) != found {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestBeforeCall(t *testing.T) {
	replaced := agenttool.Arguments{}
	tools := agenttool.New([]agenttool.Tool{echoTool("t")}, agenttool.Options{
		BeforeCall: func(context.Context, agenttool.Caller, string, agenttool.Arguments) agenttool.Arguments {
			return replaced
		},
	})
	if _, err := tools.Call(t.Context(), caller("k"), "t", []byte(`{"a":"x"}`)); sessile.CodeOf(err) != sessile.CodeToolArgumentsInvalid {
		t.Errorf("a replacement is not checked: %v", err)
	}
	replaced = agenttool.Arguments{"a": jsontext.Value(`"y"`), "_session_key": jsontext.Value(`"other"`)}
	result, err := tools.Call(t.Context(), caller("k"), "t", []byte(`{"a":"x"}`))
	if err != nil || string(result.Data) != `{"a":"y","session":"other"}` {
		t.Errorf("%s %v", result.Data, err)
	}
}

func TestPolicy(t *testing.T) {
	rules := func(change func(*agenttool.Policy)) agenttool.Policy {
		p := agenttool.Policy{Agents: map[string]agenttool.Rules{}, Agent: func(string) string { return "main" }}
		change(&p)
		return p
	}
	const sub = "agent:main:subagent:1"
	for _, c := range []struct {
		name   string
		policy agenttool.Policy
		key    string
		allows string
		denies string
	}{
		{"nothing set", agenttool.Policy{}, "k", "session_state sessions_send anything", ""},
		{"minimal", rules(func(p *agenttool.Policy) { p.Tools.Profile = "minimal" }), "k", "session_state session_status", "sessions_list exec"},
		{"messaging", rules(func(p *agenttool.Policy) { p.Tools.Profile = "Messaging" }), "k", "session_state sessions_send", "sessions_spawn"},
		{"coding", rules(func(p *agenttool.Policy) { p.Tools.Profile = "coding" }), "k", "session_state subagents sessions_yield", "other"},
		{"unknown profile", rules(func(p *agenttool.Policy) { p.Tools.Profile = "x" }), "k", "other", ""},
		{"also allow", rules(func(p *agenttool.Policy) {
			p.Tools = agenttool.Rules{Profile: "messaging", AlsoAllow: []string{"sessions_spawn"}}
		}), "k", "sessions_spawn", "subagents"},
		{"deny wins", rules(func(p *agenttool.Policy) {
			p.Tools = agenttool.Rules{Allow: []string{"*"}, Deny: []string{"Session_State", "group:sessions"}}
		}), "k", "other", "session_state sessions_list"},
		{"globs", rules(func(p *agenttool.Policy) { p.Tools.Allow = []string{"sessions_*"} }), "k", "sessions_list", "session_state"},
		{"an agent's profile replaces", rules(func(p *agenttool.Policy) {
			p.Tools.Profile = "minimal"
			p.Agents["main"] = agenttool.Rules{Profile: "full"}
		}), "k", "other", ""},
		{"an agent's lists add up", rules(func(p *agenttool.Policy) {
			p.Tools.Deny = []string{"a"}
			p.Agents["main"] = agenttool.Rules{Deny: []string{"b"}}
		}), "k", "c", "a b"},
		{"sub-agents", rules(func(p *agenttool.Policy) { p.Subagents.Deny = []string{"session_state"} }), sub, "other", "session_state"},
		{"not of sub-agents", rules(func(p *agenttool.Policy) { p.Subagents.Deny = []string{"session_state"} }), "k", "session_state", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, tool := range strings.Fields(c.allows) {
				if !c.policy.Allows(caller(c.key), tool) {
					t.Errorf("%s is missing", tool)
				}
			}
			for _, tool := range strings.Fields(c.denies) {
				if c.policy.Allows(caller(c.key), tool) {
					t.Errorf("%s is there", tool)
				}
			}
		})
	}
}

func TestForModel(t *testing.T) {
	tools := agenttool.New([]agenttool.Tool{echoTool("t")}, agenttool.Options{})
	say := func(arguments string, limit int) string {
		text, _, _ := tools.ForModel(t.Context(), caller("k"), "t", []byte(arguments), limit)
		return text
	}
	expect(t, say(`{"a":"x"}`, 0), `{"result":{"a":"x","session":"k"}}`)
	expect(t, say(`{"a":"broken"}`, 0), `{"error":"the tool failed"}`)
	expect(t, say(`{"a":"`+strings.Repeat("0f", 100)+`"}`, 0), `{"result":{"a":"[hex data removed — 200 chars]","session":"k"}}`)
	expect(t, say(`{"a":"`+strings.Repeat("0", 199)+`"}`, 0), `{"result":{"a":"`+strings.Repeat("0", 199)+`","session":"k"}}`)
	expect(t, say(`{"a":"data:image/png;base64,`+strings.Repeat("Qk", 100)+`=="}`, 0), `{"result":{"a":"[image/png data removed]","session":"k"}}`)
	expect(t, say(`{"a":"ééé"}`, 18), "{\"result\":{\"a\":\"é\n\n[truncated — 39 bytes total]")
}

func caller(key string) agenttool.Caller {
	return agenttool.Caller{Account: "default", SessionKey: &key}
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

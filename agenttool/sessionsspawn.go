package agenttool

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessile-dev/sessile/agentrun"
)

// SessionsSpawnName is the name of the tool that starts a sub-agent.
const SessionsSpawnName = "sessions_spawn"

const sessionsSpawnParameters = `{
  "type": "object",
  "properties": {
    "task": {"type": "string", "description": "What the sub-agent is to do. It knows nothing else, unless context is fork."},
    "taskName": {"type": "string", "description": "A short name for later reference: a-z, then a-z, 0-9, _ and -."},
    "label": {"type": "string", "description": "A headline for people."},
    "runtime": {"type": "string", "enum": ["subagent", "acp"], "description": "acp starts the external agent that is configured for agentId."},
    "agentId": {"type": "string", "description": "The agent that works; this session's own when left out."},
    "model": {"type": "string", "description": "provider/model, when it is not to be the usual one."},
    "thinking": {"type": "string", "description": "off, minimal, low, medium, high or xhigh."},
    "cwd": {"type": "string", "description": "The folder in which it works."},
    "thread": {"type": "boolean", "description": "Bind it to a new thread, on channels that can."},
    "mode": {"type": "string", "enum": ["run", "session"]},
    "cleanup": {"type": "string", "enum": ["keep", "delete"], "description": "delete removes the session once its result has arrived."},
    "sandbox": {"type": "string", "enum": ["inherit", "require"]},
    "context": {"type": "string", "enum": ["isolated", "fork"], "description": "fork starts it with a copy of this conversation."},
    "lightContext": {"type": "boolean"},
    "attachments": {"type": "array", "items": {"type": "object", "properties": {
      "name": {"type": "string"}, "content": {"type": "string"}, "encoding": {"type": "string", "enum": ["utf8", "base64"]}, "mimeType": {"type": "string"}
    }, "required": ["name", "content"]}, "description": "At most 50 files."},
    "attachAs": {"type": "object", "properties": {"mountPath": {"type": "string"}}},
    "resumeSessionId": {"type": "string", "description": "With runtime acp: go on with this session of the external agent."},
    "streamTo": {"type": "string", "enum": ["parent"]},
    "idempotencyKey": {"type": "string", "description": "A second call with the same key starts nothing and answers what the first one did."}
  },
  "required": ["task"]
}`

const sessionsSpawnResult = `{
  "type": "object",
  "properties": {
    "status": {"type": "string", "description": "accepted, forbidden or error."},
    "childSessionKey": {"type": "string"},
    "runId": {"type": "string"},
    "mode": {"type": "string"},
    "taskName": {"type": "string"},
    "note": {"type": "string"},
    "resolvedModel": {"type": "string"},
    "resolvedProvider": {"type": "string"},
    "modelApplied": {"type": "boolean"},
    "attachments": {"type": "object"},
    "error": {"type": "string"},
    "role": {"type": "string"}
  },
  "required": ["status"]
}`

const maxAttachments = 50

// SessionsSpawn starts a session that works on a task in the background and tells the result when it has ended
// (spec/session-tools.md, section 5).
func SessionsSpawn(runs Runs) Tool {
	return Tool{
		Name: SessionsSpawnName,
		Description: "Starts a sub-agent that works on a task in a session of its own, and answers at once. Its result is sent to " +
			"this session when it has ended; there is no need to ask for it.",
		Parameters: jsontext.Value(sessionsSpawnParameters),
		Result:     jsontext.Value(sessionsSpawnResult),
		Run: func(ctx context.Context, c Caller, a Arguments) (Result, error) {
			caller, err := runCaller(c)
			if err != nil {
				return Result{}, err
			}
			request, err := readSpawn(a)
			if err != nil {
				return Result{}, err
			}
			answer, err := runs.Spawn(ctx, caller, request)
			if err != nil {
				return Result{}, err
			}
			return result(answer)
		},
	}
}

func readSpawn(a Arguments) (agentrun.SpawnRequest, error) {
	p := &parameters{a: a}
	r := agentrun.SpawnRequest{
		Task: p.required("task"), TaskName: p.text("taskName"), Label: p.text("label"), ACP: p.text("runtime") == "acp", AgentID: p.text("agentId"),
		Model: p.text("model"), Thinking: p.text("thinking"), Cwd: p.text("cwd"), Thread: p.yes("thread"), Mode: p.oneOf("mode", "run", "session"),
		DeleteAfter: p.text("cleanup") == "delete", RequireSandbox: p.text("sandbox") == "require", Context: p.oneOf("context", "isolated", "fork"),
		Light: p.yes("lightContext"), ResumeSessionID: p.text("resumeSessionId"), IdempotencyKey: p.text("idempotencyKey"),
	}
	for _, name := range []string{"target", "transport", "channel", "to", "threadId", "thread_id", "replyTo", "reply_to"} {
		if _, ok := a.given(name); ok {
			p.fail("%s is not for sessions_spawn, which delivers nothing: use sessions_send to reach another session, and the tools for "+
				"messages to reach a channel", name)
		}
	}
	for _, name := range []string{"runTimeoutSeconds", "timeoutSeconds"} {
		if _, ok := p.find(name); ok {
			p.fail("%s is not for sessions_spawn: the limit of a run is set in the configuration, agents.defaults.subagents.runTimeoutSeconds", name)
		}
	}
	p.atMost("label", r.Label, maxLabel)
	r.Attachments = p.attachments()
	if as, ok := p.find("attachAs"); ok {
		if members, ok := ParseArguments(as); ok {
			inner := parameters{a: members}
			r.MountPath = safePath(inner.text("mountPath"))
		}
	}
	return r, p.err
}

// safePath is a path that can be shown to a model as it is, or "" (spec/session-tools.md, 5.1).
func safePath(path string) string {
	unsafe := func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/@~", r)
	}
	if strings.ContainsFunc(path, unsafe) || slices.Contains(strings.Split(path, "/"), "..") {
		return ""
	}
	return path
}

// attachments reads the files for a child. Names and contents are judged where the limits are known.
func (p *parameters) attachments() (files []agentrun.Attachment) {
	value, ok := p.find("attachments")
	if !ok {
		return nil
	}
	items := listItems(value)
	if value.Kind() != '[' {
		p.fail("attachments must be a list")
		return nil
	}
	if len(items) > maxAttachments {
		p.fail("attachments: at most %d files", maxAttachments)
		return nil
	}
	for _, item := range items {
		members, ok := ParseArguments(item)
		if !ok {
			p.fail("attachments: each must be an object with name and content")
			return nil
		}
		file := agentrun.Attachment{}
		name, _ := members.text("name")
		content, ok := members.text("content")
		if !ok {
			p.fail("attachments: each must have content as text")
			return nil
		}
		encoding, _ := members.text("encoding")
		file.Name, file.Content, file.Base64 = name, content, strings.TrimSpace(encoding) == "base64"
		files = append(files, file)
	}
	return files
}

// Package agenttool holds the tools that agents call: what they are named, what they take, who may call them, and what
// they do. It knows no wire: HTTP, MCP and programs that link the library all go through one [Runner].
//
//	tools := agenttool.New([]agenttool.Tool{agenttool.SessionState(entries)}, agenttool.Options{})
//	result, err := tools.Call(ctx, agenttool.Caller{Account: "default", SessionKey: &key}, "session_state", arguments)
//
// A call passes two layers (spec/kv-tool.md, section 1). The runner takes the arguments as they came, puts the session into
// them, and refuses what the tool's schema requires and does not find, all faults in one message
// (tool_arguments_invalid). The tool takes arguments that hold their session already, stops at the first fault, and throws
// it as tool_error; who calls [Tool.Run] directly meets the tool's rules alone. A tool that [Policy] takes away from a
// session is not there (tool_not_found).
//
// A [Runner] is safe for concurrent use.
package agenttool

package agenttool

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sessile-dev/sessile"
)

// Options tell how a runner behaves.
type Options struct {
	// Policy decides which tools a session has; the zero value lets everything through.
	Policy Policy
	// Normalize gives a session key the form in which it is stored; default: as it is.
	Normalize func(key string) string
	// BeforeCall may replace the arguments of a call, which then are checked again as they are: the session is not put
	// into them a second time. Returning nil keeps them. Default: nothing is replaced.
	BeforeCall func(ctx context.Context, c Caller, tool string, a Arguments) Arguments
}

// Runner runs tools. It is safe for concurrent use.
type Runner struct {
	tools   []Tool // by name
	options Options
}

// New makes a runner of tools with distinct names. It does no IO.
func New(tools []Tool, o Options) *Runner {
	if o.Normalize == nil {
		o.Normalize = func(key string) string { return key }
	}
	r := &Runner{options: o}
	r.Add(tools...)
	return r
}

// Add gives a runner more tools, which may themselves lead to calls of it. It belongs to the wiring: nothing may call the
// runner before or at the same time.
func (r *Runner) Add(tools ...Tool) {
	r.tools = append(slices.Clone(r.tools), tools...)
	slices.SortFunc(r.tools, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
}

// Faults are the details of tool_arguments_invalid. Both lists are always there. A mismatch is a parameter, the type
// expected and the type given.
type Faults struct {
	Missing  []string    `json:"missing"`
	Mismatch [][3]string `json:"mismatch"`
}

// Tools lists what a caller may call, by name.
func (r *Runner) Tools(c Caller) []Tool {
	c = r.normalized(c)
	permit := r.options.Policy.For(c)
	var allowed []Tool
	for _, t := range r.tools {
		if permit.Refuses(t.Name) == "" {
			allowed = append(allowed, t)
		}
	}
	return allowed
}

// Lacking names the tools that a caller may not call, by name.
func (r *Runner) Lacking(c Caller) (names []string) {
	permit := r.options.Policy.For(r.normalized(c))
	for _, t := range r.tools {
		if permit.Refuses(t.Name) != "" {
			names = append(names, t.Name)
		}
	}
	return names
}

func (r *Runner) normalized(c Caller) Caller {
	if c.SessionKey != nil {
		key := r.options.Normalize(*c.SessionKey)
		c.SessionKey = &key
	}
	return c
}

// Call runs a tool with the text of its arguments; none at all is an empty object. Codes: tool_not_found,
// tool_arguments_invalid with [Faults], tool_error, server_busy.
func (r *Runner) Call(ctx context.Context, c Caller, name string, arguments []byte) (Result, error) {
	c = r.normalized(c)
	t, ok := r.find(c, name)
	if !ok {
		return Result{}, sessile.Errorf(sessile.CodeToolNotFound, "there is no such tool")
	}
	a, ok := ParseArguments(arguments)
	if !ok {
		a = Arguments{}
		if faults := t.check(a); faults != nil {
			return Result{}, t.refuse(faults, "the arguments are no JSON object", arguments)
		}
	}
	delete(a, sessionArgument)
	if c.SessionKey != nil {
		a.set(sessionArgument, *c.SessionKey)
	}
	if faults := t.check(a); faults != nil {
		return Result{}, t.refuse(faults, "", arguments)
	}
	if r.options.BeforeCall != nil {
		if replaced := r.options.BeforeCall(ctx, c, t.Name, a); replaced != nil {
			a = replaced
			if faults := t.check(a); faults != nil {
				return Result{}, t.refuse(faults, "", nil) // what replaced them is not the caller's
			}
		}
	}
	result, err := t.Run(ctx, c, a)
	return result, thrown(err)
}

// find looks a tool up as models name it: in blanks or quotes, with the prefix functions_ or a number behind it.
func (r *Runner) find(c Caller, name string) (Tool, bool) {
	permit := r.options.Policy.For(c)
	for _, candidate := range []string{name, cleanName(name)} {
		at, ok := slices.BinarySearchFunc(r.tools, candidate, func(t Tool, name string) int { return strings.Compare(t.Name, name) })
		if ok && permit.Refuses(candidate) == "" {
			return r.tools[at], true
		}
	}
	return Tool{}, false
}

func cleanName(name string) string {
	name = strings.TrimSpace(name)
	for _, quote := range []string{`"`, `'`, "`"} {
		if len(name) > 1 && strings.HasPrefix(name, quote) && strings.HasSuffix(name, quote) {
			name = name[1 : len(name)-1]
			break
		}
	}
	name = strings.TrimPrefix(strings.TrimSpace(name), "functions_")
	if at := strings.LastIndexByte(name, '_'); at > 0 && at < len(name)-1 && strings.Trim(name[at+1:], "0123456789") == "" {
		name = name[:at]
	}
	return name
}

// check looks at required parameters and at types; nil when all is well.
func (t *Tool) check(a Arguments) *Faults {
	f := Faults{Missing: []string{}, Mismatch: [][3]string{}}
	for _, name := range t.Required {
		if _, ok := a.given(name); !ok {
			f.Missing = append(f.Missing, name)
		}
	}
	for _, name := range sortedNames(t.Types) {
		if value, ok := a.given(name); ok && !a.fits(name, t.Types[name]) {
			f.Mismatch = append(f.Mismatch, [3]string{name, t.Types[name], typeOf(value)})
		}
	}
	if len(f.Missing)+len(f.Mismatch) == 0 {
		return nil
	}
	return &f
}

func sortedNames(types map[string]string) []string {
	names := make([]string, 0, len(types))
	for name := range types {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// repeatedArguments bounds how much of its arguments a refused call gets to see again.
const repeatedArguments = 1000

// refuse says all that is wrong with the arguments and repeats them as they came, without what the runner put in
// (spec/kv-tool.md, section 6).
func (t *Tool) refuse(f *Faults, why string, arguments []byte) error {
	var parts []string
	if why != "" {
		parts = append(parts, why)
	}
	if len(f.Missing) > 0 {
		parts = append(parts, "missing: "+strings.Join(f.Missing, ", "))
	}
	for _, m := range f.Mismatch {
		parts = append(parts, m[0]+" must be of type "+m[1]+", not "+m[2])
	}
	message := t.Name + " was not run: " + strings.Join(parts, "; ") + "."
	if len(arguments) > 0 {
		shown := strings.ToValidUTF8(string(arguments[:min(len(arguments), repeatedArguments)]), "\ufffd")
		if len(arguments) > repeatedArguments {
			shown += "…"
		}
		message += " It was called with " + shown + "."
	}
	err := sessile.Errorf(sessile.CodeToolArgumentsInvalid,
		"%s Do not send the same arguments again; ask the user if you do not know what to send.", message)
	err.Details = f
	return err
}

// thrown gives an error of a tool the code that callers know. What is busy or broken stays what it is.
func thrown(err error) error {
	switch code := sessile.CodeOf(err); code {
	case "", sessile.CodeInternal, sessile.CodeServerBusy, sessile.CodeToolError, sessile.CodeToolArgumentsInvalid:
		return err
	}
	refused, _ := errors.AsType[*sessile.Error](err)
	return &sessile.Error{Code: sessile.CodeToolError, Message: refused.Message, Details: refused.Details, Cause: err}
}

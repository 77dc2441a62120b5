package archtest

// module is the import path of the root package.
const module = "github.com/sessile-dev/sessile"

// rule is what a package may import of the project, without its tests. Paths are relative to the module; "." is the
// root package.
type rule struct {
	imports  []string
	anything bool // the wiring: may import every package but another command

	// pure packages do no IO of their own: no HTTP, no SQL, no files, no processes.
	pure bool
	// external, when not nil, lists all modules outside the standard library that the package may import.
	external []string
}

// imports are the arrows of the design, section 3 "Structure": every package of the module stands here, and nothing
// that does not exist.
func imports() map[string]rule {
	return map[string]rule{
		// The nouns and the ports.
		".":     {pure: true, external: []string{"github.com/go-json-experiment/json"}},
		"model": {pure: true},

		// Pure rules of their own: nothing of ours, or the root.
		"lorebook":   {pure: true, imports: []string{"."}, external: []string{"github.com/go-json-experiment/json"}},
		"transcript": {pure: true, imports: []string{"."}, external: []string{"github.com/go-json-experiment/json"}},

		"pisession": {pure: true, external: []string{}},

		// The use cases: they know no driver, no HTTP and no command.
		"state":     {pure: true, imports: []string{"."}},
		"changelog": {pure: true, imports: []string{"."}},
		"session":   {pure: true, imports: []string{".", "changelog", "state", "transcript"}},
		"turn":      {pure: true, imports: []string{".", "changelog", "lorebook", "model", "session", "state", "transcript"}},

		// Agents that run one another: use cases over turns.
		"agentrun": {imports: []string{".", "changelog", "model", "session", "transcript", "turn"}},

		// The agents' tools: handlers over the use cases.
		"agenttool": {pure: true, imports: []string{".", "agentrun", "changelog", "model", "session", "state", "transcript", "turn"}},

		// The drivers: the root, and nothing that decides.
		"sqlite":              {imports: []string{".", "internal/sqliteconn"}},
		"internal/sqliteconn": {},
		"storetest":           {imports: []string{"."}},

		// The stand-alone store of extensions: who uses it links no server.
		"extstate": {imports: []string{"internal/sqliteconn"}, external: []string{"github.com/go-json-experiment/json"}},

		// The models.
		"model/echo":   {pure: true, imports: []string{"model"}},
		"model/openai": {imports: []string{"model"}},

		// The contract of the outside, and the outside.
		"api":       {pure: true, external: []string{"github.com/go-json-experiment/json", "github.com/goccy/go-yaml"}},
		"auth":      {imports: []string{"."}},
		"httpapi":   {imports: []string{".", "agentrun", "agenttool", "api", "auth", "changelog", "lorebook", "model", "session", "state", "turn"}},
		"mcpserver": {imports: []string{".", "agenttool", "state"}},
		"config":    {imports: []string{"."}},
		"client":    {imports: []string{"."}, external: []string{"github.com/go-json-experiment/json"}},

		// The wiring.
		"cmd/sessile": {anything: true},
		"bench":       {anything: true},

		// For tests only.
		"internal/kvcases":    {imports: []string{".", "agenttool", "session", "sqlite", "state"}},
		"internal/apitest":    {imports: []string{".", "api"}},
		"internal/archtest":   {},
		"internal/statemodel": {},
	}
}

// impure are the packages of the standard library that a pure package does without.
func impure() []string {
	return []string{"database/sql", "net", "net/http", "os", "os/exec", "syscall"}
}

// vague are the package names that say nothing about what a package is about.
func vague() []string {
	return []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc"}
}

// maxLines is the length of a file at which it holds more than one concept. The style asks for about 500; beyond this
// the test does not argue.
const maxLines = 600

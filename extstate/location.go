package extstate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Place says whose settings tell where the state file is (section 9).
type Place struct {
	// ProjectDir is the directory in which the agent works; "" when there is none.
	ProjectDir string
	// ProjectTrusted lets the project's settings count. Without it they are not even opened.
	ProjectTrusted bool
	// AgentDir holds the user's settings and sessions; default PI_CODING_AGENT_DIR, else .pi/agent in the home directory.
	AgentDir string
	// HomeDir is what ~ stands for; default that of the user.
	HomeDir string
}

// Source is where a path comes from.
type Source string

// The sources of [Resolve], in the order in which they count.
const (
	SourceProject Source = "project"
	SourceUser    Source = "user"
	SourceDefault Source = "default"
)

// Verdict is what was found in a settings file.
type Verdict string

// The verdicts on the setting sessionState.databasePath.
const (
	VerdictUsable      Verdict = "usable"
	VerdictUnset       Verdict = "unset"
	VerdictMalformed   Verdict = "malformed"   // the file is not strict JSON
	VerdictInvalid     Verdict = "invalid"     // not a text, or an empty one
	VerdictUnsupported Verdict = "unsupported" // ~name
)

// Resolution is where the state file is, and why.
type Resolution struct {
	Path   string
	Source Source
	// Verdict is that of the setting which counts: usable, or why the default is used. SettingsFile is the file it was found
	// in, "" when no file sets anything.
	Verdict      Verdict
	SettingsFile string
}

// Setting is the name of the setting.
const Setting = "sessionState.databasePath"

// Notice is the warning about a setting that could not be used; "" when there is nothing to warn of.
func (r Resolution) Notice() string {
	wrong := ""
	switch r.Verdict {
	case VerdictMalformed:
		wrong = "is not valid JSON"
	case VerdictInvalid:
		wrong = Setting + " is not a path"
	case VerdictUnsupported:
		wrong = Setting + " begins with the home directory of another user, which is not supported"
	default:
		return ""
	}
	return fmt.Sprintf("session-state: %s: %s; using %s", r.SettingsFile, wrong, r.Path)
}

// Resolve finds the state file: the project's setting if it is trusted, else the user's, else states.sqlite beside the
// agent's sessions. It fails only when no home directory is known and one is needed.
func Resolve(place Place) (Resolution, error) {
	agentDir, err := place.agentDir()
	if err != nil {
		return Resolution{}, err
	}
	project := setting{verdict: VerdictUnset}
	if place.ProjectTrusted && place.ProjectDir != "" {
		if project, err = place.read(filepath.Join(place.ProjectDir, ".pi")); err != nil {
			return Resolution{}, err
		}
	}
	if project.verdict == VerdictUsable {
		return project.resolution(SourceProject), nil
	}
	user, err := place.read(agentDir)
	if err != nil {
		return Resolution{}, err
	}
	if user.verdict == VerdictUsable {
		return user.resolution(SourceUser), nil
	}
	worst := project
	if project.verdict == VerdictUnset {
		worst = user
	}
	if worst.verdict == VerdictUnset {
		worst.file = ""
	}
	worst.path = filepath.Join(agentDir, "sessions", "states.sqlite")
	return worst.resolution(SourceDefault), nil
}

func (p Place) home() (string, error) {
	if p.HomeDir != "" {
		return p.HomeDir, nil
	}
	return os.UserHomeDir()
}

func (p Place) agentDir() (string, error) {
	dir := p.AgentDir
	if dir == "" {
		dir = os.Getenv("PI_CODING_AGENT_DIR")
	}
	if dir == "" {
		dir = "~/.pi/agent"
	}
	if dir == "~" || strings.HasPrefix(dir, "~/") {
		home, err := p.home()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(home, dir[1:])
	}
	return filepath.Abs(dir)
}

// setting is what one settings file says.
type setting struct {
	file, path string
	verdict    Verdict
}

func (s setting) resolution(source Source) Resolution {
	return Resolution{Path: s.path, Source: source, Verdict: s.verdict, SettingsFile: s.file}
}

// read reads settings.json of a directory, to which relative paths are joined.
func (p Place) read(dir string) (setting, error) {
	found := setting{file: filepath.Join(dir, "settings.json"), verdict: VerdictUnset}
	text, err := os.ReadFile(found.file)
	if err != nil {
		return found, nil //nolint:nilerr // a file that cannot be read sets nothing
	}
	var path string
	path, found.verdict = readSetting(text)
	if found.verdict != VerdictUsable {
		return found, nil
	}
	switch {
	case strings.HasPrefix(path, "~"):
		home, err := p.home()
		if err != nil {
			return found, fmt.Errorf("%s of %s: %w", Setting, found.file, err)
		}
		path = filepath.Join(home, path[1:])
	case !filepath.IsAbs(path):
		path = filepath.Join(dir, path)
	}
	found.path = path
	return found, nil
}

// readSetting finds the path in the text of a settings file, as it stands there.
func readSetting(text []byte) (path string, verdict Verdict) {
	if checkJSON(text) != nil {
		return "", VerdictMalformed
	}
	section, _ := member(text, "sessionState")
	value, set := member(section, "databasePath")
	switch {
	case !set:
		return "", VerdictUnset
	case json.Unmarshal(value, &path, readAll) != nil || path == "" || value.Kind() != '"':
		return "", VerdictInvalid
	case strings.HasPrefix(path, "~") && path != "~" && !strings.HasPrefix(path, "~/"):
		return "", VerdictUnsupported
	}
	return path, VerdictUsable
}

// member is a member of an object, the last one of its name; set is false when there is none or it is no object.
func member(object jsontext.Value, name string) (value jsontext.Value, set bool) {
	if object.Kind() != '{' {
		return nil, false
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(object, &members, readAll) != nil {
		return nil, false
	}
	value, set = members[name]
	return value, set
}

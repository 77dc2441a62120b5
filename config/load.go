package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Inputs are the places that [Load] looks at.
type Inputs struct {
	// Flags holds the flags that were given, by name without dashes.
	Flags map[string]string
	// LookupEnv reads the environment; default os.LookupEnv. A variable that is empty counts as not set.
	LookupEnv func(string) (string, bool)
	// ReadFile reads the configuration file; default os.ReadFile.
	ReadFile func(string) ([]byte, error)
	// DataDir finds the directory of the default database; default [DataDir].
	DataDir func() (string, error)
}

// Loaded is a configuration together with where each value came from.
type Loaded struct {
	Config
	File    string // the file that was read, "" for none
	sources map[string]string
}

// Value is a setting in force.
type Value struct {
	Setting
	Value  string // a secret only tells that it is set
	Source string
}

// SourceDefault is the source of a value that nobody set. Other sources are written as a person would: "--listen",
// "SESSILE_LISTEN" or "sessile.yaml:3".
const SourceDefault = "default"

// Error is a setting that cannot be used as it is.
type Error struct {
	Setting string // file key, or the name of the flag where there is none
	Source  string
	Problem string
}

// Error names the setting, its source and what is allowed.
func (e *Error) Error() string {
	if e.Setting == "" {
		return fmt.Sprintf("configuration (%s): %s", e.Source, e.Problem)
	}
	return fmt.Sprintf("setting %s (%s): %s", e.Setting, e.Source, e.Problem)
}

// Load reads all settings and checks them. Everything that is wrong comes back at once: the error joins one [Error]
// per problem. No message holds the value of a secret, or a URL with a user or a query.
func Load(in Inputs) (*Loaded, error) {
	in = in.withDefaults()
	loaded := &Loaded{sources: map[string]string{}}
	fromFile, err := loaded.readFile(in)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, s := range settings() {
		if s.parse == nil {
			continue
		}
		text, source, found := s.find(in, fromFile)
		loaded.sources[s.Key] = source
		if !found {
			continue
		}
		if err := s.parse(&loaded.Config, text); err != nil {
			problems = append(problems, &Error{Setting: s.Key, Source: source, Problem: s.problem(text, err)})
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	if err := loaded.complete(in); err != nil {
		return nil, err
	}
	return loaded, nil
}

func (in Inputs) withDefaults() Inputs {
	if in.LookupEnv == nil {
		in.LookupEnv = os.LookupEnv
	}
	if in.ReadFile == nil {
		in.ReadFile = os.ReadFile
	}
	if in.DataDir == nil {
		in.DataDir = DataDir
	}
	return in
}

// find returns the text of a setting from the place that counts; found is false when there is not even a default.
func (s setting) find(in Inputs, file map[string]entry) (text, source string, found bool) {
	if text, ok := in.Flags[s.Flag]; ok {
		return text, "--" + s.Flag, true
	}
	if text, ok := in.LookupEnv(s.Env); ok && text != "" {
		return text, s.Env, true
	}
	if e, ok := file[s.Key]; ok {
		return e.text, e.source, true
	}
	return s.Default, SourceDefault, s.Default != ""
}

func (s setting) problem(text string, err error) string {
	if s.Secret {
		return err.Error()
	}
	if mayHoldCredentials(text) {
		return "the value cannot be used: " + err.Error()
	}
	return fmt.Sprintf("%q cannot be used: %v", text, err)
}

// mayHoldCredentials tells whether a text could be a URL with a user, a query or a fragment. It looks for their marks
// alone, since what is refused may be no URL at all.
func mayHoldCredentials(text string) bool { return strings.ContainsAny(text, "@?#") }

// readFile reads the file that flags or environment name, if any.
func (l *Loaded) readFile(in Inputs) (map[string]entry, error) {
	s := setting{Setting: name(settingConfig, "", "")}
	path, source, found := s.find(in, nil)
	if !found {
		return nil, nil
	}
	data, err := in.ReadFile(path)
	if err != nil {
		return nil, &Error{Setting: s.Flag, Source: source, Problem: err.Error()}
	}
	entries, sections, err := parseFile(path, data)
	if err != nil {
		return nil, err
	}
	l.File, l.Sections = path, sections
	return entries, nil
}

// complete fills in what depends on other settings and checks what holds between them.
func (l *Loaded) complete(in Inputs) error {
	if l.Database == "" {
		dir, err := in.DataDir()
		if err != nil {
			return &Error{Setting: "db", Source: SourceDefault, Problem: err.Error() + "; name a database with --db"}
		}
		l.Database = filepath.Join(dir, "sessile.db")
	}
	l.Quotas.LimitBuiltIn = l.set("quota.itemsPerNamespace") || l.set("quota.bytesPerNamespace")
	secret := l.JWT.Secret.Reveal()
	if l.Auth.Mode == AuthJWT && secret == "" && l.JWT.KeysURL == "" {
		return &Error{
			Setting: "auth.mode", Source: l.Source("auth.mode"),
			Problem: "jwt needs SESSILE_JWT_SECRET or SESSILE_JWT_JWKS_URL",
		}
	}
	if secret != "" && len(secret) < minJWTSecret {
		return &Error{Setting: "jwt.secret", Source: l.Source("jwt.secret"), Problem: "allowed is a text of at least 32 bytes"}
	}
	if l.Model.Provider == ModelOpenAI && l.Model.Name == "" {
		return &Error{
			Setting: "model.provider", Source: l.Source("model.provider"),
			Problem: "openai needs the name of a model: set SESSILE_MODEL_NAME",
		}
	}
	return nil
}

func (l *Loaded) set(key string) bool { return l.sources[key] != SourceDefault }

// Source tells where the value of a setting, named by its file key, came from.
func (l *Loaded) Source(key string) string { return l.sources[key] }

// Values lists all settings in force, in the order of [Settings].
func (l *Loaded) Values() []Value {
	var list []Value
	for _, s := range settings() {
		v := Value{Setting: s.Setting}
		if s.show == nil {
			v.Value, v.Source = l.File, SourceDefault
			if l.File != "" {
				v.Source = "--" + s.Flag + " or " + s.Env
			}
		} else {
			v.Value, v.Source = s.show(&l.Config), l.sources[s.Key]
		}
		list = append(list, v)
	}
	return list
}

// DataDir is the directory for data of the current user's programs, with a directory of ours in it.
func DataDir() (string, error) { return dataDir(runtime.GOOS, os.Getenv, os.UserHomeDir) }

func dataDir(system string, getenv func(string) string, home func() (string, error)) (string, error) {
	variable, below := "XDG_DATA_HOME", []string{".local", "share"}
	ours := "sessile"
	switch system {
	case "darwin", "ios":
		variable, below, ours = "", []string{"Library", "Application Support"}, "Sessile"
	case "windows":
		variable, below, ours = "LOCALAPPDATA", []string{"AppData", "Local"}, "Sessile"
	}
	if variable != "" {
		// The directory standard asks to ignore relative paths.
		if dir := getenv(variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, ours), nil
		}
	}
	dir, err := home()
	if err != nil {
		return "", fmt.Errorf("no data directory: %w", err)
	}
	return filepath.Join(append(append([]string{dir}, below...), ours)...), nil
}

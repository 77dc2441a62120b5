package config_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/sessile-dev/sessile"
	"github.com/sessile-dev/sessile/config"
)

const fileName = "sessile.yaml"

// inputs builds the places that Load looks at; file "" means that none is named.
func inputs(flags, env map[string]string, file string) config.Inputs {
	if flags == nil {
		flags = map[string]string{}
	}
	if file != "" {
		flags["config"] = fileName
	}
	return config.Inputs{
		Flags: flags,
		LookupEnv: func(name string) (string, bool) {
			text, ok := env[name]
			return text, ok
		},
		ReadFile: func(name string) ([]byte, error) {
			if name != fileName {
				return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
			}
			return []byte(file), nil
		},
		DataDir: func() (string, error) { return filepath.FromSlash("/data"), nil },
	}
}

func TestSpellings(t *testing.T) {
	// The environment names are part of the contract: spec/governed-state.md, sections 7 and 8, and the design.
	want := [][3]string{
		{"listen", "listen", "SESSILE_LISTEN"},
		{"db", "db", "SESSILE_DB"},
		{"", "config", "SESSILE_CONFIG"},
		{"enableClientData", "enable-client-data", "SESSILE_ENABLE_CLIENT_DATA"},
		{"auth.mode", "auth-mode", "SESSILE_AUTH_MODE"},
		{"auth.insecure", "auth-insecure", "SESSILE_AUTH_INSECURE"},
		{"apiKeys", "api-keys", "SESSILE_API_KEYS"},
		{"jwt.secret", "jwt-secret", "SESSILE_JWT_SECRET"},
		{"jwt.jwksUrl", "jwt-jwks-url", "SESSILE_JWT_JWKS_URL"},
		{"jwt.accountClaim", "jwt-account-claim", "SESSILE_JWT_ACCOUNT_CLAIM"},
		{"model.provider", "model-provider", "SESSILE_MODEL_PROVIDER"},
		{"model.baseUrl", "model-base-url", "SESSILE_MODEL_BASE_URL"},
		{"model.name", "model-name", "SESSILE_MODEL_NAME"},
		{"model.apiKey", "model-api-key", "SESSILE_MODEL_API_KEY"},
		{"generationTimeout", "generation-timeout", "SESSILE_GENERATION_TIMEOUT"},
		{"generationMode", "generation-mode", "SESSILE_GENERATION_MODE"},
		{"generationQueueTimeout", "generation-queue-timeout", "SESSILE_GENERATION_QUEUE_TIMEOUT"},
		{"quota.namespacesPerAccount", "quota-namespaces-per-account", "SESSILE_QUOTA_NAMESPACES_PER_ACCOUNT"},
		{"quota.itemsPerNamespace", "quota-items-per-namespace", "SESSILE_QUOTA_ITEMS_PER_NAMESPACE"},
		{"quota.bytesPerNamespace", "quota-bytes-per-namespace", "SESSILE_QUOTA_BYTES_PER_NAMESPACE"},
		{"quota.itemsPerAccount", "quota-items-per-account", "SESSILE_QUOTA_ITEMS_PER_ACCOUNT"},
		{"quota.bytesPerAccount", "quota-bytes-per-account", "SESSILE_QUOTA_BYTES_PER_ACCOUNT"},
		{"quota.valueBytes", "quota-value-bytes", "SESSILE_QUOTA_VALUE_BYTES"},
		{"entries.valueBytes", "entries-value-bytes", "SESSILE_ENTRIES_VALUE_BYTES"},
		{"entries.nameBytes", "entries-name-bytes", "SESSILE_ENTRIES_NAME_BYTES"},
		{"entries.perSession", "entries-per-session", "SESSILE_ENTRIES_PER_SESSION"},
		{"entries.bytesPerSession", "entries-bytes-per-session", "SESSILE_ENTRIES_BYTES_PER_SESSION"},
		{"accessLog", "access-log", "SESSILE_ACCESS_LOG"},
		{"log.level", "log-level", "SESSILE_LOG_LEVEL"},
		{"log.format", "log-format", "SESSILE_LOG_FORMAT"},
		{"maxBodyBytes", "max-body-bytes", "SESSILE_MAX_BODY_BYTES"},
	}
	var got [][3]string
	for _, s := range config.Settings() {
		got = append(got, [3]string{s.Key, s.Flag, s.Env})
		if s.Meaning == "" {
			t.Errorf("setting %s has no meaning", s.Flag)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("spellings (-want +got):\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	loaded, err := config.Load(inputs(nil, nil, ""))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{
		Listen:            "127.0.0.1:7474",
		Database:          filepath.FromSlash("/data/sessile.db"),
		EnableClientData:  true,
		Auth:              config.Auth{Mode: config.AuthOff},
		Model:             config.Model{Provider: config.ModelEcho},
		JWT:               config.JWT{AccountClaim: "account_id"},
		GenerationTimeout: time.Minute,
		GenerationMode:    config.GenerationReject, GenerationQueueTimeout: 5 * time.Second,
		Quotas:       sessile.DefaultQuotas(),
		Entries:      sessile.DefaultEntryLimits(),
		Log:          config.Log{Level: slog.LevelInfo, Format: config.LogAuto},
		MaxBodyBytes: 4194304,
	}
	if diff := cmp.Diff(want, loaded.Config, cmp.Comparer(sameSecret)); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	for _, v := range loaded.Values() {
		if v.Source != config.SourceDefault {
			t.Errorf("source of %s is %s", v.Flag, v.Source)
		}
	}
}

func sameSecret(a, b config.Secret) bool { return a.Reveal() == b.Reveal() }

func TestPrecedence(t *testing.T) {
	const file = "listen: 127.0.0.1:3\nquota:\n  valueBytes: 3\n"
	env := map[string]string{"SESSILE_LISTEN": "127.0.0.1:2", "SESSILE_QUOTA_VALUE_BYTES": "2"}
	flags := map[string]string{"listen": "127.0.0.1:1", "quota-value-bytes": "1"}
	tests := []struct {
		name         string
		flags, env   map[string]string
		file         string
		listen       string
		valueBytes   int64
		listenSource string
		bytesSource  string
	}{
		{"default", nil, nil, "", "127.0.0.1:7474", 1 << 20, "default", "default"},
		{"file", nil, nil, file, "127.0.0.1:3", 3, "sessile.yaml:1", "sessile.yaml:3"},
		{"environment", nil, env, file, "127.0.0.1:2", 2, "SESSILE_LISTEN", "SESSILE_QUOTA_VALUE_BYTES"},
		{"flags", flags, env, file, "127.0.0.1:1", 1, "--listen", "--quota-value-bytes"},
		{"an empty variable is not set", nil, map[string]string{"SESSILE_LISTEN": ""}, file, "127.0.0.1:3", 3, "sessile.yaml:1", "sessile.yaml:3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			loaded, err := config.Load(inputs(test.flags, test.env, test.file))
			if err != nil {
				t.Fatal(err)
			}
			if loaded.Listen != test.listen || loaded.Source("listen") != test.listenSource {
				t.Errorf("listen is %s from %s, want %s from %s", loaded.Listen, loaded.Source("listen"), test.listen, test.listenSource)
			}
			if got := loaded.Quotas.ValueBytes; got != test.valueBytes || loaded.Source("quota.valueBytes") != test.bytesSource {
				t.Errorf("quota.valueBytes is %d from %s, want %d from %s", got, loaded.Source("quota.valueBytes"), test.valueBytes, test.bytesSource)
			}
		})
	}
}

func TestFileNamedByTheEnvironment(t *testing.T) {
	in := inputs(nil, map[string]string{"SESSILE_CONFIG": fileName}, "")
	in.ReadFile = func(string) ([]byte, error) { return []byte("accessLog: true"), nil }
	loaded, err := config.Load(in)
	if err != nil {
		t.Fatal(err)
	}
	if !loaded.AccessLog || loaded.File != fileName {
		t.Errorf("accessLog is %v, file %q", loaded.AccessLog, loaded.File)
	}
}

func TestLimitBuiltIn(t *testing.T) {
	tests := []struct {
		name string
		env  map[string]string
		want bool
	}{
		{"by default", nil, false},
		{"other limits", map[string]string{"SESSILE_QUOTA_ITEMS_PER_ACCOUNT": "5"}, false},
		{"items", map[string]string{"SESSILE_QUOTA_ITEMS_PER_NAMESPACE": "10000"}, true},
		{"bytes", map[string]string{"SESSILE_QUOTA_BYTES_PER_NAMESPACE": "10485760"}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			loaded, err := config.Load(inputs(nil, test.env, ""))
			if err != nil {
				t.Fatal(err)
			}
			if loaded.Quotas.LimitBuiltIn != test.want {
				t.Errorf("LimitBuiltIn is %v, want %v", loaded.Quotas.LimitBuiltIn, test.want)
			}
		})
	}
}

func TestFile(t *testing.T) {
	const file = `# what a person would write
listen: "127.0.0.1:9000"
db: sqlite:/var/lib/sessile/state.db
enableClientData: false
auth:
  mode: api_key
  insecure: true
apiKeys: "one:alice,two:bob"
model:
  provider: openai
  baseUrl: http://127.0.0.1:11434/v1
  name: small
  apiKey: sesame
generationTimeout: 90s
quota:
  namespacesPerAccount: 1
  itemsPerNamespace: 2
  bytesPerNamespace: 3
  itemsPerAccount: 4
  bytesPerAccount: 5
  valueBytes: 6
accessLog: true
log:
  level: warn
  format: json
maxBodyBytes: 8388608
agents:
  - id: main
    model: small
tools: {allow: [session_state]}
session:
delivery:
  url: http://127.0.0.1/hook
`
	loaded, err := config.Load(inputs(nil, nil, file))
	if err != nil {
		t.Fatal(err)
	}
	got := loaded.Config
	sections := got.Sections
	got.Sections = nil
	want := config.Config{
		Listen: "127.0.0.1:9000", Database: "sqlite:/var/lib/sessile/state.db",
		Auth: config.Auth{Mode: config.AuthAPIKey, Insecure: true, APIKeys: config.NewSecret("one:alice,two:bob")},
		Model: config.Model{
			Provider: config.ModelOpenAI, BaseURL: "http://127.0.0.1:11434/v1", Name: "small", APIKey: config.NewSecret("sesame"),
		},
		JWT:               config.JWT{AccountClaim: "account_id"},
		GenerationTimeout: 90 * time.Second,
		GenerationMode:    config.GenerationReject, GenerationQueueTimeout: 5 * time.Second,
		Entries: sessile.DefaultEntryLimits(),
		Quotas: sessile.Quotas{
			NamespacesPerAccount: 1, ItemsPerNamespace: 2, BytesPerNamespace: 3, ItemsPerAccount: 4, BytesPerAccount: 5,
			ValueBytes: 6, LimitBuiltIn: true,
		},
		AccessLog: true, Log: config.Log{Level: slog.LevelWarn, Format: config.LogJSON}, MaxBodyBytes: 8388608,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(sameSecret)); diff != "" {
		t.Errorf("configuration (-want +got):\n%s", diff)
	}
	for key, part := range map[string]string{"agents": "model: small", "tools": "session_state", "session": "", "delivery": "hook"} {
		text, ok := sections[key]
		if !ok || !strings.Contains(string(text), part) {
			t.Errorf("section %s is %q", key, text)
		}
	}
	var agents []map[string]string
	if err := yaml.Unmarshal(sections["agents"], &agents); err != nil || len(agents) != 1 || agents[0]["id"] != "main" {
		t.Errorf("agents read again are %v, %v", agents, err)
	}
}

func TestFileIsJSONToo(t *testing.T) {
	loaded, err := config.Load(inputs(nil, nil, `{"listen": "127.0.0.1:1", "log": {"level": "debug"}, "agents": {"list": [{"id": "a"}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	if loaded.Listen != "127.0.0.1:1" || loaded.Log.Level != slog.LevelDebug {
		t.Errorf("listen %s, level %v", loaded.Listen, loaded.Log.Level)
	}
	var agents map[string][]map[string]string
	if err := yaml.Unmarshal(loaded.Sections["agents"], &agents); err != nil || agents["list"][0]["id"] != "a" {
		t.Errorf("agents read again are %v, %v", agents, err)
	}
}

func TestProblems(t *testing.T) {
	tests := []struct {
		name  string
		flags map[string]string
		env   map[string]string
		file  string
		want  []string // all stand in the message
	}{
		{"listen", map[string]string{"listen": "7474"}, nil, "", []string{"setting listen (--listen)", `"7474"`, "host:port"}},
		{"port name", map[string]string{"listen": "127.0.0.1:http"}, nil, "", []string{"number from 0 to 65535"}},
		{"postgres", nil, map[string]string{"SESSILE_DB": "postgres://u@h/d"}, "", []string{"setting db (SESSILE_DB)", "not built yet"}},
		{"jwt", nil, map[string]string{"SESSILE_AUTH_MODE": "jwt"}, "", []string{"SESSILE_AUTH_MODE", "SESSILE_JWT_SECRET", "SESSILE_JWT_JWKS_URL"}},
		{"short secret", nil, map[string]string{"SESSILE_JWT_SECRET": "too short"}, "", []string{"jwt.secret", "32 bytes"}},
		{"mode", nil, map[string]string{"SESSILE_AUTH_MODE": "basic"}, "", []string{`"basic"`, "off, api_key or jwt"}},
		{"no model", nil, map[string]string{"SESSILE_MODEL_PROVIDER": "openai"}, "", []string{"SESSILE_MODEL_NAME"}},
		{"provider", nil, map[string]string{"SESSILE_MODEL_PROVIDER": "other"}, "", []string{"echo or openai"}},
		{"base URL", nil, map[string]string{"SESSILE_MODEL_BASE_URL": "localhost:1234"}, "", []string{"http or https URL"}},
		{"timeout", nil, map[string]string{"SESSILE_GENERATION_TIMEOUT": "60"}, "", []string{"generationTimeout", "with a unit"}},
		{"zero timeout", nil, map[string]string{"SESSILE_GENERATION_TIMEOUT": "0s"}, "", []string{"above zero"}},
		{"quota", nil, map[string]string{"SESSILE_QUOTA_VALUE_BYTES": "-1"}, "", []string{"quota.valueBytes", "from 1 up"}},
		{"switch", nil, map[string]string{"SESSILE_ENABLE_CLIENT_DATA": "yes"}, "", []string{"enableClientData", "true or false"}},
		{"level", nil, map[string]string{"SESSILE_LOG_LEVEL": "loud"}, "", []string{"debug, info, warn or error"}},
		{"format", nil, map[string]string{"SESSILE_LOG_FORMAT": "xml"}, "", []string{"auto, text or json"}},
		{"missing file", map[string]string{"config": "nowhere.yaml"}, nil, "", []string{"setting config (--config)", "nowhere.yaml"}},
		{"unknown key", nil, nil, "listen: 127.0.0.1:1\nlisten2: x\n", []string{"listen2", "sessile.yaml:2", "no such setting"}},
		{"unknown key in a group", nil, nil, "quota:\n  valuebytes: 1\n", []string{"quota.valuebytes", "sessile.yaml:2"}},
		{"the file cannot name a file", nil, nil, "config: other.yaml\n", []string{"setting config", "no such setting"}},
		{"repeated key", nil, nil, "listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", []string{"already defined"}},
		{"repeated key in a group", nil, nil, "log:\n  level: info\n  level: warn\n", []string{"already defined"}},
		{"list for a text", nil, nil, "listen: [a]\n", []string{"setting listen (sessile.yaml:1)", "one text"}},
		{"nothing for a text", nil, nil, "listen:\n", []string{"setting listen", "one text"}},
		{"text for a group", nil, nil, "quota: 5\n", []string{"setting quota", "mapping"}},
		{"list at the top", nil, nil, "- a\n", []string{"mapping"}},
		{"number from a file", nil, nil, "maxBodyBytes: 1.5\n", []string{"maxBodyBytes (sessile.yaml:1)", `"1.5"`}},
		{"several documents", nil, nil, "accessLog: true\n---\naccessLog: false\n", []string{"one YAML document"}},
		{"not YAML", nil, nil, "a: [", []string{"sessile.yaml"}},
		{"several problems", map[string]string{"listen": "x", "log-level": "y"}, nil, "", []string{"setting listen", "setting log.level"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := config.Load(inputs(test.flags, test.env, test.file))
			if err == nil {
				t.Fatal("no error")
			}
			if _, ok := errors.AsType[*config.Error](err); !ok {
				t.Errorf("the error is a %T", err)
			}
			for _, part := range test.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("message %q lacks %q", err, part)
				}
			}
		})
	}
}

func TestSecretsStaySecret(t *testing.T) {
	const hidden = "xyzzy"
	env := map[string]string{"SESSILE_API_KEYS": hidden + ":alice", "SESSILE_MODEL_API_KEY": hidden}
	loaded, err := config.Load(inputs(nil, env, ""))
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("start", "config", loaded.Config, "key", loaded.Model.APIKey)
	shown := []string{
		log.String(),
		fmt.Sprintf("%v %+v %#v %s", loaded.Config, loaded.Config, loaded.Config, loaded.Auth.APIKeys),
		fmt.Sprint(loaded.Values()),
	}
	for _, text := range shown {
		if strings.Contains(text, hidden) {
			t.Errorf("a secret is shown: %s", text)
		}
	}
	if loaded.Model.APIKey.Reveal() != hidden {
		t.Error("the secret is lost")
	}

	_, err = config.Load(inputs(nil, nil, "model:\n  apiKey: ["+hidden+"]\n"))
	if err == nil || strings.Contains(err.Error(), hidden) {
		t.Errorf("the error is %v", err)
	}
	_, err = config.Load(inputs(nil, nil, "model:\n  apiKey: "+hidden+"\n  apiKey: \""+hidden+"\n"))
	if err == nil || strings.Contains(err.Error(), hidden) {
		t.Errorf("the error is %v", err)
	}
}

// A URL that is refused may hold a password or a key, even where it is too broken to be read as a URL.
func TestRefusedURLsAreNotShown(t *testing.T) {
	for _, name := range []string{"SESSILE_MODEL_BASE_URL", "SESSILE_JWT_JWKS_URL", "SESSILE_DB"} {
		for _, text := range []string{
			"postgres://ann:hunter2@localhost/v1",
			"ftp://ann:hunter2@localhost/v1",
			"ftp://localhost/v1?key=hunter2",
			"ftp://localhost/v1#hunter2",
			"ftp://ann:hunter2%zz@localhost",
		} {
			_, err := config.Load(inputs(nil, map[string]string{name: text}, ""))
			if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), name) {
				t.Errorf("%s=%s: the error is %v", name, text, err)
			}
		}
	}
	for _, text := range []string{
		"https://ann:hunter2@localhost/v1", "https://localhost/v1?key=hunter2", "https://localhost/v1#hunter2", "ann:hunter2@localhost",
	} {
		_, err := config.Load(inputs(map[string]string{"model-base-url": text}, nil, ""))
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error is %v", text, err)
		}
	}
	_, err := config.Load(inputs(nil, map[string]string{"SESSILE_MODEL_BASE_URL": "localhost:11434"}, ""))
	if err == nil || !strings.Contains(err.Error(), `"localhost:11434" cannot be used`) {
		t.Errorf("a plain value is not shown: %v", err)
	}
}

package config

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sessile-dev/sessile"
)

// Setting describes one setting.
type Setting struct {
	Key     string // in the file, such as quota.valueBytes; "" when it cannot stand there
	Flag    string // without dashes, such as quota-value-bytes
	Env     string // such as SESSILE_QUOTA_VALUE_BYTES
	Default string // as a person would write it; "" when there is none
	Meaning string
	Secret  bool // its value is never printed
	Switch  bool // on or off; the flag alone turns it on
}

// setting adds to a description how a text becomes a value and back. What parse returns says what is allowed; it does
// not repeat the text, which may be a secret.
type setting struct {
	Setting
	parse func(c *Config, text string) error
	show  func(c *Config) string
}

// Settings is the table of all settings in the order in which they are documented.
func Settings() []Setting {
	table := settings()
	list := make([]Setting, len(table))
	for i, s := range table {
		list[i] = s.Setting
	}
	return list
}

// settingConfig names the file. It is the one setting that cannot stand in it.
const settingConfig = "config"

func settings() []setting {
	quotas := sessile.DefaultQuotas()
	entries := sessile.DefaultEntryLimits()
	return []setting{
		text("listen", "127.0.0.1:7474", "address to serve HTTP on, host:port", address,
			func(c *Config) *string { return &c.Listen }),
		text("db", "", "database: a path or sqlite:PATH; by default sessile.db in the user's data directory", database,
			func(c *Config) *string { return &c.Database }),
		{Setting: name(settingConfig, "", "configuration file (YAML); none is read unless named")},
		toggle("enableClientData", true, "serve governed session state; off: its routes do not exist",
			func(c *Config) *bool { return &c.EnableClientData }),

		text("auth.mode", AuthOff, "who may call: off (everybody is account default), api_key or jwt", oneOf(AuthOff, AuthAPIKey, AuthJWT),
			func(c *Config) *string { return &c.Auth.Mode }),
		toggle("auth.insecure", false, "allow auth.mode off on an address that others can reach",
			func(c *Config) *bool { return &c.Auth.Insecure }),
		secret("apiKeys", "keys for auth.mode api_key beside those of sessile keys: key:account, separated by commas",
			func(c *Config) *Secret { return &c.Auth.APIKeys }),
		secret("jwt.secret", "secret that verifies HS256 tokens for auth.mode jwt, at least 32 bytes",
			func(c *Config) *Secret { return &c.JWT.Secret }),
		text("jwt.jwksUrl", "", "URL of the key set that verifies RS256, ES256 and EdDSA tokens", baseURL,
			func(c *Config) *string { return &c.JWT.KeysURL }),
		text("jwt.accountClaim", "account_id", "claim of a token that names the account", filled,
			func(c *Config) *string { return &c.JWT.AccountClaim }),

		text("model.provider", ModelEcho, "what answers: echo (needs nothing) or openai (any compatible endpoint)",
			oneOf(ModelEcho, ModelOpenAI), func(c *Config) *string { return &c.Model.Provider }),
		text("model.baseUrl", "", "base URL of the endpoint, such as http://127.0.0.1:11434/v1", baseURL,
			func(c *Config) *string { return &c.Model.BaseURL }),
		text("model.name", "", "name of the model at the endpoint", filled,
			func(c *Config) *string { return &c.Model.Name }),
		secret("model.apiKey", "key for the endpoint",
			func(c *Config) *Secret { return &c.Model.APIKey }),
		duration("generationTimeout", "60s", "how long one answer of the model may take",
			func(c *Config) *time.Duration { return &c.GenerationTimeout }),
		text("generationMode", GenerationReject, "a turn on a busy branch: reject or queue", oneOf(GenerationReject, GenerationQueue),
			func(c *Config) *string { return &c.GenerationMode }),
		duration("generationQueueTimeout", "5s", "how long a turn waits in the queue at most",
			func(c *Config) *time.Duration { return &c.GenerationQueueTimeout }),

		number("quota.namespacesPerAccount", quotas.NamespacesPerAccount, "custom namespaces in all sessions of an account",
			func(c *Config) *int64 { return &c.Quotas.NamespacesPerAccount }),
		number("quota.itemsPerNamespace", quotas.ItemsPerNamespace,
			"retained versions in one namespace of one session; binds game_state too when set",
			func(c *Config) *int64 { return &c.Quotas.ItemsPerNamespace }),
		number("quota.bytesPerNamespace", quotas.BytesPerNamespace,
			"bytes of these versions; binds game_state too when set",
			func(c *Config) *int64 { return &c.Quotas.BytesPerNamespace }),
		number("quota.itemsPerAccount", quotas.ItemsPerAccount, "retained versions of an account",
			func(c *Config) *int64 { return &c.Quotas.ItemsPerAccount }),
		number("quota.bytesPerAccount", quotas.BytesPerAccount, "bytes of these versions",
			func(c *Config) *int64 { return &c.Quotas.BytesPerAccount }),
		number("quota.valueBytes", quotas.ValueBytes, "bytes of one value of a custom slot",
			func(c *Config) *int64 { return &c.Quotas.ValueBytes }),

		number("entries.valueBytes", entries.ValueBytes, "bytes of one value of the tool session_state",
			func(c *Config) *int64 { return &c.Entries.ValueBytes }),
		number("entries.nameBytes", entries.NameBytes, "bytes of a namespace or a key of that tool",
			func(c *Config) *int64 { return &c.Entries.NameBytes }),
		number("entries.perSession", entries.Entries, "entries that one session keeps by that tool",
			func(c *Config) *int64 { return &c.Entries.Entries }),
		number("entries.bytesPerSession", entries.Bytes, "bytes of these entries",
			func(c *Config) *int64 { return &c.Entries.Bytes }),

		toggle("accessLog", false, "log every request; errors are logged in any case",
			func(c *Config) *bool { return &c.AccessLog }),
		level("log.level", "info", "what is logged: debug, info, warn or error"),
		text("log.format", LogAuto, "how: auto (text on a terminal, else json), text or json", oneOf(LogAuto, LogText, LogJSON),
			func(c *Config) *string { return &c.Log.Format }),
		number("maxBodyBytes", 4<<20, "bytes of the largest request body",
			func(c *Config) *int64 { return &c.MaxBodyBytes }),
	}
}

// name derives the spellings of a setting from its file key.
func name(key, byDefault, meaning string) Setting {
	words := splitWords(key)
	s := Setting{
		Key:     key,
		Flag:    strings.Join(words, "-"),
		Env:     "SESSILE_" + strings.ToUpper(strings.Join(words, "_")),
		Default: byDefault,
		Meaning: meaning,
	}
	if key == settingConfig {
		s.Key = ""
	}
	return s
}

// splitWords turns quota.valueBytes into quota, value, bytes.
func splitWords(key string) []string {
	var b strings.Builder
	for _, r := range key {
		switch {
		case r == '.':
			b.WriteByte(' ')
		case unicode.IsUpper(r):
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(r)
		}
	}
	return strings.Fields(b.String())
}

func text(key, byDefault, meaning string, check func(string) error, field func(*Config) *string) setting {
	return setting{
		Setting: name(key, byDefault, meaning),
		parse: func(c *Config, text string) error {
			*field(c) = text
			return check(text)
		},
		show: func(c *Config) string { return *field(c) },
	}
}

func secret(key, meaning string, field func(*Config) *Secret) setting {
	s := setting{
		Setting: name(key, "", meaning),
		parse: func(c *Config, text string) error {
			*field(c) = NewSecret(text)
			return nil
		},
		show: func(c *Config) string { return field(c).String() },
	}
	s.Secret = true
	return s
}

func toggle(key string, byDefault bool, meaning string, field func(*Config) *bool) setting {
	s := setting{
		Setting: name(key, strconv.FormatBool(byDefault), meaning),
		parse: func(c *Config, text string) (err error) {
			*field(c), err = parseSwitch(text)
			return err
		},
		show: func(c *Config) string { return strconv.FormatBool(*field(c)) },
	}
	s.Switch = true
	return s
}

func number(key string, byDefault int64, meaning string, field func(*Config) *int64) setting {
	return setting{
		Setting: name(key, strconv.FormatInt(byDefault, 10), meaning),
		parse: func(c *Config, text string) (err error) {
			*field(c), err = parseCount(text)
			return err
		},
		show: func(c *Config) string { return strconv.FormatInt(*field(c), 10) },
	}
}

func duration(key, byDefault, meaning string, field func(*Config) *time.Duration) setting {
	return setting{
		Setting: name(key, byDefault, meaning),
		parse: func(c *Config, text string) (err error) {
			*field(c), err = parseDuration(text)
			return err
		},
		show: func(c *Config) string { return field(c).String() },
	}
}

func level(key, byDefault, meaning string) setting {
	return setting{
		Setting: name(key, byDefault, meaning),
		parse: func(c *Config, text string) (err error) {
			c.Log.Level, err = parseLevel(text)
			return err
		},
		show: func(c *Config) string { return strings.ToLower(c.Log.Level.String()) },
	}
}

package config

import (
	"log/slog"
	"time"

	"github.com/sessile-dev/sessile"
)

// Config is what is in force. [Load] makes one; every value in it has been checked.
type Config struct {
	Listen           string // host:port
	Database         string // a path or sqlite:PATH
	EnableClientData bool
	Auth             Auth
	JWT              JWT
	Model            Model

	// GenerationTimeout bounds one answer of the model.
	GenerationTimeout time.Duration
	// GenerationMode is GenerationReject or GenerationQueue, and GenerationQueueTimeout bounds the wait of the latter.
	GenerationMode         string
	GenerationQueueTimeout time.Duration

	Quotas       sessile.Quotas
	Entries      sessile.EntryLimits
	AccessLog    bool
	Log          Log
	MaxBodyBytes int64 // of a request

	// Sections are the parts of the file that belong to other packages, as YAML text by their top-level key.
	Sections map[string][]byte
}

// Auth says who may call.
type Auth struct {
	Mode     string // AuthOff, AuthAPIKey or AuthJWT
	Insecure bool   // AuthOff even where others can reach the server
	APIKeys  Secret // key:account, separated by commas
}

// The values of Auth.Mode.
const (
	AuthOff    = "off"
	AuthAPIKey = "api_key"
	AuthJWT    = "jwt"
)

// The values of GenerationMode.
const (
	GenerationReject = "reject"
	GenerationQueue  = "queue"
)

// JWT says which tokens are believed in mode AuthJWT.
type JWT struct {
	Secret       Secret
	KeysURL      string
	AccountClaim string
}

// minJWTSecret is what HS256 needs to be as strong as its digest.
const minJWTSecret = 32

// Model says what answers.
type Model struct {
	Provider string // ModelEcho or ModelOpenAI
	BaseURL  string // "" is the client library's own
	Name     string
	APIKey   Secret
}

// The values of Model.Provider.
const (
	ModelEcho   = "echo"
	ModelOpenAI = "openai"
)

// Log says what is logged and how.
type Log struct {
	Level  slog.Level
	Format string // LogAuto, LogText or LogJSON
}

// The values of Log.Format. LogAuto is text on a terminal and JSON elsewhere.
const (
	LogAuto = "auto"
	LogText = "text"
	LogJSON = "json"
)

// Secret is a text that is never printed: every way to format or log it gives a placeholder. Reveal gives the text.
type Secret struct{ text string }

// NewSecret hides a text.
func NewSecret(text string) Secret { return Secret{text: text} }

// Reveal returns the text itself, to be handed to whoever needs it and nobody else.
func (s Secret) Reveal() string { return s.text }

// String tells whether there is a secret, not which.
func (s Secret) String() string {
	if s.text == "" {
		return ""
	}
	return "(secret)"
}

// GoString is String.
func (s Secret) GoString() string { return s.String() }

// MarshalText is String: encodings show no more than a print does.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

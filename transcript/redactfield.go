package transcript

import (
	"strings"
	"unicode/utf8"
)

// maxFieldName is how far back from a sign the name of a field is looked for.
const maxFieldName = 128

// maxEscape is how many backslashes before a quote are understood: JSON in JSON in JSON.
const maxEscape = 7

// fieldHits finds the values of fields by their name: kinds 1, 2, 3, 7 and 8 and the additions of section 3.7.
func fieldHits(text string, hits []hit) []hit {
	bare := 0 // no form ends before it: values that are scanned and not masked must not be scanned again
	for i := 0; i < len(text); i++ {
		if text[i] != '=' && text[i] != ':' {
			continue
		}
		f, ok := readField(text, i)
		if !ok {
			continue
		}
		masked, full := f.secret()
		if !masked && (f.sign != '=' || !queryFields[f.key] || i < bare) {
			continue
		}
		if f.needsQuotes() && !f.beforeQuote(text, i+1) {
			continue
		}
		start, end, quoted := f.value(text, i+1)
		if at := skipBlanks(text, end); f.sign == ':' && !quoted && masked && at < len(text) && text[at] == '=' {
			start, end, quoted = f.value(text, at+1) // what followed the name was its type
		}
		if !masked && (end >= len(text) || text[end] != '&') { // no form
			bare = end
			continue
		}
		if end < len(text) && text[end] == '&' && f.sign == '=' { // a form
			full = full || strings.HasSuffix(f.key, "password") || strings.HasSuffix(f.key, "passwd") || !f.follow && queryFields[f.key]
		}
		if f.needsQuotes() && !quoted && !f.number(text[start:end]) {
			continue
		}
		if end <= start || reference(text[start:end], f.name) {
			continue
		}
		if from, ok := scheme(text, start, end); ok && f.key == "authorization" {
			start = from
		}
		hits = append(hits, hit{start: start, end: end, rule: ruleField, full: full})
		i = max(i, end-1)
	}
	return hits
}

// field is a name before "=" or ":".
type field struct {
	name    string
	key     string // the name as the sets below have it
	sign    byte
	quoted  bool // the name stands in quotes
	escapes int  // the backslashes before those
	before  byte // what stands before the name; 0 at the start of the text
	follow  bool // the value is part of a query or of a form
}

// readField reads the name before the sign at position i.
func readField(text string, i int) (field, bool) {
	f := field{sign: text[i]}
	at := i
	for n := 0; at > 0 && (text[at-1] == ' ' || text[at-1] == '\t') && n < 8; n++ {
		at--
	}
	if at > 0 && (text[at-1] == '"' || text[at-1] == '\'') {
		f.quoted = true
		at--
		for at > 0 && text[at-1] == '\\' && f.escapes < maxEscape {
			at--
			f.escapes++
		}
	}
	end := at
	for at > 0 && end-at < maxFieldName && (wordByte(text[at-1]) || text[at-1] == '-' || text[at-1] == '.') {
		at--
	}
	if f.name = text[at:end]; f.name == "" {
		return f, false
	}
	if dot := strings.LastIndexByte(f.name, '.'); dot >= 0 && !f.quoted {
		f.name, at = f.name[dot+1:], at+dot+1
	}
	if at > 0 {
		f.before = text[at-1]
		if r, _ := utf8.DecodeLastRuneInString(text[:at]); r >= utf8.RuneSelf && f.before >= utf8.RuneSelf {
			f.before = ' '
		}
	}
	if f.quoted && (f.before != '"' && f.before != '\'') {
		f.quoted = false
		if f.sign == ':' || text[i-1] != '"' && text[i-1] != '\'' {
			return f, false
		}
	}
	f.key = fieldKey(f.name)
	f.follow = f.before == '?' || f.before == '&' || f.before == ';'
	return f, f.name != ""
}

// fieldKey is a name in lower case, without what joins words.
func fieldKey(name string) string {
	key := make([]byte, 0, maxFieldName)
	for i := range min(len(name), maxFieldName) {
		if name[i] != '_' && name[i] != '-' {
			key = append(key, lower(name[i]))
		}
	}
	return string(key)
}

// secret tells whether the value of the field is to be masked, and whether in full.
func (f field) secret() (masked, full bool) {
	key := f.key
	switch {
	case f.upper() && secretEnd(key), paymentFields[key], connectionFields[f.name]:
		return true, false
	case f.sign == '=' && formFields[key]:
		return true, true
	case f.quoted && f.sign == ':' && (jsonFields[key] || formFields[key]):
		return true, false
	case headerFields[key]:
		return true, false
	case xHeader(f.name, key) && (f.sign == ':' || f.quoted):
		return true, false
	case f.sign == '=' && f.follow && queryFields[key], f.sign == '=' && strings.HasPrefix(key, "xamz") && f.follow:
		return true, false
	case f.sign == '=' && f.follow && (key == "password" || key == "passwd") && f.before != '?':
		return true, true
	case f.sign == '=' && (strings.HasSuffix(key, "password") || strings.HasSuffix(key, "passwd")):
		return true, false
	}
	return false, false
}

// upper tells whether the name is written in capitals, as names of environment variables are.
func (f field) upper() bool {
	capital := false
	for i := range len(f.name) {
		b := f.name[i]
		if b >= 'a' && b <= 'z' || b == '-' {
			return false
		}
		capital = capital || b >= 'A' && b <= 'Z'
	}
	return capital
}

func secretEnd(key string) bool {
	for _, end := range []string{"key", "token", "secret", "password", "passwd"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// xHeader tells whether the name is that of a header like X-Api-Key.
func xHeader(name, key string) bool {
	return len(name) > 2 && (name[0] == 'x' || name[0] == 'X') && name[1] == '-' && secretEnd(key)
}

// needsQuotes tells whether only a quoted value counts.
func (f field) needsQuotes() bool {
	key := f.key
	return !f.upper() && !f.follow && f.sign == ':' && (jsonFields[key] || formFields[key]) ||
		headerFields[key] && (!f.upper() || !secretEnd(key))
}

// headerInQuotes tells whether the whole header stands in quotes, as on a command line.
func (f field) headerInQuotes() bool {
	return headerFields[f.key] && f.sign == ':' && !f.quoted && (f.before == '"' || f.before == '\'')
}

// headerValue is a value that ends with the quote before the name of its header, or with the line.
func headerValue(text string, i int, quote byte) (start, end int, quoted bool) {
	end = i
	for end < len(text) && text[end] != quote && text[end] != '\n' {
		end++
	}
	for end > i && text[end-1] == '\\' {
		end--
	}
	return i, end, true
}

// number tells whether a bare value of a JSON field is a number, such as a PIN.
func (f field) number(value string) bool {
	return f.quoted && value != "" && strings.Trim(value, "0123456789") == ""
}

// beforeQuote tells whether a value in quotes, or a number, may begin after the sign.
func (f field) beforeQuote(text string, i int) bool {
	i = skipJSONSpace(text, i)
	return f.headerInQuotes() || i < len(text) && (strings.IndexByte("\"'\\", text[i]) >= 0 || text[i] >= '0' && text[i] <= '9')
}

// value is where the value of the field stands: within its quotes, or up to what ends a bare one.
func (f field) value(text string, i int) (start, end int, quoted bool) {
	for n := 0; n < 2 && i < len(text) && (text[i] == '=' || text[i] == '>' || text[i] == ':'); n++ { // :=, ==, =>
		i++
	}
	i = skipBlanks(text, i)
	if f.quoted {
		i = skipJSONSpace(text, i)
	}
	if f.headerInQuotes() {
		return headerValue(text, i, f.before)
	}
	escapes := i
	for escapes < len(text) && text[escapes] == '\\' && escapes-i <= maxEscape {
		escapes++
	}
	if escapes < len(text) && (text[escapes] == '"' || text[escapes] == '\'') {
		return quotedValue(text, escapes, escapes-i)
	}
	stops := "\"'"
	if f.follow || f.sign == '=' && (formFields[f.key] || queryFields[f.key]) {
		stops = "\"'&#<>"
	}
	if connectionFields[f.name] {
		stops += ";"
	}
	start, end = i, i
	for end < len(text) && text[end] > ' ' && strings.IndexByte(stops, text[end]) < 0 {
		end++
	}
	for end > start && strings.IndexByte(",;.)]}\\>`", text[end-1]) >= 0 && !strings.HasPrefix(text[start:], "${") {
		end--
	}
	return start, end, false
}

// quotedValue is what stands between the quote at position i, before which stand as many backslashes, and the next like it.
func quotedValue(text string, i, escapes int) (start, end int, quoted bool) {
	quote := text[i]
	start = i + 1
	for at := start; at < len(text); at++ {
		if text[at] != quote {
			if escapes == 0 && text[at] == '\n' {
				return start, at, true // a quote that does not close in its line
			}
			continue
		}
		slashes := 0
		for at-slashes > start && text[at-slashes-1] == '\\' && slashes <= maxEscape {
			slashes++
		}
		if escapes == 0 && slashes%2 == 0 || escapes > 0 && slashes == escapes {
			return start, at - slashes*min(escapes, 1), true
		}
	}
	return start, len(text), true
}

// reference tells whether the value names the variable itself.
func reference(value, name string) bool {
	return value == "$"+name || value == "${"+name+"}"
}

// scheme is where the credential begins after the word for its scheme.
func scheme(text string, start, end int) (int, bool) {
	word, after := readName(text, start)
	if after >= end || text[after] != ' ' {
		return 0, false
	}
	switch word {
	case "bearer", "basic", "bot", "token", "apikey":
		return skipBlanks(text, after), true
	}
	return 0, false
}

func set(names ...string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

// The names of fields, without what joins words.
var (
	jsonFields = set("apikey", "token", "secret", "password", "passwd", "accesstoken", "refreshtoken", "authtoken", "idtoken",
		"sessiontoken", "bearertoken", "bottoken", "clientsecret", "secretkey", "privatekey", "accesskey", "secretaccesskey",
		"apitoken", "apisecret", "signingsecret", "webhooksecret", "encryptionkey", "passphrase", "authkey")
	formFields = set("accesstoken", "refreshtoken", "idtoken", "clientsecret", "clientassertion", "apikey", "apisecret",
		"secretkey", "privatekey", "sessiontoken", "secretaccesskey", "passphrase")
	queryFields = set("token", "key", "secret", "password", "passwd", "code", "session", "signature", "auth", "jwt", "apikey",
		"sig", "accesskey", "sessionid", "authtoken")
	headerFields  = set("authorization", "proxyauthorization", "cookie", "setcookie")
	paymentFields = set("cardnumber", "creditcard", "creditcardnumber", "ccnumber", "cvv", "cvc", "cvv2", "cardcvc", "cardcvv",
		"iban", "accountnumber", "routingnumber")
	connectionFields = set("AccountKey", "SharedAccessKey", "sig", "SharedAccessSignature")
)

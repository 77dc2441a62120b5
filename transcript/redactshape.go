package transcript

import "strings"

// keyMask stands for the body of a private key.
const keyMask = "…redacted…"

// flagHits finds the values of command flags: kind 4.
func flagHits(text string, hits []hit) []hit {
	for at := strings.Index(text, "--"); at >= 0; {
		name, i := readName(text, skipDashes(text, at))
		next := i
		key := strings.ReplaceAll(strings.ReplaceAll(name, "-", ""), "_", "")
		if (jsonFields[key] || formFields[key]) && i < len(text) && (text[i] == '=' || text[i] == ' ' || text[i] == '\t') {
			start, end := i+1, 0
			if text[i] != '=' {
				start = skipBlanks(text, i)
			}
			if !strings.HasPrefix(text[start:], "--") && !strings.HasPrefix(text[start:], "$") { // another flag, a reference
				start, end, _ = field{sign: '='}.value(text, start)
			}
			if start < end {
				hits = append(hits, hit{start: start, end: end, rule: ruleField})
				next = end
			}
		}
		n := strings.Index(text[next:], "--")
		if n < 0 {
			break
		}
		at = next + n
	}
	return hits
}

func skipDashes(text string, i int) int {
	for i < len(text) && text[i] == '-' {
		i++
	}
	return i
}

// bearerHits finds credentials after the name of their scheme: kind 5.
func bearerHits(text string, hits []hit) []hit {
	const header = "authorization"
	for at := indexFold(text, header, 0); at >= 0; at = indexFold(text, header, at+1) {
		i := at + len(header)
		i = skipBlanks(text, skipQuote(text, i))
		if i >= len(text) || text[i] != ':' && text[i] != '=' {
			continue
		}
		i = skipQuote(text, skipBlanks(text, i+1))
		start, ok := scheme(text, i, len(text))
		if !ok {
			continue
		}
		if end := credentialEnd(text, start); end > start {
			hits = append(hits, hit{start: start, end: end, rule: ruleField})
		}
	}
	const bearer = "bearer "
	for at := indexFold(text, bearer, 0); at >= 0; at = indexFold(text, bearer, at+1) {
		if at > 0 && wordByte(text[at-1]) {
			continue
		}
		start := skipBlanks(text, at+len(bearer))
		if end := credentialEnd(text, start); end-start >= 18 {
			hits = append(hits, hit{start: start, end: end, rule: ruleField})
		}
	}
	return hits
}

func skipQuote(text string, i int) int {
	for i < len(text) && text[i] == '\\' {
		i++
	}
	if i < len(text) && (text[i] == '"' || text[i] == '\'') {
		i++
	}
	return i
}

func credentialEnd(text string, i int) int {
	for i < len(text) {
		switch {
		case wordByte(text[i]) || strings.IndexByte("-._~+/=:", text[i]) >= 0:
			i++
		case strings.HasPrefix(text[i:], "…"): // of a mask
			i += len("…")
		default:
			return i
		}
	}
	return i
}

// maxAuthority bounds where the password of a URL is looked for.
const maxAuthority = 1024

// urlHits finds passwords in URLs: kind 6, and the URLs of webhooks, which are secrets as a whole.
func urlHits(text string, hits []hit) []hit {
	for at := strings.Index(text, "://"); at >= 0; {
		start := at + len("://")
		end := start
		for end < len(text) && end-start < maxAuthority && text[end] > ' ' && strings.IndexByte("\"'<>`", text[end]) < 0 {
			if end > start && strings.HasPrefix(text[end:], "://") {
				break
			}
			end++
		}
		if colon, sign, ok := password(text[start:end]); ok && at > 0 && wordByte(text[at-1]) {
			hits = append(hits, hit{start: start + colon + 1, end: start + sign, rule: ruleURL, full: true})
		} else if webhook(text[start:end]) {
			from := at
			for from > 0 && at-from < len("https") && wordByte(text[from-1]) {
				from--
			}
			hits = append(hits, hit{start: from, end: end, rule: ruleShape})
		}
		n := strings.Index(text[start:], "://")
		if n < 0 {
			break
		}
		at = start + n
	}
	return hits
}

// password finds the ":" and the "@" around the password of a URL that is given without its scheme.
func password(rest string) (colon, sign int, ok bool) {
	authority := rest
	if n := strings.IndexAny(rest, "/?#"); n >= 0 {
		authority = rest[:n]
	}
	colon = strings.IndexByte(authority, ':')
	if colon < 0 {
		return 0, 0, false
	}
	sign = strings.LastIndexByte(authority, '@')
	if sign < 0 && strings.Trim(authority[colon+1:], "0123456789") != "" { // no port: the password holds a slash
		sign = strings.IndexByte(rest, '@')
	}
	return colon, sign, sign > colon+1
}

func webhook(rest string) bool {
	for _, prefix := range []string{
		"hooks.slack.com/services/", "hooks.slack.com/workflows/", "discord.com/api/webhooks/",
		"discordapp.com/api/webhooks/", "canary.discord.com/api/webhooks/", "ptb.discord.com/api/webhooks/",
	} {
		if hasPrefixFold(rest, prefix) && len(rest) > len(prefix) {
			return true
		}
	}
	return false
}

// keyHits finds private keys in PEM: kind 9. One that is cut off goes to the end.
func keyHits(text string, hits []hit) []hit {
	const begin, end, dashes = "-----BEGIN ", "-----END ", "-----"
	for at := strings.Index(text, begin); at >= 0; {
		next := at + len(begin)
		label, _, ok := strings.Cut(text[next:min(len(text), next+100)], dashes)
		if ok && strings.Contains(label, "PRIVATE KEY") && !strings.Contains(label, "\n") {
			body := next + len(label) + len(dashes)
			next = len(text)
			if n := strings.Index(text[body:], end); n >= 0 {
				next = body + n
			}
			trimmed := strings.TrimSpace(text[body:next])
			if strings.TrimSpace(strings.ReplaceAll(trimmed, `\n`, " ")) != keyMask {
				with := "\n" + keyMask
				if next < len(text) {
					with += "\n"
				}
				hits = append(hits, hit{start: body, end: next, rule: rulePEM, with: with})
			}
		}
		n := strings.Index(text[next:], begin)
		if n < 0 {
			break
		}
		at = next + n
	}
	return hits
}

// shape is what the keys of a vendor look like: a prefix and then at least so many characters.
type shape struct {
	prefix  string
	atLeast int
	more    string // what may stand there beside letters, digits, "_" and "-"
	exact   bool   // exactly so many capitals and digits, and no word goes on
}

// shapes are the prefixes of kind 10 by their first byte.
var shapes = func() map[byte][]shape {
	all := map[byte][]shape{}
	add := func(atLeast int, more string, prefixes ...string) {
		for _, p := range prefixes {
			all[p[0]] = append(all[p[0]], shape{prefix: p, atLeast: atLeast, more: more})
		}
	}
	add(8, "", "sk-", "sk-ant-")
	add(10, "", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-",
		"xapp-", "gsk_", "AIza", "pplx-", "bb_live_", "sk_live_", "sk_test_", "rk_live_", "npm_", "pypi-", "dop_v1_", "doo_v1_",
		"dor_v1_", "dckr_pat_", "bkua_", "CCIPAT_", "sbp_", "glsa_", "glc_", "nfp_", "CFPAT-", "HRKU-", "pat-na1-", "apify_api_",
		"tvly-", "xai-", "hf_", "r8_", "api_org_", "ssk_")
	add(10, ".", "ya29.", "SG.")
	add(16, "", "fal_", "fc-", "exa_", "fw-", "ddp_", "ddw_", "AKID", "LTAI", "1//0")
	add(20, "=", "gAAAA")
	add(24, "", "dapi")
	add(10, "=+/,", "FlyV1 ", "FlyV1_")
	for _, p := range []string{"AKIA", "ASIA"} {
		all['A'] = append(all['A'], shape{prefix: p, atLeast: 16, exact: true})
	}
	return all
}()

// shapeHits finds what is a key by its looks: vendor prefixes, JSON web tokens and tokens of Telegram bots.
func shapeHits(text string, hits []hit) []hit {
	for i := 0; i < len(text); i++ {
		b := text[i]
		if i > 0 && (wordByte(text[i-1]) || text[i-1] == '-') {
			if b < '0' || b > '9' || !botBefore(text, i) {
				continue
			}
		}
		end := 0
		if b >= '0' && b <= '9' {
			end = telegramEnd(text, i)
		}
		if b == 'e' {
			end = webTokenEnd(text, i)
		}
		for _, s := range shapes[b] {
			if n := s.end(text, i); n > end {
				end = n
			}
		}
		if end > i {
			hits = append(hits, hit{start: i, end: end, rule: ruleShape})
			i = end - 1
		}
	}
	return hits
}

func (s shape) end(text string, i int) int {
	if !strings.HasPrefix(text[i:], s.prefix) {
		return 0
	}
	start := i + len(s.prefix)
	end := start
	if s.exact {
		for end < len(text) && (text[end] >= 'A' && text[end] <= 'Z' || text[end] >= '0' && text[end] <= '9') {
			end++
		}
		if end-start != s.atLeast || end < len(text) && wordByte(text[end]) {
			return 0
		}
		return end
	}
	for end < len(text) && (wordByte(text[end]) || text[end] == '-' || strings.IndexByte(s.more, text[end]) >= 0) {
		end++
	}
	for end > start && text[end-1] == '.' {
		end--
	}
	if end-start < s.atLeast {
		return 0
	}
	return end
}

// botBefore tells whether the word before position i is "bot", as in the addresses of Telegram's API.
func botBefore(text string, i int) bool {
	return i >= 3 && hasPrefixFold(text[i-3:], "bot") && (i == 3 || !wordByte(text[i-4]))
}

func telegramEnd(text string, i int) int {
	start := i
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	if i-start < 6 || i-start > 14 || i >= len(text) || text[i] != ':' {
		return 0
	}
	secret := i + 1
	for i++; i < len(text) && (wordByte(text[i]) || text[i] == '-'); i++ {
	}
	if i-secret < 30 {
		return 0
	}
	return i
}

func webTokenEnd(text string, i int) int {
	if !strings.HasPrefix(text[i:], "eyJ") {
		return 0
	}
	for part := range 3 {
		start := i
		for i < len(text) && (wordByte(text[i]) || text[i] == '-') {
			i++
		}
		if i-start < 6 {
			return 0
		}
		if part < 2 {
			if i >= len(text) || text[i] != '.' {
				return 0
			}
			i++
		}
	}
	return i
}

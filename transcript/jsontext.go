package transcript

import "strings"

// skipJSON is the position after the JSON value that begins at position i. It stops at the first byte that no JSON value
// could have there, so that a search for values costs one pass over a text.
func skipJSON(text string, i int) (end int, ok bool) {
	var open []byte // the brackets that wait, innermost last
	for {
		i = skipJSONSpace(text, i)
		if i == len(text) {
			return i, false
		}
		switch text[i] {
		case '{':
			at := skipJSONSpace(text, i+1)
			if at < len(text) && text[at] == '}' {
				i = at + 1
				break
			}
			open = append(open, '}')
			if i, ok = skipJSONName(text, at); !ok {
				return i, false
			}
			continue
		case '[':
			at := skipJSONSpace(text, i+1)
			if at < len(text) && text[at] == ']' {
				i = at + 1
				break
			}
			open = append(open, ']')
			i = at
			continue
		case '"':
			if i, ok = skipJSONString(text, i); !ok {
				return i, false
			}
		default:
			if i, ok = skipJSONWord(text, i); !ok {
				return i, false
			}
		}
		// A value has ended: close what ends with it, up to a comma.
		for {
			if len(open) == 0 {
				return i, true
			}
			i = skipJSONSpace(text, i)
			if i == len(text) {
				return i, false
			}
			if text[i] == open[len(open)-1] {
				open = open[:len(open)-1]
				i++
				continue
			}
			if text[i] != ',' {
				return i, false
			}
			i = skipJSONSpace(text, i+1)
			if open[len(open)-1] == '}' {
				if i, ok = skipJSONName(text, i); !ok {
					return i, false
				}
			}
			break
		}
	}
}

func skipJSONSpace(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

func skipJSONName(text string, i int) (int, bool) {
	if i >= len(text) || text[i] != '"' {
		return i, false
	}
	i, ok := skipJSONString(text, i)
	if !ok {
		return i, false
	}
	i = skipJSONSpace(text, i)
	if i >= len(text) || text[i] != ':' {
		return i, false
	}
	return i + 1, true
}

func skipJSONString(text string, i int) (int, bool) {
	for i++; i < len(text); i++ {
		switch {
		case text[i] == '"':
			return i + 1, true
		case text[i] == '\\':
			i++
		case text[i] < ' ':
			return i, false
		}
	}
	return len(text), false
}

func skipJSONWord(text string, i int) (int, bool) {
	for _, word := range []string{"true", "false", "null"} {
		if strings.HasPrefix(text[i:], word) {
			return i + len(word), true
		}
	}
	if text[i] != '-' && (text[i] < '0' || text[i] > '9') {
		return i, false
	}
	for i++; i < len(text) && (text[i] >= '0' && text[i] <= '9' || strings.IndexByte("+-.eE", text[i]) >= 0); i++ {
	}
	return i, true
}

// skipBalanced is the position after the brackets that open at position i. It asks for balance only, not for JSON; what
// stands in double quotes does not count. Not balanced: the length of text.
func skipBalanced(text string, i int) (end int, ok bool) {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, true
			}
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return len(text), false
}

// opensJSON tells whether the first thing at or after i is a brace or a bracket, and where.
func opensJSON(text string, i int) (int, bool) {
	i = skipSpace(text, i)
	return i, i < len(text) && (text[i] == '{' || text[i] == '[')
}

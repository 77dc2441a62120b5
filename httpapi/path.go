package httpapi

import (
	"net/http"
	"strings"
)

// isPlain reports whether a path starts with a slash and has no empty, "." or ".." segments. One slash may end it.
// Escaped dots and slashes are ordinary text.
func isPlain(path string) bool {
	rest, found := strings.CutPrefix(path, "/")
	if !found {
		return false
	}
	rest = strings.TrimSuffix(rest, "/")
	if rest == "" {
		return path == "/"
	}
	for segment := range strings.SplitSeq(rest, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// slashMark stands for a lone slash while a path is matched. It is not UTF-8, so no name can be mistaken for it.
const slashMark = "/\xff"

// markSlashes replaces segments that are nothing but an escaped slash, which ServeMux takes for the end of the path: a
// branch may have that name. path is the escaped path of r.
func markSlashes(r *http.Request, path string) *http.Request {
	if !strings.Contains(path, "/%2F") && !strings.Contains(path, "/%2f") {
		return r
	}
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if strings.EqualFold(segment, "%2F") {
			segments[i] = "%2F%FF"
		}
	}
	marked, err := r.URL.Parse(strings.Join(segments, "/"))
	if err != nil {
		return r
	}
	marked.RawQuery = r.URL.RawQuery
	out := *r
	out.URL = marked
	return &out
}

func unmarkSlash(name string) string {
	if name == slashMark {
		return "/"
	}
	return name
}

package client

import (
	"net/url"
	"strings"

	"github.com/sessile-dev/sessile"
)

// targetOf joins the parts of a path, each escaped. Names of dots alone are escaped too, or they would mean a folder.
func targetOf(parts []string) (string, error) {
	var b strings.Builder
	for _, part := range parts {
		if part == "" {
			return "", sessile.Invalid(sessile.FieldError{Code: "required", Message: "an id in the path is empty"})
		}
		escaped := url.PathEscape(part)
		if part == "." || part == ".." {
			escaped = strings.ReplaceAll(part, ".", "%2E")
		}
		b.WriteByte('/')
		b.WriteString(escaped)
	}
	return b.String(), nil
}

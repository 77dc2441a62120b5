package pisession

import (
	"strings"
	"time"
)

// extension is what names of session files end with.
const extension = ".jsonl"

// nameTime is the time in a file's name, less the milliseconds, which the package time cannot read behind a dash.
const nameTime = "2006-01-02T15-04-05"

// FileName is the name of the file of a session.
func FileName(created time.Time, id string) string {
	created = created.UTC()
	return created.Format(nameTime) + "-" + created.Format(".000")[1:] + "Z_" + id + extension
}

// ParseFileName takes a name apart that [FileName] made. Files may have any other name: what counts is the header.
func ParseFileName(name string) (created time.Time, id string, ok bool) {
	name, ok = strings.CutSuffix(name, extension)
	if !ok {
		return time.Time{}, "", false
	}
	at, id, ok := strings.Cut(name, "_")
	if !ok || len(at) != len(nameTime)+len("-000Z") {
		return time.Time{}, "", false
	}
	created, err := time.Parse(nameTime+".000Z", at[:len(nameTime)]+"."+at[len(nameTime)+1:])
	if err != nil || !ValidID(id) || FileName(created, id) != name+extension {
		return time.Time{}, "", false
	}
	return created, id, true
}

// DirName is the name of the directory, below the one of all sessions, with the sessions of an absolute working directory.
// It cannot be turned back: see the header.
func DirName(workingDirectory string) string {
	if rest := workingDirectory; rest != "" && (rest[0] == '/' || rest[0] == '\\') {
		workingDirectory = rest[1:]
	}
	return "--" + strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(workingDirectory) + "--"
}

// ValidID reports whether Pi lets a session be given this id: letters, digits, '.', '_' and '-' in ASCII, with a letter or
// digit at both ends.
func ValidID(id string) bool {
	for i := range len(id) {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case (c == '.' || c == '_' || c == '-') && i > 0 && i < len(id)-1:
		default:
			return false
		}
	}
	return id != ""
}

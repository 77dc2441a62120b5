package agentrun

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/sessile-dev/sessile"
)

// Attachments are the limits of tools.sessions_spawn.attachments (spec/session-tools.md, 5.7). The zero value allows none.
type Attachments struct {
	Enabled       bool
	MaxTotalBytes int64 // default 5 MiB
	MaxFiles      int   // default 50
	MaxFileBytes  int64 // default 1 MiB
	// RetainWithKept leaves the files of a child where they are as long as its session is kept; default they are removed when
	// its result has settled.
	RetainWithKept bool
}

func (a Attachments) withDefaults() Attachments {
	if a.MaxTotalBytes == 0 {
		a.MaxTotalBytes = 5 << 20
	}
	if a.MaxFiles == 0 {
		a.MaxFiles = 50
	}
	if a.MaxFileBytes == 0 {
		a.MaxFileBytes = 1 << 20
	}
	return a
}

// Attachment is a file for a child.
type Attachment struct {
	Name, Content string
	Base64        bool
}

// Receipt tells which files a child got.
type Receipt struct {
	Count      int            `json:"count"`
	TotalBytes int64          `json:"totalBytes"`
	Files      []ReceiptEntry `json:"files"`
	RelDir     string         `json:"relDir"`
}

// ReceiptEntry is one file.
type ReceiptEntry struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// attached are files that were written.
type attached struct {
	dir     string
	receipt Receipt
}

// discard removes the files of a spawn that came to nothing.
func (a *attached) discard() {
	if a != nil {
		_ = os.RemoveAll(a.dir) // what is left does no harm
	}
}

// attachmentDir is where attachments lie below a workspace.
const attachmentDir = ".sessile/attachments"

// keepAttachments checks the files and writes them below the workspace of the child's agent; nil for none. They are written
// before the child is stored, so that no child ever waits for files that are not there, and behind all other checks (5.3).
func (s *Service) keepAttachments(ctx context.Context, c Caller, r *SpawnRequest) (*attached, error) {
	if len(r.Attachments) == 0 {
		return nil, nil
	}
	err := s.store.View(ctx, func(tx sessile.ReadTx) error {
		if _, found, err := s.earlier(tx, c, r); err != nil || found {
			return err
		}
		caller, found, err := tx.SessionByKey(c.Account, c.Key)
		if err != nil {
			return err
		}
		row := &caller
		if !found {
			row = nil
		}
		_, err = s.check(tx, c, row, r)
		return err
	})
	if err != nil {
		return nil, err
	}
	limits := s.options.Attachments.withDefaults()
	if !limits.Enabled {
		return nil, forbidden("attachments are disabled (tools.sessions_spawn.attachments.enabled)")
	}
	if len(r.Attachments) > limits.MaxFiles {
		return nil, faulty("attachments_too_many: at most %d files", limits.MaxFiles)
	}
	agent := strings.ToLower(r.AgentID)
	if agent == "" {
		agent = s.sessions.Keys().Agent(c.Key)
	}
	workspace := s.agent(agent).Workspace
	if workspace == "" {
		return nil, faulty("attachments_no_workspace: agent %s has no workspace", agent)
	}
	kept := &attached{receipt: Receipt{Files: []ReceiptEntry{}}}
	contents := map[string][]byte{}
	for _, a := range r.Attachments {
		content, err := a.decode(&limits, contents)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(content)
		kept.receipt.Files = append(kept.receipt.Files, ReceiptEntry{a.Name, int64(len(content)), hex.EncodeToString(sum[:])})
		kept.receipt.TotalBytes += int64(len(content))
		contents[strings.ToLower(a.Name)] = content
	}
	if kept.receipt.TotalBytes > limits.MaxTotalBytes {
		return nil, faulty("attachments_total_bytes_exceeded: at most %d bytes together", limits.MaxTotalBytes)
	}
	kept.receipt.Count = len(kept.receipt.Files)
	kept.receipt.RelDir = attachmentDir + "/" + s.options.IDs.UUID()
	kept.dir = filepath.Join(workspace, filepath.FromSlash(kept.receipt.RelDir))
	if err := kept.write(contents); err != nil {
		kept.discard()
		return nil, &sessile.Error{Code: sessile.CodeInternal, Message: "the attachments could not be written", Cause: err}
	}
	return kept, nil
}

func (a *attached) write(contents map[string][]byte) error {
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return err
	}
	for _, file := range a.receipt.Files {
		if err := os.WriteFile(filepath.Join(a.dir, file.Name), contents[strings.ToLower(file.Name)], 0o600); err != nil {
			return err
		}
	}
	return nil
}

// decode checks one file.
func (a *Attachment) decode(limits *Attachments, others map[string][]byte) ([]byte, error) {
	if !validFileName(a.Name) {
		return nil, faulty("attachments_invalid_name: a name may hold no parts of a path and no control characters")
	}
	if _, twice := others[strings.ToLower(a.Name)]; twice {
		return nil, faulty("attachments_duplicate_name: %s", a.Name)
	}
	content := []byte(a.Content)
	if a.Base64 {
		var err error
		if content, err = base64.StdEncoding.DecodeString(strings.Join(strings.Fields(a.Content), "")); err != nil {
			return nil, faulty("attachments_invalid_base64: %s", a.Name)
		}
	}
	if int64(len(content)) > limits.MaxFileBytes {
		return nil, faulty("attachments_file_bytes_exceeded: %s, at most %d bytes", a.Name, limits.MaxFileBytes)
	}
	return content, nil
}

func validFileName(name string) bool {
	switch name {
	case "", ".", "..":
		return false
	}
	if len(name) > 255 || strings.ContainsAny(name, `/\:`) || strings.TrimSpace(name) != name {
		return false
	}
	return !strings.ContainsFunc(name, unicode.IsControl)
}

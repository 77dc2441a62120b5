package httpapi

import "net/http"

// Version is what GET /version tells (design.md, section 5).
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	Schema  int64  `json:"schema"` // number of the newest migration of the store
}

func (h *Handler) health(*call) (reply, error) {
	return dataReply(http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})
}

func (h *Handler) showVersion(*call) (reply, error) {
	return dataReply(http.StatusOK, h.version)
}

package client

import "context"

// Health is what GET /health answers when the server is ready.
type Health struct {
	Status string `json:"status"` // ok
}

// Version is what GET /version answers.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	Schema  int64  `json:"schema"` // number of the newest migration of the store
}

// Health asks whether the server is ready: GET /health. It needs no credentials.
func (c *Client) Health(ctx context.Context) (Health, error) {
	return call[Health](ctx, c, get("health"))
}

// ShowVersion asks what is running: GET /version. It needs no credentials.
func (c *Client) ShowVersion(ctx context.Context) (Version, error) {
	return call[Version](ctx, c, get("version"))
}

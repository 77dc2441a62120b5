package client

import "strconv"

// Paging selects a stretch of a list; zero members leave it to the server, which begins at the start with the newest.
type Paging struct {
	Limit     int // 1 to 100
	Offset    int
	SortBy    string // the names are the list's own
	SortOrder string // asc or desc
}

// Page is a stretch of a list.
type Page[T any] struct {
	Items []T
	Meta  Meta
}

// Meta tells where a page stands in its list (spec/governed-state.md, section 6).
type Meta struct {
	Total     int    `json:"total"`
	Limit     int    `json:"limit"`
	Offset    int    `json:"offset"`
	HasMore   bool   `json:"has_more"`
	SortBy    string `json:"sort_by"`
	SortOrder string `json:"sort_order"`

	NextCursor   string `json:"next_cursor"`   // of runs: where the next page begins; "" for the last one
	LastSequence int64  `json:"last_sequence"` // of deliveries: likewise
}

// page adds a stretch of a list to a request.
func (r request) page(p Paging) request {
	return r.stretch(p.Limit, p.Offset).with("sort_by", p.SortBy).with("sort_order", p.SortOrder)
}

func (r request) stretch(limit, offset int) request {
	if limit != 0 {
		r = r.with("limit", strconv.Itoa(limit))
	}
	if offset != 0 {
		r = r.with("offset", strconv.Itoa(offset))
	}
	return r
}

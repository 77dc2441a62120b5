package session

import (
	"slices"
	"strings"

	"github.com/sessile-dev/sessile"
)

// The kinds of sessions (spec/session-tools.md, 1.5).
const (
	KindMain  = "main"
	KindGroup = "group"
	KindCron  = "cron"
	KindHook  = "hook"
	KindNode  = "node"
	KindOther = "other"
)

// globalKey is the one shared lane when sessions have the scope global.
const globalKey = "global"

// unknownKey is the lane of messages without a known sender.
const unknownKey = "unknown"

// Alias is the key that the word main stands for in displays.
func (k Keys) Alias() string {
	if k.Global {
		return globalKey
	}
	return k.withDefaults().MainKey
}

// Display is the form of a key that results carry (spec/session-tools.md, 1.3).
func (k Keys) Display(key string) string {
	if key == k.Alias() || key == k.withDefaults().MainKey {
		return "main"
	}
	return key
}

// Kind classifies a session; the first row of the table that fits counts.
func (k Keys) Kind(row *sessile.Session) string {
	if row.Key == k.Alias() || bareKey(row.Key) == k.withDefaults().MainKey {
		return KindMain
	}
	return string(laneOf(row))
}

// bareKey is a key without its agent, in lower case.
func bareKey(key string) string {
	if _, rest, ok := SplitKey(key); ok {
		key = rest
	}
	return strings.ToLower(key)
}

// laneOf is the kind of a session but for main, which depends on what is configured.
func laneOf(row *sessile.Session) sessile.Lane {
	rest := bareKey(row.Key)
	switch {
	case strings.HasPrefix(rest, "cron:"):
		return sessile.LaneCron
	case strings.HasPrefix(rest, "hook:"):
		return sessile.LaneHook
	case strings.HasPrefix(rest, "node-"), strings.HasPrefix(rest, "node:"):
		return sessile.LaneNode
	case row.ChatType == "group", row.ChatType == "channel",
		strings.Contains(row.Key, ":group:"), strings.Contains(row.Key, ":channel:"):
		return sessile.LaneGroup
	}
	return sessile.LaneOther
}

// nameOf is the key of a session without its agent where that is one word, as those of main sessions are.
func nameOf(row *sessile.Session) string {
	if name := bareKey(row.Key); !strings.Contains(name, ":") {
		return name
	}
	return ""
}

// selectKinds narrows a selection to where sessions of some kinds are. It may hold others too.
func (k Keys) selectKinds(kinds []string, selection *sessile.SessionSelection) {
	main := k.withDefaults().MainKey
	if len(kinds) == 0 || slices.Contains(kinds, KindMain) && strings.Contains(main, ":") {
		return
	}
	for _, kind := range kinds {
		switch {
		case kind != KindMain:
			selection.Lanes = append(selection.Lanes, sessile.Lane(kind))
		case selection.Agent == "":
			selection.Names = append(selection.Names, main)
			if k.Global {
				selection.Names = append(selection.Names, globalKey)
			}
		default:
			selection.Keys = append(selection.Keys, k.Main(selection.Agent), main)
			if k.Global {
				selection.Keys = append(selection.Keys, globalKey)
			}
		}
	}
}

// ChannelOf is the channel that a session is shown with.
func (k Keys) ChannelOf(row *sessile.Session, d *Details) string {
	switch k.Kind(row) {
	case KindCron, KindHook, KindNode:
		return "internal"
	}
	for _, channel := range []string{row.Channel, d.Origin.Provider, d.DeliveryContext.Channel, d.Last.Channel, keyChannel(row.Key)} {
		if channel != "" {
			return channel
		}
	}
	return unknownKey
}

// keyChannel is the channel that the key of an agent's session names, "" for none.
func keyChannel(key string) string {
	_, rest, ok := SplitKey(key)
	if !ok {
		return ""
	}
	parts := strings.Split(strings.ToLower(rest), ":")
	if len(parts) < 3 {
		return ""
	}
	switch parts[0] {
	case "main", "cron", "subagent", "acp", "hook", "node", "direct", "session":
		return ""
	}
	for _, part := range parts[1:] {
		switch part {
		case "direct", "dm", "group", "channel", "room":
			return parts[0]
		}
	}
	return ""
}

// OriginOf is where a session was created: as stored, else as its key says.
func OriginOf(row *sessile.Session, d *Details) Origin {
	o := d.Origin
	if o.Provider == "" {
		o.Provider = keyChannel(row.Key)
	}
	return o
}

// IsSubagent reports whether a key is that of a session that an agent spawned.
func IsSubagent(key string) bool {
	if _, rest, ok := SplitKey(key); ok {
		key = rest
	}
	return strings.HasPrefix(strings.ToLower(key), "subagent:")
}

// isCronRun reports whether a key is that of one isolated run of a cron job.
func isCronRun(key string) bool {
	_, rest, ok := SplitKey(key)
	return ok && strings.HasPrefix(rest, "cron:") && strings.Contains(rest, ":run:")
}

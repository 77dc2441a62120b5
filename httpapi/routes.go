package httpapi

import "net/http"

// Route is one line of the table of routes.
type Route struct {
	Method string
	Path   string // as a ServeMux pattern

	// Feature routes belong to the state and observation surface and do not exist while it is off.
	Feature bool
	// Open routes need no credentials.
	Open bool
	// Local routes exist for connections through the socket beside the database alone (see [LocalSocket]), and need no
	// further credentials.
	Local bool

	body    bodyRule
	maxBody int64 // more than other bodies may have; 0 is the same
	handle  func(*Handler, *call) (reply, error)
}

// Pattern is the name of the route in logs.
func (r Route) Pattern() string { return r.Method + " " + r.Path }

// bodyRule tells what a route does with a request body.
type bodyRule int

const (
	noBody       bodyRule = iota // it is not looked at
	optionalBody                 // an empty one is {}
	requiredBody
)

// Routes lists everything that a [Handler] answers. Every other path is 404 not_found, every other method of these
// paths 405 method_not_allowed.
func Routes() []Route {
	return []Route{
		{Method: http.MethodGet, Path: "/health", Open: true, handle: (*Handler).health},
		{Method: http.MethodGet, Path: "/version", Open: true, handle: (*Handler).showVersion},
		{Method: http.MethodGet, Path: "/openapi.json", Open: true, handle: (*Handler).openAPI},
		{Method: http.MethodGet, Path: "/docs", Open: true, handle: (*Handler).showDocs},

		// Governed state: spec/governed-state.md, section 4.
		{Method: http.MethodPost, Path: "/sessions/{session}/state/namespaces", Feature: true, body: requiredBody, handle: (*Handler).registerNamespace},
		{Method: http.MethodGet, Path: "/sessions/{session}/state/namespaces", Feature: true, handle: (*Handler).listNamespaces},
		{Method: http.MethodPost, Path: "/sessions/{session}/state/values/write", Feature: true, body: requiredBody, handle: (*Handler).writeValue},
		{Method: http.MethodDelete, Path: "/sessions/{session}/state/values", Feature: true, body: requiredBody, handle: (*Handler).deleteValue},
		{Method: http.MethodGet, Path: "/sessions/{session}/state/resolve", Feature: true, handle: (*Handler).resolve},
		{Method: http.MethodGet, Path: "/sessions/{session}/state/floors/{floor}/snapshot", Feature: true, handle: (*Handler).snapshot},
		{Method: http.MethodGet, Path: "/sessions/{session}/state/diff", Feature: true, handle: (*Handler).diff},

		// Observation: section 11.
		{Method: http.MethodGet, Path: "/sessions/{session}/session-state/mutations", Feature: true, handle: (*Handler).listMutations},
		{Method: http.MethodGet, Path: "/sessions/{session}/session-state/mutations/{mutation}", Feature: true, handle: (*Handler).getMutation},

		{Method: http.MethodGet, Path: "/sessions/{session}/session-state/bindings", Feature: true, handle: (*Handler).listBindings},
		{Method: http.MethodGet, Path: "/sessions/{session}/session-state/live", Feature: true, handle: (*Handler).listLive},
		{Method: http.MethodGet, Path: "/sessions/{session}/session-state/live/{namespace}/{slot}", Feature: true, handle: (*Handler).getLive},
		{Method: http.MethodGet, Path: "/floors/{floor}/session-state/snapshots", Feature: true, handle: (*Handler).listFloorSnapshots},
		{Method: http.MethodGet, Path: "/floors/{floor}/session-state/snapshots/{namespace}/{slot}", Feature: true, handle: (*Handler).getFloorSnapshot},
		{Method: http.MethodGet, Path: "/floors/{floor}/session-state/replay-safety", Feature: true, handle: (*Handler).replaySafety},
		{Method: http.MethodGet, Path: "/floors/{floor}/session-state/diff", Feature: true, handle: (*Handler).floorDiff},

		// Turns: section 5.3.
		{Method: http.MethodPost, Path: "/sessions/{session}/respond", body: requiredBody, handle: (*Handler).respond},
		{Method: http.MethodPost, Path: "/sessions/{session}/respond/stream", body: requiredBody, handle: (*Handler).respondStream},
		{Method: http.MethodPost, Path: "/sessions/{session}/respond/dry-run", body: requiredBody, handle: (*Handler).dryRun},
		{Method: http.MethodPost, Path: "/messages/{message}/edit-and-regenerate", body: requiredBody, handle: (*Handler).edit},
		{Method: http.MethodPost, Path: "/sessions/{session}/regenerate", body: optionalBody, handle: (*Handler).regenerate},
		{Method: http.MethodPost, Path: "/floors/{floor}/retry", body: optionalBody, handle: (*Handler).retry},

		// Sessions: section 6.
		{Method: http.MethodPost, Path: "/sessions", body: optionalBody, handle: (*Handler).createSession},
		{Method: http.MethodGet, Path: "/sessions", handle: (*Handler).listSessions},
		{Method: http.MethodGet, Path: "/sessions/{session}", handle: (*Handler).getSession},
		{Method: http.MethodPatch, Path: "/sessions/{session}", body: requiredBody, handle: (*Handler).updateSession},
		{Method: http.MethodDelete, Path: "/sessions/{session}", handle: (*Handler).deleteSession},
		{Method: http.MethodPatch, Path: "/sessions/batch/status", body: requiredBody, handle: (*Handler).setStatuses},
		{Method: http.MethodPost, Path: "/sessions/batch/delete", body: requiredBody, handle: (*Handler).deleteSessions},
		{Method: http.MethodGet, Path: "/sessions/{session}/timeline", handle: (*Handler).timeline},
		{Method: http.MethodPost, Path: "/sessions/{session}/transcript", body: requiredBody, handle: (*Handler).ingest},
		{Method: http.MethodGet, Path: "/sessions/{session}/transcript", handle: (*Handler).transcript},
		{Method: http.MethodGet, Path: "/sessions/{session}/active-run", handle: (*Handler).activeRun},

		{Method: http.MethodDelete, Path: "/sessions", handle: (*Handler).deleteSessionKey},
		{Method: http.MethodPost, Path: "/sessions/clear-all", body: optionalBody, handle: (*Handler).clearSessions},
		{Method: http.MethodPost, Path: "/sessions/{session}/reset", body: optionalBody, handle: (*Handler).resetSession},
		{Method: http.MethodPost, Path: "/sessions/{session}/fork", body: optionalBody, handle: (*Handler).forkSession},

		{Method: http.MethodPut, Path: "/sessions/{session}/goal", body: requiredBody, handle: (*Handler).setGoal},
		{Method: http.MethodDelete, Path: "/sessions/{session}/goal", handle: (*Handler).clearGoal},

		// What extensions keep: conformance/WIRE.md, "Sessions".
		{Method: http.MethodGet, Path: "/sessions/{session}/extensions/{plugin}", handle: (*Handler).getExtension},
		{Method: http.MethodPut, Path: "/sessions/{session}/extensions/{plugin}", body: requiredBody, handle: (*Handler).putExtension},
		{Method: http.MethodDelete, Path: "/sessions/{session}/extensions/{plugin}", handle: (*Handler).deleteExtension},

		// Changes, and who sees whom: design.md, section 5, and conformance/WIRE.md.
		{Method: http.MethodGet, Path: "/sessions/{session}/events", handle: (*Handler).listChanges},
		{Method: http.MethodGet, Path: "/sessions/{session}/notices", handle: (*Handler).listNotices},
		{Method: http.MethodPost, Path: "/sessions/{session}/notices/ack", body: requiredBody, handle: (*Handler).acknowledgeNotices},
		{Method: http.MethodGet, Path: "/sessions/{session}/watches", handle: (*Handler).listWatches},
		{Method: http.MethodPost, Path: "/sessions/{session}/watches", body: requiredBody, handle: (*Handler).addWatch},
		{Method: http.MethodDelete, Path: "/sessions/{session}/watches/{target}", handle: (*Handler).deleteWatch},
		{Method: http.MethodGet, Path: "/sessions/{session}/why", handle: (*Handler).why},

		// Runs and what they send to channels: design.md, section 5, and conformance/WIRE.md.
		{Method: http.MethodGet, Path: "/runs", handle: (*Handler).listRuns},
		{Method: http.MethodGet, Path: "/runs/{run}", handle: (*Handler).getRun},
		{Method: http.MethodPost, Path: "/runs/{run}/cancel", body: optionalBody, handle: (*Handler).cancelRun},
		{Method: http.MethodPost, Path: "/runs/{run}/steer", body: requiredBody, handle: (*Handler).steerRun},
		{Method: http.MethodPost, Path: "/runs/{run}/announce", body: optionalBody, handle: (*Handler).announceRun},
		{Method: http.MethodGet, Path: "/sessions/{session}/subagents", handle: (*Handler).listSubagents},
		{Method: http.MethodGet, Path: "/deliveries", handle: (*Handler).listDeliveries},
		{Method: http.MethodPost, Path: "/deliveries/{delivery}/ack", body: optionalBody, handle: (*Handler).acknowledgeDelivery},
		{Method: http.MethodPost, Path: "/deliveries/{delivery}/retry", body: optionalBody, handle: (*Handler).retryDelivery},

		// The agents' tools: design.md, section 5.
		{Method: http.MethodGet, Path: "/tools", handle: (*Handler).listTools},
		{Method: http.MethodPost, Path: "/tools/{tool}", body: requiredBody, maxBody: maxToolBody, handle: (*Handler).callTool},
		{Method: http.MethodGet, Path: pathMCP, handle: (*Handler).listenMCP},
		{Method: http.MethodPost, Path: pathMCP, handle: (*Handler).sendMCP},
		{Method: http.MethodDelete, Path: pathMCP, handle: (*Handler).endMCP},

		// Keys: section 8.
		{Method: http.MethodPost, Path: "/local/keys", Local: true, Open: true, body: requiredBody, handle: (*Handler).createKey},
		{Method: http.MethodGet, Path: "/local/keys", Local: true, Open: true, handle: (*Handler).listKeys},
		{Method: http.MethodDelete, Path: "/local/keys/{key}", Local: true, Open: true, handle: (*Handler).revokeKey},

		// Worldbooks: ruling 24.
		{Method: http.MethodPost, Path: "/worldbooks", body: requiredBody, handle: (*Handler).createWorldbook},
		{Method: http.MethodGet, Path: "/worldbooks", handle: (*Handler).listWorldbooks},
		{Method: http.MethodGet, Path: "/worldbooks/{worldbook}", handle: (*Handler).getWorldbook},
		{Method: http.MethodPut, Path: "/worldbooks/{worldbook}", body: requiredBody, handle: (*Handler).replaceWorldbook},
		{Method: http.MethodDelete, Path: "/worldbooks/{worldbook}", handle: (*Handler).deleteWorldbook},

		// Branches, floors and messages: section 6.
		{Method: http.MethodGet, Path: "/sessions/{session}/branches", handle: (*Handler).listBranches},
		{Method: http.MethodPost, Path: "/floors/{floor}/branch", body: optionalBody, handle: (*Handler).forkBranch},
		{Method: http.MethodDelete, Path: "/branches/{branch}", handle: (*Handler).deleteBranch},
		{Method: http.MethodGet, Path: "/floors", handle: (*Handler).listFloors},
		{Method: http.MethodPost, Path: "/floors", body: requiredBody, handle: (*Handler).createFloor},
		{Method: http.MethodGet, Path: "/floors/{floor}", handle: (*Handler).getFloor},
		{Method: http.MethodDelete, Path: "/floors/{floor}", handle: (*Handler).deleteFloor},
		{Method: http.MethodGet, Path: "/floors/{floor}/run", handle: (*Handler).floorRun},
		{Method: http.MethodGet, Path: "/floors/{floor}/result", handle: (*Handler).floorResult},
		{Method: http.MethodGet, Path: "/messages", handle: (*Handler).listMessages},
		{Method: http.MethodGet, Path: "/messages/{message}", handle: (*Handler).getMessage},
	}
}

package httpapi_test

// probe is a valid request. Path and body name objects in braces, which are filled in from a world (see isolation_test.go);
// every one of them is tried as a foreign one.
type probe struct {
	route  string // of httpapi.Routes
	path   string // further than the route's own
	body   string
	status int // when it is the owner who asks; default 200
}

// withoutObjects are the routes that name nothing an account could own. Open routes without a wildcard need not stand here.
func withoutObjects() map[string]string {
	return map[string]string{
		"GET /sessions":            "lists what the account has: TestListsShowOwn",
		"GET /worldbooks":          "lists what the account has: TestListsShowOwn",
		"POST /worldbooks":         "makes one and names none",
		"DELETE /sessions":         "answers alike whether or not there is anything under the key: TestKeysAreOfAnAccount",
		"POST /sessions/clear-all": "deletes what the account has: TestKeysAreOfAnAccount",
		"GET /runs":                "lists what the account has: TestListsShowOwn",
		"GET /deliveries":          "lists what the account has: TestListsShowOwn",
		"GET /tools":               "lists what the policy says of a key, whoever has it",
		"POST /tools/{tool}":       "answers alike whether or not a key has a session: TestKeysAreOfAnAccount",
		"GET /mcp":                 "names no object of its own: see package mcpserver",
		"POST /mcp":                "the tools, as POST /tools/{tool}",
		"DELETE /mcp":              "ends a connection of the account that opened it: see package mcpserver",
		"DELETE /local/keys/{key}": "keys belong to the machine's owner, and only the socket beside the database reaches them",
	}
}

// probes stand in the order of httpapi.Routes; what makes a name mean something comes last.
func probes() []probe {
	const (
		write = `{"branch_id":"main","namespace":"{namespace}","slot":"mood","value":1}`
		cell  = `{"branch_id":"main","namespace":"{namespace}","slot":"mood"}`
		turn  = `{"message":"go","session_state_writes":[{"namespace":"{namespace}","slot":"mood","value":2}]}`
		rerun = `{"session_state_writes":[{"namespace":"{namespace}","slot":"mood","value":2}]}`
		rows  = `{"messages":[{"role":"user","content":"x"}],"session_state_writes":[{"namespace":"{namespace}","slot":"mood","value":2}]}`
	)
	return []probe{
		{route: "POST /sessions/{session}/state/namespaces", body: `{"namespace":"fresh","logical_owner_type":"app","logical_owner_id":"x"}`, status: 201},
		{route: "GET /sessions/{session}/state/namespaces"},
		{route: "POST /sessions/{session}/state/values/write", body: write},
		{route: "DELETE /sessions/{session}/state/values", body: cell},
		{route: "GET /sessions/{session}/state/resolve", path: "?branch_id=main"},
		{route: "GET /sessions/{session}/state/resolve", path: "?branch_id={branch}"},
		{route: "GET /sessions/{session}/state/resolve", path: "?branch_id=main&source_floor_id={floor}"},
		{route: "GET /sessions/{session}/state/resolve", path: "?branch_id=main&namespace={namespace}"},
		{route: "GET /sessions/{session}/state/floors/{floor}/snapshot"},
		{route: "GET /sessions/{session}/state/diff", path: "?floor_id={floor}&against=live&branch_id={branch}"},
		{route: "GET /sessions/{session}/state/diff", path: "?floor_id={floor}&against=floor:{parent}"},

		{route: "GET /sessions/{session}/session-state/mutations"},
		{route: "GET /sessions/{session}/session-state/mutations", path: "?source_floor_id={floor}"},
		{route: "GET /sessions/{session}/session-state/mutations", path: "?branch_id={branch}&state_namespace={namespace}"},
		{route: "GET /sessions/{session}/session-state/mutations/{mutation}"},
		{route: "GET /sessions/{session}/session-state/bindings"},
		{route: "GET /sessions/{session}/session-state/live"},
		{route: "GET /sessions/{session}/session-state/live", path: "?branch_id={branch}&state_namespace={namespace}"},
		{route: "GET /sessions/{session}/session-state/live/{namespace}/{slot}", path: "?branch_id=main"},
		{route: "GET /sessions/{session}/session-state/live/{namespace}/{slot}", path: "?branch_id=main&source_floor_id={floor}"},
		{route: "GET /floors/{floor}/session-state/snapshots"},
		{route: "GET /floors/{floor}/session-state/snapshots", path: "?state_namespace={namespace}"},
		{route: "GET /floors/{floor}/session-state/snapshots/{namespace}/{slot}"},
		{route: "GET /floors/{floor}/session-state/replay-safety"},
		{route: "GET /floors/{floor}/session-state/replay-safety", path: "?confirmed_mutation_ids={mutation}"},
		{route: "GET /floors/{floor}/session-state/diff", path: "?against=live&branch_id={branch}"},
		{route: "GET /floors/{floor}/session-state/diff", path: "?against=floor:{parent}"},

		{route: "POST /sessions/{session}/respond", body: turn},
		{route: "POST /sessions/{session}/respond", body: `{"message":"go","branch_id":"new","source_floor_id":"{floor}"}`},
		{route: "POST /sessions/{session}/respond/stream", body: turn},
		{route: "POST /sessions/{session}/respond/stream", body: `{"message":"go","branch_id":"new","source_floor_id":"{floor}"}`},
		{route: "POST /sessions/{session}/respond/dry-run", body: `{"message":"go"}`},
		{route: "POST /messages/{message}/edit-and-regenerate", body: `{"content":"other","branch_id":"new"}`},
		{route: "POST /sessions/{session}/regenerate", body: rerun},
		{route: "POST /floors/{floor}/retry", body: rerun},

		{route: "POST /sessions", body: `{"worldbook_profile_id":"{worldbook}"}`, status: 201},
		{route: "GET /sessions/{session}"},
		{route: "PATCH /sessions/{session}", body: `{"title":"other"}`},
		{route: "PATCH /sessions/{session}", body: `{"worldbook_profile_id":"{worldbook}"}`},
		{route: "DELETE /sessions/{session}"},
		{route: "PATCH /sessions/batch/status", body: `{"ids":["{session}"],"status":"archived"}`},
		{route: "POST /sessions/batch/delete", body: `{"ids":["{session}"]}`},
		{route: "GET /sessions/{session}/timeline"},
		{route: "GET /sessions/{session}/timeline", path: "?branch_id={branch}"},
		{route: "POST /sessions/{session}/transcript", body: rows, status: 201},
		{route: "GET /sessions/{session}/transcript"},
		{route: "GET /sessions/{session}/transcript", path: "?branch_id={branch}"},
		{route: "GET /sessions/{session}/active-run"},
		{route: "POST /sessions/{session}/reset", body: `{}`},
		{route: "POST /sessions/{session}/fork", body: `{"state":"copy"}`, status: 201},
		{route: "PUT /sessions/{session}/goal", body: `{"objective":"x"}`},
		{route: "DELETE /sessions/{session}/goal"},
		{route: "GET /sessions/{session}/extensions/{plugin}"},
		{route: "GET /sessions/{session}/extensions/{plugin}", path: "?scope=branch&branch_id={branch}"},
		{route: "DELETE /sessions/{session}/extensions/{plugin}"},
		{route: "DELETE /sessions/{session}/extensions/{plugin}", path: "?scope=branch&branch_id={branch}"},
		{route: "PUT /sessions/{session}/extensions/{plugin}", body: `{"value":1}`},
		{route: "PUT /sessions/{session}/extensions/{plugin}", path: "?scope=branch&branch_id={branch}", body: `{"value":1}`},
		{route: "GET /sessions/{session}/events"},
		{route: "GET /sessions/{session}/notices"},
		{route: "POST /sessions/{session}/notices/ack", body: `{"ids":["ntc_1"]}`},
		{route: "GET /sessions/{session}/watches"},
		{route: "POST /sessions/{session}/watches", body: `{"target_key":"{target}"}`, status: 201},
		{route: "DELETE /sessions/{session}/watches/{target}"},
		{route: "GET /sessions/{session}/why", path: "?target_key=main&tool=sessions_history"},
		{route: "GET /runs/{run}"},
		{route: "POST /runs/{run}/cancel", body: `{}`},
		{route: "POST /runs/{run}/steer", body: `{"message":"other"}`},
		{route: "POST /runs/{run}/announce", status: 409},
		{route: "GET /sessions/{session}/subagents"},
		{route: "POST /deliveries/{delivery}/ack", body: `{}`},
		{route: "POST /deliveries/{delivery}/retry"},

		{route: "GET /worldbooks/{worldbook}"},
		{route: "PUT /worldbooks/{worldbook}", body: `{"name":"other","book":{"entries":[]}}`},
		{route: "DELETE /worldbooks/{worldbook}"},

		{route: "GET /sessions/{session}/branches"},
		{route: "POST /floors/{floor}/branch", body: `{"branch_id":"new"}`, status: 201},
		{route: "DELETE /branches/{branch}"},
		{route: "DELETE /branches/{branch}", path: "?session_id={session}"},
		{route: "GET /floors", path: "?session_id={session}"},
		{route: "GET /floors", path: "?session_id={session}&branch_id={branch}"},
		{route: "GET /floors", path: "?branch_id={branch}"},
		{route: "POST /floors", body: `{"session_id":"{session}","floor_no":50,"branch_id":"bare"}`, status: 201},
		{route: "POST /floors", body: `{"session_id":"{session}","floor_no":50,"branch_id":"bare","parent_floor_id":"{parent}"}`, status: 201},
		{route: "GET /floors/{floor}"},
		{route: "DELETE /floors/{floor}"},
		{route: "GET /floors/{floor}/run"},
		{route: "GET /floors/{floor}/result"},
		{route: "GET /messages", path: "?page_id={page}"},
		{route: "GET /messages/{message}"},
	}
}

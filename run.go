package sessile

// Kinds of runs (conformance/WIRE.md, "Turns and runs"). Those of turn and ingest begin when they are asked for; all others
// are queued first.
const (
	RunKindTurn         = "turn"
	RunKindIngest       = "ingest"
	RunKindSend         = "send"
	RunKindReplyBack    = "reply_back"
	RunKindAnnounceStep = "announce_step"
	RunKindSpawn        = "spawn"
	RunKindAnnouncement = "announcement"
	RunKindWake         = "wake"
)

// RunStatus is the status of a run.
type RunStatus string

// A queued run waits for its turn, a running one holds the lease of its branch, a paused one waits for a message. The others
// have ended.
const (
	RunQueued    RunStatus = "queued"
	RunRunning   RunStatus = "running"
	RunPaused    RunStatus = "paused"
	RunSucceeded RunStatus = "succeeded"
	RunFailed    RunStatus = "failed"
	RunTimeout   RunStatus = "timeout"
	RunCancelled RunStatus = "cancelled"
)

// Ended reports whether a run with this status is over.
func (s RunStatus) Ended() bool {
	switch s {
	case RunQueued, RunRunning, RunPaused:
		return false
	}
	return true
}

// DeliveryState tells where the announcement of a run stands (spec/session-tools.md, 5.9).
type DeliveryState string

// The states. Suspended and discarded ones can be handed over again.
const (
	DeliveryNone       DeliveryState = "" // not known yet
	DeliveryUnneeded   DeliveryState = "not_required"
	DeliveryPending    DeliveryState = "pending"
	DeliveryInProgress DeliveryState = "in_progress"
	DeliverySuspended  DeliveryState = "suspended"
	DeliveryDelivered  DeliveryState = "delivered"
	DeliveryFailed     DeliveryState = "failed"
	DeliveryDiscarded  DeliveryState = "discarded"
)

// Run is one attempt to do work on a branch. Its row number with the number of the attempt is the fencing token: whoever
// commits proves that the row still runs and that nobody has started it again.
type Run struct {
	Row        int64
	ID         string
	Account    string
	SessionKey string
	Session    int64 // row; 0 when the session is gone
	Branch     int64
	Floor      int64 // row; 0 until the floor exists
	Kind       string
	RunType    string // what went into the floor: respond, regenerate_page, retry_turn, …
	Status     RunStatus
	Attempt    int64 // how often it was started
	LeaseUntil int64
	CreatedAt  int64
	StartedAt  int64 // 0 until it is started, then the time of the first start
	EndedAt    *int64
	ErrorCode  string
	Error      string // what went wrong, for people
	Version    int64  // grows with every change

	Parent    string // id of the run in which it was asked for; "" for none
	Requester string // key of the session that asked for it; "" for none
	WaitsOn   int64  // row of the run whose end it waits for; 0 for none
	Open      bool   // counts as an active child of its requester
	Delivery  DeliveryState
	DueAt     int64  // queued: it is not started before; else: when something is to be done about it; 0 for never
	Work      []byte // JSON object of what it is to do; package agentrun knows its members
	Result    string // what it said, as it is announced
}

// RunFilter narrows the list of an account's runs; zero members do not narrow.
type RunFilter struct {
	Account    string // required
	SessionKey string
	Requester  string
	Kind       string
	Status     RunStatus
	Before     int64 // rows below this one
	Limit      int
}

// RunReader finds runs.
type RunReader interface {
	// RunningRun finds the run that holds the branch.
	RunningRun(branch int64) (Run, bool, error)
	// RunningRuns lists the running runs of a session, or of all sessions for 0.
	RunningRuns(session int64) ([]Run, error)
	RunByRow(row int64) (Run, bool, error)
	Run(account, id string) (Run, bool, error)
	// FloorRun finds the latest run of a floor.
	FloorRun(floor int64) (Run, bool, error)
	// Runs lists runs, the newest first.
	Runs(filter RunFilter) ([]Run, error)
	// StartableRuns lists, in the order in which they were queued, the first queued run of each branch that nobody holds, if
	// it is due; without spawns, none of that kind.
	StartableRuns(now int64, spawns bool, limit int) ([]Run, error)
	// QueuedRuns lists the queued runs of a branch, in the order in which they were queued.
	QueuedRuns(branch int64) ([]Run, error)
	// RunsInLane counts the running runs of a kind.
	RunsInLane(kind string) (int, error)
	// DueRuns lists the runs that are not queued and due, and NextDue is when the next run of any status is; 0 for never.
	DueRuns(now int64, limit int) ([]Run, error)
	NextDue(after int64) (int64, error)
	// FirstLease is when the first lease of a running run ends, which may be over; 0 when nothing runs.
	FirstLease() (int64, error)
	// OpenRuns lists the active children of a session key, the oldest first.
	OpenRuns(account, requester string) ([]Run, error)
	// OpenRun finds the active run of kind spawn that a session key is the child of.
	OpenRun(account, sessionKey string) (Run, bool, error)
	// UndeliveredRuns lists the ended runs whose result a session key has yet to get: pending, in progress or suspended, the oldest
	// first.
	UndeliveredRuns(account, requester string) ([]Run, error)
}

// RunWriter changes runs.
type RunWriter interface {
	// AddRun inserts a run. The store holds at most one running run per branch.
	AddRun(*Run) error
	// UpdateRun writes everything but ids, account, kind, CreatedAt, Parent and Requester, and counts Version up.
	UpdateRun(*Run) error
	// RenewRun moves the end of a lease and reports whether the run is still running this attempt.
	RenewRun(row, attempt, leaseUntil int64) (bool, error)
	// DeleteRun removes a run.
	DeleteRun(row int64) error
}

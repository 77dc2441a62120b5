package turn

import "github.com/sessile-dev/sessile"

// Event tells a caller how its turn goes on (spec/governed-state.md, 5.3). Exactly one member is set.
type Event struct {
	Start     *Start
	Run       *RunRecord
	Text      string   // a piece of the answer
	Summaries []string // once, after the commit, unless there are none
}

// Start comes once the draft floor exists.
type Start struct {
	FloorID  string
	FloorNo  int64
	BranchID string
}

// Phase is how far a turn has come.
type Phase string

// The phases a turn passes through here, in order.
const (
	PhaseInputRecorded        Phase = "input_recorded"
	PhasePromptAssembled      Phase = "prompt_assembled"
	PhasePageGenerating       Phase = "page_generating"
	PhaseCandidateGenerated   Phase = "candidate_generated"
	PhaseTransactionPrepared  Phase = "transaction_prepared"
	PhaseTransactionCommitted Phase = "transaction_committed"
)

// Public is the phase as a user would say it.
func (p Phase) Public() string {
	switch p {
	case PhaseInputRecorded, PhasePromptAssembled:
		return "preparing"
	case PhasePageGenerating, PhaseCandidateGenerated:
		return "generating"
	}
	return "committing"
}

// RunRecord is the state of the run behind a turn. Times are milliseconds.
type RunRecord struct {
	FloorID     string
	RunID       string
	RunType     string
	Status      string // running, completed, failed or cancelled
	Phase       Phase
	PhaseSeq    int
	StartedAt   int64
	UpdatedAt   int64
	CompletedAt *int64
	Code        sessile.Code // of the error, "" for none
	Message     string
}

// tell hands an event to whoever listens.
func (a *attempt) tell(e Event) {
	if a.request.Observe != nil {
		a.request.Observe(e)
	}
}

// enter notes the next phase and tells of it.
func (a *attempt) enter(phase Phase, now int64) {
	a.phase = phase
	a.phaseSeq++
	a.phases = append(a.phases, PhaseEntry{phase, now})
	a.tell(Event{Run: a.record("running", now)})
}

func (a *attempt) record(status string, now int64) *RunRecord {
	return &RunRecord{
		FloorID: a.floor.ID, RunID: a.run.ID, RunType: a.runType, Status: status, Phase: a.phase, PhaseSeq: a.phaseSeq,
		StartedAt: a.run.StartedAt, UpdatedAt: now,
	}
}

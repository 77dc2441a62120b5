package extstate

// AgentDirectory is where Pi keeps its settings and sessions: AgentDir, else what the environment says, else .pi/agent in
// the home directory. It fails only when no home directory is known and one is needed.
func (p Place) AgentDirectory() (string, error) { return p.agentDir() }

package setup

// VerifyState is the step of verification.
type VerifyState struct {
	Phase Phase
}

func (m *Machine) resetVerify()         { m.state.Verify = VerifyState{Phase: Waiting} }
func (m *Machine) beginVerify()         { m.state.Verify.Phase = Looking }
func (m *Machine) offerCard(_ Sighting) {}

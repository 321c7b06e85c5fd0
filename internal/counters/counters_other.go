//go:build !linux && !darwin

package counters

// A Reader takes readings.
type Reader struct{}

// New finds out what this machine tells: nothing.
func New() *Reader { return &Reader{} }

// Close does nothing: nothing is kept open.
func (*Reader) Close() {}

// Energy says why Joules are not known here.
func (*Reader) Energy() (source string, err error) { return "", errNoEnergy }

// Glance knows nothing here.
func (*Reader) Glance() Reading { return Reading{} }

// Read knows nothing here.
func (*Reader) Read() Reading { return Reading{} }

package results

import (
	"math"
	"math/bits"
	"strings"
	"time"
)

// Schema is the version of the file format written in every row.
const Schema = "1"

// A Record is one row of a results file: one repetition, one prediction, or one point that could
// not be measured and says why. Fields stand in the order of the columns, and their csv tags are
// the column names. FORMAT.md says what each holds.
//
// In a plain number zero means "not known" and is written as an empty cell;
// columns where zero is a value of its own are Optional.
type Record struct {
	Schema           string    `csv:"schema,required"`
	RunID            string    `csv:"run_id"`
	StartedAt        time.Time `csv:"started_at"` // start of the run, UTC
	MatladderVersion string    `csv:"matladder_version"`
	Host             string    `csv:"host"`
	Backend          string    `csv:"backend"`
	Device           string    `csv:"device"`
	Chip             string    `csv:"chip"`
	Plugin           string    `csv:"plugin"`
	PluginVersion    string    `csv:"plugin_version"`

	Kernel  string `csv:"kernel,required"` // Baseline or the name of a rung
	Variant string `csv:"variant"`
	Mode    Mode   `csv:"mode,required"`
	Method  Method `csv:"method"`
	Status  Status `csv:"status,required"`
	Reason  string `csv:"reason"`

	Family     string `csv:"family"`     // of problems; matmul where the cell is empty
	Shape      string `csv:"shape"`      // sizes as name=number, joined by commas
	Options    string `csv:"options"`    // what else is asked in words of the family's own
	Figure     Figure `csv:"figure"`     // what speed is told in; flops where the cell is empty
	Batch      int    `csv:"batch"`      // 1 where the cell is empty
	M          int    `csv:"m,required"` // these three of a matmul
	K          int    `csv:"k,required"`
	N          int    `csv:"n,required"`
	DtypeA     string `csv:"dtype_a,required"`
	DtypeB     string `csv:"dtype_b"`
	DtypeAcc   string `csv:"dtype_acc"`
	DtypeOut   string `csv:"dtype_out"`
	Precision  string `csv:"precision"`
	Quant      string `csv:"quant"`
	Activation string `csv:"activation"`

	BM          int    `csv:"bm"`
	BK          int    `csv:"bk"`
	BN          int    `csv:"bn"`
	BlockSource string `csv:"block_source"`
	Params      string `csv:"params"` // key=value, sorted by key, joined by spaces
	ISA         string `csv:"isa"`
	Threads     int    `csv:"threads"`
	Devices     int    `csv:"devices"`
	Mesh        string `csv:"mesh"`
	Pin         string `csv:"pin"`   // what threads were bound to; "" if to nothing
	Cache       string `csv:"cache"` // Cold, or "" where launches find what the last one left
	Fault       string `csv:"fault"` // by which outputs were damaged on purpose

	RestSeconds   float64 `csv:"rest_seconds"`   // that the machine was idle ahead of the point's turn
	Duty          int     `csv:"duty"`           // percent of a window that the device was busy; 0 of no window
	WindowSeconds float64 `csv:"window_seconds"` // how long it is

	Layers string `csv:"layers"` // which parts of which layers the problem is, as FormatUses spells them

	Round          int               `csv:"round,zero"`     // from 0
	Rep            int               `csv:"rep,zero"`       // from 0 within (point, round)
	Beside         string            `csv:"beside"`         // the Product that took turns with this one in the same rounds
	OffsetSeconds  Optional[float64] `csv:"offset_seconds"` // when the row began in its window
	Launches       int               `csv:"launches,required"`
	Seconds        float64           `csv:"seconds,required"` // elapsed, all launches together
	SecondsLow     float64           `csv:"seconds_low"`      // of a prediction: the least and the most that
	SecondsHigh    float64           `csv:"seconds_high"`     // it may be, as far as is known
	CompileSeconds float64           `csv:"compile_seconds"`

	Operands     string            `csv:"operands"` // where a launch finds its operands, e.g. hbm or vmem
	ErrOverBound Optional[float64] `csv:"err_over_bound"`
	RelErr       Optional[float64] `csv:"rel_err"`
	QuantRelErr  Optional[float64] `csv:"quant_rel_err"`
	QuantMaxErr  Optional[float64] `csv:"quant_max_err"`
	QuantSNRdB   Optional[float64] `csv:"quant_snr_db,signed"`
	Dist         string            `csv:"dist"`
	Seed         Optional[int64]   `csv:"seed,signed"`
	Verified     string            `csv:"verified"` // of a prediction: what its output was verified by, or why it was not

	Conditions // of the machine while the row was measured

	PeakFLOPs       float64 `csv:"peak_flops"` // FLOP/s (OP/s for integers)
	PeakSource      string  `csv:"peak_source"`
	Bandwidth       float64 `csv:"bandwidth"` // bytes/s
	BandwidthSource string  `csv:"bandwidth_source"`
	FLOPs           int64   `csv:"flops"` // the next six are per launch
	FLOPsComputed   int64   `csv:"flops_computed"`
	BytesMin        int64   `csv:"bytes_min"`
	BytesMoved      int64   `csv:"bytes_moved"`
	FastBytes       int64   `csv:"fast_bytes"`
	GridSteps       int64   `csv:"grid_steps"`
	MemoryBytes     int64   `csv:"memory_bytes"` // of main memory, on each device of a mesh

	Extra map[string]string // columns this version does not know, kept as read; nil when none
	Pos   Pos               // where the row was read; not part of the row
}

// Conditions are what became of the machine while something was measured, as package
// harness/measure finds them. What is not known is absent.
type Conditions struct {
	ControlComputeAhead  float64           `csv:"control_compute_ahead"`  // seconds of fixed arithmetic
	ControlComputeBehind float64           `csv:"control_compute_behind"` // the same behind the round
	ControlMemoryAhead   float64           `csv:"control_memory_ahead"`   // seconds of a fixed read of memory
	ControlMemoryBehind  float64           `csv:"control_memory_behind"`
	RoundSeconds         float64           `csv:"round_seconds"`  // wall time between the controls
	WaitedSeconds        Optional[float64] `csv:"waited_seconds"` // of this row, for a processor
	Switches             Optional[int64]   `csv:"switches"`       // of this row, involuntary
	Cycles               Optional[int64]   `csv:"cycles"`         // of this row, of all threads, and the next four
	Instructions         Optional[int64]   `csv:"instructions"`
	L2Misses             Optional[int64]   `csv:"l2_misses"`
	L3Misses             Optional[int64]   `csv:"l3_misses"`
	DTLBMisses           Optional[int64]   `csv:"dtlb_misses"`
	OthersSeconds        Optional[float64] `csv:"others_seconds"`    // of the round, that processors worked for others
	StealSeconds         Optional[float64] `csv:"steal_seconds"`     // of the round
	ThrottledSeconds     Optional[float64] `csv:"throttled_seconds"` // of the round
	ThermalThrottles     Optional[int64]   `csv:"thermal_throttles"` // of the round
	Joules               Optional[float64] `csv:"joules"`            // of this row, and where they come from
	EnergySource         string            `csv:"energy_source"`
	Load                 Optional[float64] `csv:"load"`     // at its end
	ClockHz              float64           `csv:"clock_hz"` // at its end

	// The same of a device that tells: the next two of the round, the rest behind the launches.
	DeviceThrottledSeconds Optional[float64] `csv:"device_throttled_seconds"` // slowed to cool
	DeviceCappedSeconds    Optional[float64] `csv:"device_capped_seconds"`    // at its limit of power
	Throttles              string            `csv:"throttles"`                // reasons joined by +, none, or "" if not known
	MemoryClockHz          float64           `csv:"memory_clock_hz"`
	DeviceCelsius          float64           `csv:"device_celsius"`
	DeviceWatts            float64           `csv:"device_watts"`
	DeviceOthersBytes      Optional[int64]   `csv:"device_others_bytes"` // of its memory, that other processes hold
}

// Baseline is the kernel name of the vendor's own matmul.
const Baseline = "xla"

// Cold is in column cache where all that a launch reads and writes had left the caches ahead of it.
const Cold = "cold"

// Interpret is the variant, or the last word of it, of rows whose backend ran what
// the kernel means instead of the kernel: for comparing outputs, not speed.
const Interpret = "interpret"

// Interpreted reports whether the row is such a one. No picture shows it.
func (r *Record) Interpreted() bool {
	return r.Variant == Interpret || strings.HasSuffix(r.Variant, " "+Interpret)
}

// Mode says whether a row was timed or computed.
type Mode string

const (
	Measured  Mode = "measured"
	Predicted Mode = "predicted"
)

// Method says how Seconds came about.
type Method string

const (
	Loop   Method = "loop"   // the program loops n launches; the slope over n is the device time
	Chain  Method = "chain"  // launches enqueued back to back, each on the output of the last
	Wall   Method = "wall"   // launch and wait, dispatch included
	Direct Method = "direct" // plain calls on the CPU, timed beside them
	AOT    Method = "aot"    // read from the schedule of a compiled program

	Published Method = "published" // between times that others published
)

// Status is what became of a point.
type Status string

const (
	OK          Status = "ok"
	TooBig      Status = "too_big"     // does not fit the memory it needs
	Unsupported Status = "unsupported" // this backend lacks what the program uses
	Wrong       Status = "wrong"       // output outside its error bound
	Impossible  Status = "impossible"  // faster than the machine can be
	Failed      Status = "failed"
	Timeout     Status = "timeout"
	Crashed     Status = "crashed"
	Skipped     Status = "skipped"
)

// Modes, Methods and Statuses list every legal cell of their columns.
var (
	Modes    = []Mode{Measured, Predicted}
	Methods  = []Method{Loop, Chain, Wall, Direct, AOT, Published}
	Statuses = []Status{OK, TooBig, Unsupported, Wrong, Impossible, Failed, Timeout, Crashed, Skipped}
)

// An Optional is a number that may be absent where zero is a value of its
// own. The zero Optional is absent and is written as an empty cell.
type Optional[T int64 | float64] struct {
	Value T
	Known bool
}

// Some returns a known value.
func Some[T int64 | float64](v T) Optional[T] { return Optional[T]{v, true} }

// Finite returns v as known, or absent if v is NaN or infinite: those have no place in a file.
func Finite(v float64) Optional[float64] {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Optional[float64]{}
	}
	return Some(v)
}

// Pos is a place in a results file.
type Pos struct {
	File string
	Line int // from 1
}

// A PointKey identifies a point by content: two rows with equal keys are
// samples of one program on one machine, measured one way. It is comparable.
type PointKey struct {
	GroupKey
	Version, Backend, Device, Plugin, PluginVersion string
	Kernel, Variant                                 string
	Method                                          Method
	BM, BK, BN                                      int
	Params, ISA                                     string
	Threads                                         int
	Operands, Pin, Fault                            string
}

// A GroupKey identifies a group: every point, and the baseline, that answers
// the same problem on the same hardware. The backend is not part of it,
// because the baseline of a CPU kernel runs on another one. It is comparable.
type GroupKey struct {
	Host, Chip                         string
	Devices                            int
	Mesh                               string
	Mode                               Mode
	Family, Shape, Options             string
	DtypeA, DtypeB, DtypeAcc, DtypeOut string
	Precision, Quant, Activation       string
	Cache, Dist                        string
	Duty                               int
	Window, Rest                       float64
}

// Point returns the key of the row's point.
func (r *Record) Point() PointKey {
	return PointKey{
		GroupKey: r.Group(),
		Version:  r.MatladderVersion, Backend: r.Backend, Device: r.Device,
		Plugin: r.Plugin, PluginVersion: r.PluginVersion,
		Kernel: r.Kernel, Variant: r.Variant, Method: r.Method,
		BM: r.BM, BK: r.BK, BN: r.BN, Params: r.Params, ISA: r.ISA,
		Threads: r.Threads, Operands: r.Operands, Pin: r.Pin, Fault: r.Fault,
	}
}

// Group returns the key of the row's group.
func (r *Record) Group() GroupKey {
	return GroupKey{
		Host: r.Host, Chip: r.Chip, Devices: r.Devices, Mesh: r.Mesh, Mode: r.Mode,
		Family: r.FamilyName(), Shape: r.ShapeName(), Options: r.Options,
		DtypeA: r.DtypeA, DtypeB: r.DtypeB, DtypeAcc: r.DtypeAcc, DtypeOut: r.DtypeOut,
		Precision: r.Precision, Quant: r.Quant, Activation: r.Activation, Cache: r.Cache, Dist: r.Dist,
		Duty: r.Duty, Window: r.WindowSeconds, Rest: r.RestSeconds,
	}
}

// FLOPCount returns 2·batch·m·n·k, and false if a size is not positive or the
// count does not fit an int64.
func FLOPCount(batch, m, k, n int) (int64, bool) {
	product := uint64(2)
	for _, size := range [...]int{batch, m, k, n} {
		if size < 1 {
			return 0, false
		}
		hi, lo := bits.Mul64(product, uint64(size))
		if hi != 0 || lo > math.MaxInt64 {
			return 0, false
		}
		product = lo
	}
	return int64(product), true
}

// Condemns reports whether the row invalidates all rows of its point.
func (r *Record) Condemns() bool { return r.Status == Wrong || r.Status == Impossible }

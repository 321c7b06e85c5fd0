// Package child runs a part of the program in a child process, where it may crash,
// hang or print without harm.
//
//  1. Start starts the same program again, told by an environment variable which part
//     it is to play; there Serve, called first thing in main or TestMain, answers. Or
//     it starts another program that speaks as conn.go says.
//  2. Ask puts a question and waits for the answer: over descriptor 3, and back over 4.
//     What the child prints to 1 and 2 is kept only to say why it died.
//  3. A question that is not answered when its context ends is cancelled; a child that
//     then goes on is killed, with all that it has started. So is one that stands
//     still. A child that dies costs the question that it was asked, as a *CrashError.
//  4. Close ends the child. Should the parent die, the child ends by itself.
//
// A child is in a process group of its own, since Ctrl-C is for its parent to handle.
// What the package does not do: start a child anew, or ask a question twice.
package child

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"matladder/internal/childlog"
)

// Options say what to start.
type Options struct {
	Role    string   // that the same program is to play: one that it calls Serve with
	Program string   // path of another program instead
	Args    []string // its arguments
	Env     []string // NAME=value, added to the environment

	// Grace is how long a question may take to end after it was cancelled, before the
	// child is killed; 0 kills at once. Only Serve hears of it.
	Grace time.Duration
	// Silence is how long a child that was asked may not be heard of before it is
	// killed; 0 is for ever. Serve is heard of every second.
	Silence time.Duration
	// Rest stops the child except while it is asked, so that it takes no time from others.
	Rest bool
}

// Process is a child, seen from its parent. Several goroutines may use it; questions take turns.
type Process struct {
	options Options
	cmd     *exec.Cmd
	conn    *conn
	to      *os.File
	from    *os.File
	said    childlog.Writer

	asking sync.Mutex
	enc    *gob.Encoder // of values, into sent
	dec    *gob.Decoder // out of got
	sent   bytes.Buffer
	got    bytes.Buffer

	state sync.Mutex
	dead  bool
	why   error // that it was killed, if it was

	gone  chan struct{} // closed when it has ended
	death string        // how, once it has
}

// CrashError says that a child died before it answered, or made no sense.
type CrashError struct {
	What   string // it was asked for
	Reason string // how it ended, and what it printed last
}

func (e *CrashError) Error() string { return fmt.Sprintf("%s: crashed: %s", e.What, e.Reason) }

// ErrNoArrays means that an answer came without the arrays that were asked for.
var ErrNoArrays = errors.New("the answer has no arrays")

// variable is set in the environment of a child to the role that it has.
const variable = "MATLADDER_CHILD"

// exitTime is how long a child that closed its end may take to end by itself: one that
// dies of a signal must not be killed by another before it is asked why.
const exitTime = time.Second

// Start starts a child.
func Start(o Options) (*Process, error) {
	if role := os.Getenv(variable); role != "" {
		return nil, fmt.Errorf("child: this process is to be %q and starts children instead: its main calls no Serve of that role", role)
	}
	p := &Process{options: o, gone: make(chan struct{})}
	p.enc, p.dec = gob.NewEncoder(&p.sent), gob.NewDecoder(&p.got)
	started := make(chan error)
	go p.live(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("child: %w", err)
	}
	return p, nil
}

// live starts the child and waits for its end, on one thread: where the system tells a
// child that its parent died, it means the thread that started it.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	output, err := p.start()
	started <- err
	if err != nil {
		return
	}
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		io.Copy(&p.said, output)
	}()
	state, err := p.cmd.Process.Wait()
	p.state.Lock()
	killGroup(p.cmd) // what it has started
	p.dead = true
	p.state.Unlock()
	late := time.Now().Add(exitTime) // something in another group may hold the pipes
	output.SetReadDeadline(late)
	p.from.SetReadDeadline(late)
	<-printed
	output.Close()
	p.death = "gone"
	if err == nil {
		p.death = ended(state)
	}
	close(p.gone)
}

// start makes the pipes and the process; output is what it prints.
func (p *Process) start() (output *os.File, err error) {
	o := p.options
	if o.Program == "" {
		if o.Program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	var pipes []*os.File // read and write ends in turn
	fail := func(err error) (*os.File, error) {
		for _, f := range pipes {
			f.Close()
		}
		return nil, err
	}
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return fail(err)
		}
		pipes = append(pipes, r, w)
	}
	p.cmd = exec.Command(o.Program, o.Args...)
	p.cmd.Env = append(p.cmd.Environ(), o.Env...)
	if o.Role != "" {
		p.cmd.Env = append(p.cmd.Env, variable+"="+o.Role)
		if os.Getenv("GOTRACEBACK") == "" { // a trace of this program says nothing of what it loads
			p.cmd.Env = append(p.cmd.Env, "GOTRACEBACK=none")
		}
	}
	p.cmd.Stdout, p.cmd.Stderr = pipes[5], pipes[5]
	if err := prepare(p.cmd, pipes[0], pipes[3]); err != nil {
		return fail(err)
	}
	if err := p.cmd.Start(); err != nil {
		return fail(err)
	}
	for _, theirs := range []int{0, 3, 5} {
		pipes[theirs].Close()
	}
	p.to, p.from = pipes[1], pipes[2]
	p.conn = newConn(p.from, p.to)
	return pipes[4], nil
}

// Pid is the process's number.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Alive reports whether the child has not ended.
func (p *Process) Alive() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// kill ends the child and all that it has started. The first reason holds.
func (p *Process) kill(why error) {
	p.state.Lock()
	defer p.state.Unlock()
	if p.dead {
		return
	}
	p.why = cmp.Or(p.why, why)
	killGroup(p.cmd)
}

// Kill ends the child and waits for its end.
func (p *Process) Kill() {
	p.kill(errors.New("the process was ended"))
	<-p.gone
	p.close()
}

func (p *Process) close() {
	p.to.Close()
	p.from.Close()
}

// Close lets the child end, kills it after a time, and waits for its end.
func (p *Process) Close(patience time.Duration) {
	p.to.Close()
	p.rest(false)
	timer := time.AfterFunc(patience, func() { p.kill(errors.New("the process was ended")) })
	defer timer.Stop()
	<-p.gone
	p.close()
}

// rest stops a child, or has it go on.
func (p *Process) rest(stop bool) {
	p.state.Lock()
	defer p.state.Unlock()
	if p.options.Rest && !p.dead {
		stopGroup(p.cmd, stop)
	}
}

// lost is why a child that is gone does not answer.
func (p *Process) lost(what string) error {
	<-p.gone
	p.close()
	p.state.Lock()
	defer p.state.Unlock()
	reason := p.death
	if wrong, ok := p.why.(wrongError); ok {
		reason = string(wrong)
	} else if p.why != nil {
		return p.why
	}
	if words := p.said.Lines(lastLines); words != "" {
		reason += "; it said last: " + words
	}
	return &CrashError{what, reason}
}

// lastLines is how many lines of what a child printed are told.
const lastLines = 3

// wrongError is what a living child did wrong, and why it is killed.
type wrongError string

func (e wrongError) Error() string { return string(e) }

// Threads are environment variables that tell the libraries of a child how many threads to use.
func Threads(n int) []string {
	env := []string{"OMP_DYNAMIC=FALSE", "MKL_DYNAMIC=FALSE"}
	for _, name := range []string{"OPENBLAS", "OMP", "MKL", "BLIS"} {
		env = append(env, fmt.Sprintf("%s_NUM_THREADS=%d", name, n))
	}
	return env
}

// quietLooks is how often a child is looked at in the time that it may be silent.
const quietLooks = 8

// quiet is how long a child was not heard of while this process ran. One that was
// stopped itself (Ctrl-Z, a suspended machine) has not listened: the gap that its clock
// shows afterwards is nobody's silence.
type quiet struct {
	limit, silent time.Duration
	last          time.Time // looked at
	heard         int64     // of it then
}

// over takes another look and reports whether the worker was silent for too long.
func (q *quiet) over(now time.Time, heard int64) bool {
	gap := now.Sub(q.last)
	if q.last = now; heard != q.heard {
		q.heard, q.silent = heard, 0
		return false
	}
	q.silent += min(gap, 2*q.limit/quietLooks)
	return q.silent > q.limit
}

// Seen is what was seen of a child from outside while it was asked. Systems other than Linux tell
// Elapsed alone.
type Seen struct {
	Elapsed    time.Duration
	Processors time.Duration // that it took, of threads that ended too
	Allowed    int           // processors on which its threads may run, together
	Raised     string        // how one of its threads has another priority than this process
}

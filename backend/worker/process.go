package worker

import (
	"bufio"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"matladder/backend"
	"matladder/tile"
)

// process is the parent's side of one worker.
type process struct {
	cmd    *exec.Cmd
	output tail
	pipe   *os.File // of calls
	grace  time.Duration

	calling sync.Mutex // one call at a time
	seq     uint64
	into    atomic.Pointer[[]tile.Tensor] // where the arrays of the reply go

	sending sync.Mutex // of what follows
	out     *bufio.Writer
	enc     *gob.Encoder

	replies chan reply
	heard   atomic.Int64 // how often the worker was heard of
	gone    chan struct{}
	death   string                // once gone: how it ended
	killed  atomic.Pointer[error] // why it was killed, if it was
}

func start(name string, o Options) (*process, error) {
	p := &process{grace: o.Grace, replies: make(chan reply, 1), gone: make(chan struct{})}
	cmd, calls, replies, err := startProcess(name, o.Env, &p.output)
	if err != nil {
		return nil, err
	}
	p.cmd, p.pipe = cmd, calls
	p.out = bufio.NewWriter(calls)
	p.enc = gob.NewEncoder(p.out)
	go p.read(replies)
	go p.watch(o.Silence)
	return p, nil
}

// read takes replies in until the worker is gone, and then buries it.
func (p *process) read(replies *os.File) {
	in := bufio.NewReader(listener{replies, p})
	dec := gob.NewDecoder(in)
	for {
		var r reply
		if dec.Decode(&r) != nil || !r.Beat && r.Err == nil && p.receive(in) != nil {
			break
		}
		if !r.Beat {
			p.replies <- r
		}
	}
	replies.Close()
	killProcess(p.cmd)
	p.cmd.Wait()
	p.pipe.Close()
	p.death = ended(p.cmd.ProcessState)
	if words := p.output.lastWords(); words != "" {
		p.death += ": " + words
	}
	close(p.gone)
}

// receive reads the arrays behind a reply, if any were asked for.
func (p *process) receive(in io.Reader) error {
	for _, t := range *p.into.Load() {
		if _, err := io.ReadFull(in, t.Data); err != nil {
			return err
		}
	}
	return nil
}

// listener notes that the worker was heard of.
type listener struct {
	io.Reader
	p *process
}

func (l listener) Read(b []byte) (int, error) {
	n, err := l.Reader.Read(b)
	l.p.heard.Add(1)
	return n, err
}

// watch kills a worker that is not heard of for too long.
func (p *process) watch(silence time.Duration) {
	q := quiet{limit: silence, last: time.Now()}
	tick := time.NewTicker(max(silence/quietLooks, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-p.gone:
			return
		case <-tick.C:
			if q.over(time.Now(), p.heard.Load()) {
				p.kill(fmt.Errorf("the worker process stood still for %s and was ended: %w", silence, context.DeadlineExceeded))
				return
			}
		}
	}
}

func (p *process) kill(why error) {
	p.killed.CompareAndSwap(nil, &why)
	killProcess(p.cmd)
}

func (p *process) alive() bool {
	select {
	case <-p.gone:
		return false
	default:
		return true
	}
}

// send writes a call and its arrays. A worker that does not read is killed by
// whoever waits for the call, which ends the write.
func (p *process) send(c call, arrays []tile.Tensor) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	err := p.enc.Encode(c)
	for _, t := range arrays {
		if err == nil {
			_, err = p.out.Write(t.Data)
		}
	}
	if err == nil {
		err = p.out.Flush()
	}
	return err
}

// call makes a call and waits for the reply; in goes with it, and into receives
// the arrays of the reply. When ctx ends, the worker is told, and killed if it
// then does not answer within the time of grace.
func (p *process) call(ctx context.Context, c call, in, into []tile.Tensor) (reply, error) {
	p.calling.Lock()
	defer p.calling.Unlock()
	if err := ctx.Err(); err != nil {
		return reply{}, fmt.Errorf("%s: %w", c.Op, err)
	}
	if !p.alive() {
		return reply{}, p.lost(c.Op)
	}
	p.seq++
	c.Seq = p.seq
	p.into.Store(&into)
	p.output.reset()

	done := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(p.grace, func() {
			p.kill(fmt.Errorf("%s did not stop when told to, and the worker process was ended: %w", c.Op, context.Cause(ctx)))
		})
		p.send(call{Op: opCancel, Seq: c.Seq}, nil)
		<-done
		timer.Stop()
	})
	err := p.send(c, in)
	var r reply
	if err == nil {
		select {
		case r = <-p.replies:
		case <-p.gone:
			select {
			case r = <-p.replies: // its last
			default:
				err = errGone
			}
		}
	}
	close(done)
	stop()
	switch {
	case err != nil:
		killProcess(p.cmd)
		<-p.gone
		return reply{}, p.lost(c.Op)
	case r.Err != nil && r.Err.Canceled && ctx.Err() != nil: // the worker does not know why
		return reply{}, fmt.Errorf("%s: %w", c.Op, context.Cause(ctx))
	}
	return r, r.Err.err()
}

var errGone = errors.New("the worker process is gone")

// lost is the error of a call to a worker that is gone.
func (p *process) lost(o op) error {
	if why := p.killed.Load(); why != nil {
		return *why
	}
	return &backend.CrashError{What: o.String(), Reason: "the worker process was " + p.death}
}

// end closes the worker's pipe, upon which it exits, and waits until it has.
func (p *process) end() {
	p.sending.Lock()
	p.pipe.Close()
	p.sending.Unlock()
	timer := time.AfterFunc(p.grace, func() { killProcess(p.cmd) })
	defer timer.Stop()
	<-p.gone
}

package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"matladder/backend"
	"matladder/tile"
)

// variable is set in the environment of a worker.
const variable = "MATLADDER_WORKER"

// beatEvery is how often a worker says that it is alive.
const beatEvery = time.Second

// Opener opens a backend inside a worker. config is what Options.Config was.
type Opener func(ctx context.Context, config []byte) (backend.Backend, error)

// Hook must be called first thing in main, and in TestMain of tests that start
// workers. In a worker it serves the parent and ends the process; elsewhere it
// returns at once. openers are by the names that Options.Opener may have.
func Hook(openers map[string]Opener) {
	if os.Getenv(variable) == "" {
		return
	}
	os.Unsetenv(variable) // what the worker starts is no worker
	calls, replies, err := inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	s := newServer(openers, replies)
	go s.beat()
	go s.read(calls)
	for c := range s.calls {
		s.answer(c)
	}
}

// server is the worker's side.
type server struct {
	openers map[string]Opener
	calls   chan received

	mu  sync.Mutex // of what follows
	out *bufio.Writer
	enc *gob.Encoder

	current sync.Mutex
	seq     uint64
	cancel  context.CancelFunc

	backend     backend.Backend
	executables map[int]backend.Executable
	next        int
}

// received is a call with its arrays.
type received struct {
	call
	ctx  context.Context
	data []tile.Tensor
}

func newServer(openers map[string]Opener, replies io.Writer) *server {
	out := bufio.NewWriter(replies)
	return &server{
		openers: openers, calls: make(chan received),
		out: out, enc: gob.NewEncoder(out), executables: map[int]backend.Executable{},
	}
}

// read takes calls in until the parent is gone, which ends the process whatever
// it is doing.
func (s *server) read(calls io.Reader) {
	in := bufio.NewReader(calls)
	dec := gob.NewDecoder(in)
	for {
		var c call
		if err := dec.Decode(&c); err != nil {
			os.Exit(0)
		}
		if c.Op == opCancel {
			s.current.Lock()
			if s.seq == c.Seq && s.cancel != nil {
				s.cancel()
			}
			s.current.Unlock()
			continue
		}
		r := received{call: c}
		if c.Op == opLoad {
			for _, a := range c.Arrays {
				t := tile.Tensor{Dtype: a.Dtype, Shape: a.Shape, Data: make([]byte, a.Bytes)}
				if _, err := io.ReadFull(in, t.Data); err != nil {
					os.Exit(0)
				}
				r.data = append(r.data, t)
			}
		}
		s.current.Lock()
		r.ctx, s.cancel = context.WithCancel(context.Background())
		s.seq = c.Seq
		s.current.Unlock()
		s.calls <- r
	}
}

// beat says every now and then that the process is alive.
func (s *server) beat() {
	for range time.Tick(beatEvery) {
		s.send(reply{Beat: true}, nil)
	}
}

func (s *server) send(r reply, arrays []tile.Tensor) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.enc.Encode(r)
	for _, t := range arrays {
		if err == nil {
			_, err = s.out.Write(t.Data)
		}
	}
	if err == nil {
		err = s.out.Flush()
	}
	if err != nil { // the parent is gone
		os.Exit(0)
	}
}

// answer serves one call. A panic is the call's failure.
func (s *server) answer(c received) {
	r := reply{Seq: c.Seq}
	var arrays []tile.Tensor
	err := func() (err error) {
		defer func() {
			if v := recover(); v != nil {
				err = &backend.CrashError{What: c.Op.String(), Reason: fmt.Sprintf("panic: %v", v)}
			}
		}()
		arrays, err = s.serve(c, &r)
		return err
	}()
	if r.Err = newFailure(err); err != nil {
		arrays = nil
	}
	s.send(r, arrays)
	if c.Op == opClose {
		os.Exit(0)
	}
}

func (s *server) serve(c received, r *reply) ([]tile.Tensor, error) {
	switch c.Op {
	case opOpen:
		return nil, s.open(c, r)
	case opCompile:
		programs, err := tile.ReadPrograms(bytes.NewReader(c.Programs))
		if err != nil {
			return nil, err
		}
		e, err := s.backend.Compile(c.ctx, programs, c.Params)
		return nil, s.keep(e, err, r)
	case opBaseline:
		e, err := s.backend.Baseline(c.ctx, c.Baseline)
		return nil, s.keep(e, err, r)
	case opClose:
		for id := range s.executables {
			s.executables[id].Close()
		}
		return nil, s.backend.Close()
	}
	e, ok := s.executables[c.ID]
	if !ok {
		return nil, fmt.Errorf("worker: no executable %d", c.ID)
	}
	var err error
	switch c.Op {
	case opLoadSeeded:
		return nil, e.LoadSeeded(c.ctx, c.Inputs)
	case opPoison:
		return nil, e.Poison(c.ctx)
	case opCheck:
		r.Check, err = e.Check(c.ctx, c.Check)
		return nil, err
	case opLoad:
		return nil, e.Load(c.data...)
	case opRun:
		r.Sample, err = e.Run(c.ctx, c.Launches)
		return nil, err
	case opResults:
		out := make([]tile.Tensor, len(c.Arrays))
		for i, a := range c.Arrays {
			out[i] = tile.Tensor{Dtype: a.Dtype, Shape: a.Shape, Data: make([]byte, a.Bytes)}
		}
		return out, e.Results(out...)
	case opCloseExecutable:
		delete(s.executables, c.ID)
		return nil, e.Close()
	}
	return nil, fmt.Errorf("worker: no such call: %d", c.Op)
}

func (s *server) open(c received, r *reply) error {
	opener, ok := s.openers[c.Opener]
	if !ok {
		return fmt.Errorf("worker: no backend %q", c.Opener)
	}
	be, err := opener(c.ctx, c.Config)
	if err != nil {
		return err
	}
	s.backend = be
	r.Name, r.Device = be.Name(), be.Device()
	if p, ok := be.(backend.Plugged); ok {
		r.Plugin[0], r.Plugin[1] = p.Plugin()
	}
	return nil
}

func (s *server) keep(e backend.Executable, err error, r *reply) error {
	if err != nil {
		return err
	}
	s.next++
	r.ID = s.next
	s.executables[s.next] = e
	return nil
}

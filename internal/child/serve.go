package child

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"os"
	"sync"
	"time"
)

// beatEvery is how often a child that was asked says that it is alive.
const beatEvery = time.Second

// Serve answers what a parent asks until the parent is gone, and ends the process, if it
// was started to play this role; elsewhere it returns at once. It is the first thing in
// main, and in TestMain of tests that start children.
//
// answer is called with each question and its arrays, one after the other, on the
// goroutine that called Serve. Its ctx ends when the parent cancels.
func Serve[Q, A any](role string, answer func(ctx context.Context, question Q, in [][]byte) (A, [][]byte)) {
	if os.Getenv(variable) != role || role == "" {
		return
	}
	os.Unsetenv(variable) // what the child starts plays no role
	in, out, err := inherited()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	s := &server[Q]{conn: newConn(in, out), asked: make(chan asked[Q])}
	go s.read()
	var text bytes.Buffer
	enc := gob.NewEncoder(&text)
	for q := range s.asked {
		stop := s.beat()
		a, arrays := answer(q.ctx, q.question, q.arrays)
		stop()
		text.Reset()
		if err := enc.Encode(a); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(2)
		}
		if s.conn.send(partsMessage, append([][]byte{text.Bytes()}, arrays...)) != nil {
			os.Exit(0) // the parent is gone
		}
	}
}

// server is the child's side.
type server[Q any] struct {
	conn  *conn
	asked chan asked[Q]
}

// asked is a question.
type asked[Q any] struct {
	ctx      context.Context
	question Q
	arrays   [][]byte
}

// read takes questions in until the parent is gone, which ends the process whatever it
// is doing: without taking down what it has loaded, which may hang.
func (s *server[Q]) read() {
	var text bytes.Buffer
	dec := gob.NewDecoder(&text)
	cancel := func() {}
	for {
		switch kind, err := s.conn.next(); {
		case err != nil:
			os.Exit(0)
		case kind == cancelMessage:
			cancel()
			continue
		case kind != partsMessage:
			os.Exit(2)
		}
		q, err := s.question(&text, dec)
		if isNonsense(err) {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(2)
		} else if err != nil {
			os.Exit(0)
		}
		cancel()
		q.ctx, cancel = context.WithCancel(context.Background())
		s.asked <- q
	}
}

func (s *server[Q]) question(text *bytes.Buffer, dec *gob.Decoder) (q asked[Q], err error) {
	text.Reset()
	parts, err := s.conn.first(text)
	if err != nil {
		return q, err
	}
	if err := dec.Decode(&q.question); err != nil {
		return q, nonsenseError{err}
	}
	for range parts - 1 {
		array, err := s.conn.array()
		if err != nil {
			return q, err
		}
		q.arrays = append(q.arrays, array)
	}
	return q, nil
}

// beat says every now and then that the process is alive, until it is stopped.
func (s *server[Q]) beat() (stop func()) {
	answered := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		tick := time.NewTicker(beatEvery)
		defer tick.Stop()
		for {
			select {
			case <-answered:
				return
			case <-tick.C:
				s.conn.send(beatMessage, nil)
			}
		}
	})
	return func() {
		close(answered)
		beating.Wait()
	}
}

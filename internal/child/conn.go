package child

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// What goes between parent and child are messages. One begins with a byte that says what
// it is; a question and an answer go on with the number of their parts, in four bytes,
// and the parts, each behind its length in eight; the lowest byte of a number first. The
// first part says what is asked or answered, the others are arrays.
const (
	partsMessage  byte = iota // a question, or an answer
	beatMessage               // the child says that it is alive
	cancelMessage             // the parent wants no answer any more
)

// A message is of at most so many parts, of which the first is no longer than the limit.
const (
	mostParts = 1 << 10
	mostFirst = 1 << 30
	mostBytes = 1 << 46
)

// conn is one end.
type conn struct {
	in    *bufio.Reader
	heard atomic.Int64 // how often something passed, in either direction

	sending sync.Mutex
	out     *bufio.Writer
}

func newConn(in io.Reader, out io.Writer) *conn {
	c := &conn{}
	c.in = bufio.NewReaderSize(countingReader{in, &c.heard}, 1<<16)
	c.out = bufio.NewWriterSize(countingWriter{out, &c.heard}, 1<<16)
	return c
}

type countingReader struct {
	io.Reader
	times *atomic.Int64
}

func (r countingReader) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.times.Add(1)
	return n, err
}

// countingWriter writes little by little: an array that is on its way for long is heard of.
type countingWriter struct {
	io.Writer
	times *atomic.Int64
}

func (w countingWriter) Write(b []byte) (int, error) {
	const step = 1 << 20
	for done := 0; ; {
		n, err := w.Writer.Write(b[done:min(len(b), done+step)])
		w.times.Add(1)
		if done += n; err != nil || done == len(b) {
			return done, err
		}
	}
}

// send writes a message; those of a kind without parts have none.
func (c *conn) send(kind byte, parts [][]byte) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	c.out.WriteByte(kind) // an error of it comes again
	if kind == partsMessage {
		c.out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(parts))))
		for _, part := range parts {
			c.out.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(part))))
			c.out.Write(part)
		}
	}
	return c.out.Flush()
}

// next reads which message comes.
func (c *conn) next() (kind byte, err error) { return c.in.ReadByte() }

// first reads how many parts there are, and the first of them.
func (c *conn) first(into *bytes.Buffer) (parts int, err error) {
	var head [4]byte
	if _, err := io.ReadFull(c.in, head[:]); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n < 1 || n > mostParts {
		return 0, nonsense("a message of %d parts", n)
	}
	length, err := c.length()
	if err != nil {
		return 0, err
	}
	if length > mostFirst {
		return 0, nonsense("a message of %d bytes", length)
	}
	if _, err := io.CopyN(into, c.in, int64(length)); err != nil { // which takes memory as bytes come
		return 0, err
	}
	return int(n), nil
}

func (c *conn) length() (uint64, error) {
	var head [8]byte
	_, err := io.ReadFull(c.in, head[:])
	return binary.LittleEndian.Uint64(head[:]), err
}

// array reads a part of which the length is not known.
func (c *conn) array() ([]byte, error) {
	n, err := c.length()
	if err != nil {
		return nil, err
	}
	if n > mostBytes {
		return nil, nonsense("an array of %d bytes", n)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(c.in, b)
	return b, err
}

// fill reads a part into an array of its length.
func (c *conn) fill(b []byte) error {
	n, err := c.length()
	if err != nil {
		return err
	}
	if n != uint64(len(b)) {
		return nonsense("an array of %d bytes, not of %d", n, len(b))
	}
	_, err = io.ReadFull(c.in, b)
	return err
}

// nonsenseError is a message that is none.
type nonsenseError struct{ error }

func nonsense(format string, args ...any) error { return nonsenseError{fmt.Errorf(format, args...)} }

func isNonsense(err error) bool { return errors.As(err, new(nonsenseError)) }

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

package child

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Ask puts a question to Serve, with arrays behind it, and waits for the answer. into
// are the arrays that are to come with the answer, of the right lengths; where the
// answer comes without any, the error is ErrNoArrays and answer holds.
//
// what names the question in errors: a *CrashError, or one that wraps the cause of ctx.
// The child is gone then; any other error leaves it as it was.
func (p *Process) Ask(ctx context.Context, what string, question any, in [][]byte, answer any, into [][]byte) error {
	p.asking.Lock()
	defer p.asking.Unlock()
	p.sent.Reset()
	if err := p.enc.Encode(question); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return p.exchange(ctx, what, p.sent.Bytes(), in, func() error {
		if err := p.dec.Decode(answer); err != nil {
			return nonsenseError{err}
		}
		return nil
	}, into)
}

// AskText is Ask for a program that speaks in lines of text instead of Go's values.
func (p *Process) AskText(ctx context.Context, what, question string, in, into [][]byte) (answer string, err error) {
	p.asking.Lock()
	defer p.asking.Unlock()
	err = p.exchange(ctx, what, []byte(question), in, func() error {
		answer = p.got.String()
		return nil
	}, into)
	return answer, err
}

// exchange sends a question and takes the answer in; the first part of it is in p.got
// when take is called.
func (p *Process) exchange(ctx context.Context, what string, first []byte, in [][]byte, take func() error, into [][]byte) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
	switch {
	case p.killed():
		return &CrashError{what, "the process was ended before"}
	case !p.Alive():
		return p.lost(what)
	}
	p.rest(false)
	end := p.guard(ctx, what)
	err := p.conn.send(partsMessage, append([][]byte{first}, in...))
	if err == nil {
		err = p.receive(take, into)
	}
	end()
	switch {
	case err == nil, errors.Is(err, ErrNoArrays):
		p.rest(true)
		p.said.Reset() // what follows is of another question
		return err
	case isNonsense(err):
		p.kill(wrongError("its answer makes no sense: " + err.Error()))
	default: // a pipe is closed
		timer := time.AfterFunc(exitTime, func() { p.kill(wrongError("it closed its end and went on")) })
		defer timer.Stop()
	}
	return p.lost(what)
}

// receive reads messages until the answer.
func (p *Process) receive(take func() error, into [][]byte) error {
	for {
		kind, err := p.conn.next()
		if err != nil {
			return err
		}
		if kind == beatMessage {
			continue
		}
		if kind != partsMessage {
			return nonsense("a message of kind %d", kind)
		}
		p.got.Reset()
		parts, err := p.conn.first(&p.got)
		if err != nil {
			return err
		}
		if err := take(); err != nil {
			return err
		}
		if parts == 1 && len(into) > 0 {
			return ErrNoArrays
		}
		if parts-1 != len(into) {
			return nonsense("%d arrays, not %d", parts-1, len(into))
		}
		for _, array := range into {
			if err := p.conn.fill(array); err != nil {
				return err
			}
		}
		return nil
	}
}

func (p *Process) killed() bool {
	p.state.Lock()
	defer p.state.Unlock()
	return p.why != nil
}

// guard watches a question until the function that it returns is called: it cancels it
// when ctx ends, and kills a child that is silent for too long.
func (p *Process) guard(ctx context.Context, what string) (end func()) {
	answered := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		select {
		case <-answered:
		case <-ctx.Done():
			p.cancel(fmt.Errorf("%s did not stop when told to, and its process was ended: %w", what, context.Cause(ctx)), answered)
		}
	})
	if p.options.Silence > 0 {
		watching.Go(func() { p.listen(answered) })
	}
	return func() {
		close(answered)
		watching.Wait()
	}
}

// cancel tells the child that no answer is wanted, and kills it if there is none within
// the time of grace.
func (p *Process) cancel(why error, answered <-chan struct{}) {
	if p.options.Grace <= 0 {
		p.kill(why)
		return
	}
	timer := time.AfterFunc(p.options.Grace, func() { p.kill(why) })
	defer timer.Stop()
	p.conn.send(cancelMessage, nil)
	select {
	case <-answered:
	case <-p.gone:
	}
}

// listen kills a child that is silent for too long.
func (p *Process) listen(answered <-chan struct{}) {
	q := quiet{limit: p.options.Silence, last: time.Now(), heard: p.conn.heard.Load()}
	tick := time.NewTicker(max(q.limit/quietLooks, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-answered:
			return
		case <-p.gone:
			return
		case <-tick.C:
			if q.over(time.Now(), p.conn.heard.Load()) {
				p.kill(fmt.Errorf("the process stood still for %s and was ended: %w", q.limit, context.DeadlineExceeded))
				return
			}
		}
	}
}

//go:build unix

package child

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// parentVariable makes the test a process that is killed while it has a child.
const parentVariable = "MATLADDER_TEST_PARENT"

func TestMain(m *testing.M) {
	Serve("test", answer)
	if role := os.Getenv(variable); role != "" {
		misbehave(role)
	}
	if vice := os.Getenv(parentVariable); vice != "" {
		beParent(vice)
	}
	os.Exit(m.Run())
}

type question struct {
	Vice string
	Want []int // lengths of arrays
}

type reply struct{ Text string }

// answer is the part that children play: a word at a time of what plugins do.
func answer(ctx context.Context, q question, in [][]byte) (reply, [][]byte) {
	switch q.Vice {
	case "exit":
		fmt.Fprintln(os.Stderr, "cannot find the driver")
		os.Exit(7)
	case "abort":
		fmt.Fprintln(os.Stderr, "the plugin gives up")
		syscall.Kill(os.Getpid(), syscall.SIGABRT)
		select {}
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "panic":
		fmt.Fprintln(os.Stderr, "before the panic")
		panic("index out of range")
	case "hang":
		select {}
	case "obey":
		<-ctx.Done()
		return reply{ctx.Err().Error()}, nil
	case "stall":
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		select {}
	case "slow":
		time.Sleep(5 * beatEvery / 2)
	case "print":
		for range 10000 {
			fmt.Println(strings.Repeat("noise ", 100))
		}
	case "print and die":
		fmt.Println("panic: the first line says why")
		for range 10000 {
			fmt.Println(strings.Repeat("trace ", 100))
		}
		os.Exit(1)
	case "family": // a grandchild that holds every pipe it can get
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			return reply{err.Error()}, nil
		}
		return reply{fmt.Sprint(cmd.Process.Pid)}, nil
	case "echo":
		return reply{"echo"}, in
	}
	var arrays [][]byte
	for i, n := range q.Want {
		arrays = append(arrays, bytes.Repeat([]byte{byte(i + 1)}, n))
	}
	return reply{q.Vice}, arrays
}

// misbehave writes to descriptor 4 what no Serve does.
func misbehave(how string) {
	out := os.NewFile(answersFD, "answers")
	head := []byte{partsMessage, 1, 0, 0, 0}
	switch how {
	case "half a message":
		out.Write(append(head, 200, 0, 0, 0, 0, 0, 0, 0, 'x'))
		os.Exit(0)
	case "half a message, and goes on":
		out.Write(append(head, 200, 0, 0, 0, 0, 0, 0, 0, 'x'))
	case "closes":
		os.NewFile(questionsFD, "questions").Close()
		out.Close()
	case "endless beats":
		for {
			out.Write(bytes.Repeat([]byte{beatMessage}, 1<<16))
		}
	case "endless messages":
		for {
			out.Write(append(head, 1, 0, 0, 0, 0, 0, 0, 0, 'x'))
		}
	case "huge first part":
		out.Write(append(head, 0, 0, 0, 0, 0, 0, 0, 0xff))
	case "huge first part within the limit":
		out.Write(append(head, 0, 0, 0, 0x40, 0, 0, 0, 0, 'x'))
		os.Exit(0)
	case "no parts":
		out.Write([]byte{partsMessage, 0, 0, 0, 0})
	case "too many parts":
		out.Write([]byte{partsMessage, 0xff, 0xff, 0xff, 0xff})
	case "unknown kind":
		out.Write([]byte{77})
	case "garbage":
		out.Write(append(head, 3, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'))
	case "deaf":
	}
	time.Sleep(time.Hour)
}

func start(t testing.TB, o Options) *Process {
	t.Helper()
	if o.Role == "" {
		o.Role = "test"
	}
	p, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// ask is Ask with a limit that only a broken test reaches.
func ask(p *Process, vice string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var r reply
	err := p.Ask(ctx, "question", question{Vice: vice}, nil, &r, nil)
	return r.Text, err
}

func isCrash(err error) bool {
	var crash *CrashError
	return errors.As(err, &crash) && crash.What == "question"
}

func isTimeout(err error) bool { return errors.Is(err, context.DeadlineExceeded) && !isCrash(err) }

func TestAsk(t *testing.T) {
	p := start(t, Options{})
	for range 3 {
		if got, err := ask(p, "hello"); got != "hello" || err != nil {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	in := [][]byte{nil, []byte("x"), bytes.Repeat([]byte("0123456789"), 1<<19)}
	into := [][]byte{nil, make([]byte, 1), make([]byte, len(in[2]))}
	var r reply
	if err := p.Ask(t.Context(), "question", question{Vice: "echo"}, in, &r, into); err != nil || r.Text != "echo" {
		t.Fatalf("%+v, %v", r, err)
	}
	for i := range in {
		if !bytes.Equal(in[i], into[i]) {
			t.Errorf("array %d comes back otherwise", i)
		}
	}
	if err := p.Ask(t.Context(), "question", question{Vice: "none"}, nil, &r, into); !errors.Is(err, ErrNoArrays) || r.Text != "none" {
		t.Errorf("an answer without arrays: %+v, %v", r, err)
	}
	if got, err := ask(p, "hello"); got != "hello" || err != nil {
		t.Errorf("after one without arrays: %q, %v", got, err)
	}
	err := p.Ask(t.Context(), "question", question{Want: []int{1}}, nil, &r, [][]byte{make([]byte, 2)})
	if !isCrash(err) || !strings.Contains(err.Error(), "an array of 1 bytes, not of 2") {
		t.Errorf("an array of another length: %v", err)
	}
}

// TestAsk_Vices does in a child what plugins do.
func TestAsk_Vices(t *testing.T) {
	t.Parallel()
	none := func(err error) bool { return err == nil }
	for _, test := range []struct {
		vice, says string
		is         func(error) bool
		o          Options
		limit      time.Duration
		dies       bool
	}{
		{"exit", "exit status 7; it said last: cannot find the driver", isCrash, Options{}, 0, true},
		{"abort", "it said last: the plugin gives up; SIGABRT: abort", isCrash, Options{}, 0, true},
		{"kill", "killed by signal 9, as the system does when memory runs out", isCrash, Options{}, 0, true},
		{"panic", "before the panic; panic: index out of range", isCrash, Options{}, 0, true},
		{"print and die", "panic: the first line says why", isCrash, Options{}, 0, true},
		{"print", "", none, Options{}, 0, false},
		{"slow", "", none, Options{Silence: 2 * beatEvery}, 0, false},
		{"hang", "did not stop when told to", isTimeout, Options{}, 100 * time.Millisecond, true},
		{"hang", "did not stop when told to", isTimeout, Options{Grace: 100 * time.Millisecond}, 100 * time.Millisecond, true},
		{"obey", "", none, Options{Grace: time.Minute}, 100 * time.Millisecond, false},
		{"stall", "stood still", isTimeout, Options{Silence: time.Second}, 0, true},
	} {
		t.Run(test.vice, func(t *testing.T) {
			t.Parallel()
			p := start(t, test.o)
			ctx := t.Context()
			if test.limit != 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, test.limit)
				defer cancel()
			}
			var r reply
			err := p.Ask(ctx, "question", question{Vice: test.vice}, nil, &r, nil)
			if !test.is(err) || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("error is %v, should say %q", err, test.says)
			}
			if p.Alive() == test.dies {
				t.Errorf("the child is alive: %v", p.Alive())
			}
			_, err = ask(p, "hello")
			if test.dies != isCrash(err) {
				t.Errorf("the next question: %v", err)
			}
		})
	}
}

// TestAsk_Nonsense reads what no child should write: never a panic, a hang or memory
// for what does not come.
func TestAsk_Nonsense(t *testing.T) {
	t.Parallel()
	for how, says := range map[string]string{
		"half a message":                   "exit status 0",
		"closes":                           "it closed its end and went on",
		"huge first part":                  "a message of 18374686479671623680 bytes",
		"huge first part within the limit": "exit status 0",
		"no parts":                         "a message of 0 parts",
		"too many parts":                   "a message of 4294967295 parts",
		"unknown kind":                     "a message of kind 77",
		"garbage":                          "its answer makes no sense",
		"endless messages":                 "its answer makes no sense",
		"endless beats":                    "",
		"half a message, and goes on":      "",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p := start(t, Options{Role: how})
			if says != "" {
				if _, err := ask(p, ""); !isCrash(err) || !strings.Contains(err.Error(), says) {
					t.Errorf("error is %v, should say %q", err, says)
				}
			} else {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
				defer cancel()
				if err := p.Ask(ctx, "question", question{}, nil, &reply{}, nil); !isTimeout(err) {
					t.Errorf("error is %v", err)
				}
			}
			if p.Alive() {
				t.Error("the child is alive")
			}
		})
	}
}

// TestAsk_Deaf sends more than a pipe holds to a child that does not read.
func TestAsk_Deaf(t *testing.T) {
	for _, grace := range []time.Duration{0, 100 * time.Millisecond} {
		p := start(t, Options{Role: "deaf", Grace: grace})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := p.Ask(ctx, "question", question{}, [][]byte{make([]byte, 1<<22)}, &reply{}, nil); !isTimeout(err) {
			t.Errorf("error is %v", err)
		}
	}
}

// TestClose ends a child, one that does not want to, and what it has started.
func TestClose(t *testing.T) {
	p := start(t, Options{})
	pid, err := ask(p, "family")
	if err != nil {
		t.Fatal(err)
	}
	var grandchild int
	if _, err := fmt.Sscan(pid, &grandchild); err != nil {
		t.Fatal(pid)
	}
	p.Close(time.Minute)
	awaitEnd(t, grandchild)
	if p.Alive() {
		t.Error("the child is alive")
	}
	p.Close(time.Minute)

	deaf := start(t, Options{Role: "deaf", Rest: true})
	deaf.Close(50 * time.Millisecond)
	if deaf.Alive() {
		t.Error("a child that does not end is alive")
	}
	if _, err := ask(deaf, "hello"); !isCrash(err) {
		t.Errorf("a question after the end: %v", err)
	}
}

func TestStart_Fails(t *testing.T) {
	if _, err := Start(Options{Program: "/nowhere/at/all"}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
	t.Setenv(variable, "another")
	if _, err := Start(Options{Role: "test"}); err == nil || !strings.Contains(err.Error(), "calls no Serve") {
		t.Errorf("a child that does not serve starts others: %v", err)
	}
}

// TestServe_NoPipe sets the variable by hand.
func TestServe_NoPipe(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"=test")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "descriptor 3 is no pipe") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestRest checks that a child takes no time from others between questions.
func TestRest(t *testing.T) {
	p := start(t, Options{Rest: true})
	for range 2 {
		if _, err := ask(p, "hello"); err != nil {
			t.Fatal(err)
		}
		await(t, "the child to be stopped", func() bool {
			state, known := processState(p.Pid())
			return state == "T" || !known
		})
	}
}

// beParent starts a child, prints its process id, and waits for an answer that never
// comes.
func beParent(role string) {
	o := Options{Role: role, Rest: true}
	p, err := Start(o)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.Pid())
	ask(p, "hang")
	select {}
}

// TestParentDies kills a process with a child that hangs: the child must end.
func TestParentDies(t *testing.T) {
	roles := []string{"test"}
	if runtime.GOOS == "linux" {
		roles = append(roles, "deaf")
	}
	for _, role := range roles {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), parentVariable+"="+role)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var pid int
		if _, err := fmt.Fscan(out, &pid); err != nil {
			t.Fatal(err)
		}
		if state, known := processState(pid); known && state == "" {
			t.Fatalf("process %d is no child", pid)
		}
		cmd.Process.Kill()
		cmd.Wait()
		awaitEnd(t, pid)
	}
}

func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	await(t, fmt.Sprintf("process %d to end", pid), func() bool {
		if syscall.Kill(pid, 0) != nil {
			return true
		}
		state, _ := processState(pid)
		return state == "Z"
	})
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Errorf("waited in vain for %s", what)
}

// processState is the letter by which the system says what a process does; known says
// whether this system has such.
func processState(pid int) (state string, known bool) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		return "", false
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", true
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1], true
}

// FuzzReceive reads anything as an answer.
func FuzzReceive(f *testing.F) {
	f.Add([]byte{beatMessage, partsMessage, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 'x', 3, 0, 0, 0, 0, 0, 0, 0, 'a', 'b', 'c'})
	f.Add([]byte{partsMessage, 1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{partsMessage, 1, 0, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		p := &Process{conn: newConn(bytes.NewReader(text), io.Discard)}
		array := make([]byte, 3)
		if err := p.receive(func() error { return nil }, [][]byte{array}); err == nil && !bytes.Contains(text, array) {
			t.Errorf("read %q from %q", array, text)
		}
	})
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// firefox is a page of a headless Firefox, driven by Marionette's messages.
type firefox struct {
	t    *testing.T
	conn net.Conn
	read *bufio.Reader
	id   int
}

// findFirefox returns the browser; without one the test is skipped, unless MATLADDER_REQUIRE
// names it.
func findFirefox(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"firefox-esr", "firefox"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if slices.Contains(strings.Split(os.Getenv("MATLADDER_REQUIRE"), ","), "firefox") {
		t.Fatal("no firefox")
	}
	t.Skip("no firefox; install it with: apt-get install firefox-esr")
	return ""
}

func openFirefox(t *testing.T, path string) *firefox {
	t.Helper()
	profile := t.TempDir()
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(`user_pref("marionette.port", 0);`), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "--headless", "--marionette", "--no-remote", "--profile", profile)
	cmd.Env = append(os.Environ(), "HOME="+profile)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	f := &firefox{t: t}
	for range 600 { // a minute
		time.Sleep(100 * time.Millisecond)
		port, err := os.ReadFile(filepath.Join(profile, "MarionetteActivePort"))
		if err != nil {
			continue
		}
		if f.conn, err = net.Dial("tcp", "127.0.0.1:"+strings.TrimSpace(string(port))); err == nil {
			break
		}
	}
	if f.conn == nil {
		t.Fatal("firefox does not listen")
	}
	t.Cleanup(func() { f.conn.Close() })
	f.read = bufio.NewReader(f.conn)
	f.message() // its greeting
	f.call("WebDriver:NewSession", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{"unhandledPromptBehavior": "accept", "timeouts": map[string]int{"script": 60000}}}})
	return f
}

func (f *firefox) message() []byte {
	f.t.Helper()
	f.conn.SetReadDeadline(time.Now().Add(90 * time.Second))
	size, err := f.read.ReadString(':')
	n, _ := strconv.Atoi(strings.TrimSuffix(size, ":"))
	text := make([]byte, n)
	if err == nil {
		_, err = io.ReadFull(f.read, text)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	return text
}

func (f *firefox) call(name string, params any) json.RawMessage {
	f.t.Helper()
	f.id++
	text, err := json.Marshal([]any{0, f.id, name, params})
	if err == nil {
		_, err = fmt.Fprintf(f.conn, "%d:%s", len(text), text)
	}
	if err != nil {
		f.t.Fatal(err)
	}
	var answer []json.RawMessage
	if err := json.Unmarshal(f.message(), &answer); err != nil || len(answer) != 4 || string(answer[2]) != "null" {
		f.t.Fatalf("%s: %v: %s", name, err, answer)
	}
	return answer[3]
}

func (f *firefox) visit(url string) {
	f.t.Helper()
	f.call("WebDriver:Navigate", map[string]string{"url": url})
}

func (f *firefox) eval(expression string, result any) {
	f.t.Helper()
	script := "const done = arguments[0]; Promise.resolve().then(() => window.eval(" + strconv.Quote(expression) + ")).then((v) => done({ v }), (e) => done({ error: String(e) }))"
	var r struct {
		Value struct {
			V     json.RawMessage
			Error string
		}
	}
	if err := json.Unmarshal(f.call("WebDriver:ExecuteAsyncScript", map[string]any{"script": script, "args": []any{}, "sandbox": nil}), &r); err != nil || r.Value.Error != "" {
		f.t.Fatalf("%s: %s %v", expression, r.Value.Error, err)
	}
	if result != nil {
		if err := json.Unmarshal(r.Value.V, result); err != nil {
			f.t.Fatalf("%s: %s: %v", expression, r.Value.V, err)
		}
	}
}

func (f *firefox) until(condition string) {
	f.t.Helper()
	f.eval(waiting(condition), nil)
}

func (f *firefox) insert(text string) {
	f.t.Helper()
	f.eval(fmt.Sprintf("document.execCommand('insertText', false, %q)", text), nil)
}

func (f *firefox) press(key string) {
	f.t.Helper()
	code := map[string]string{"Tab": "\ue004", "Escape": "\ue00c", "ArrowRight": "\ue014"}[key]
	f.call("WebDriver:PerformActions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keys", "actions": []any{
		map[string]string{"type": "keyDown", "value": code}, map[string]string{"type": "keyUp", "value": code}}}}})
}

func (f *firefox) look(width int, _ string) {
	f.t.Helper()
	f.call("WebDriver:SetWindowRect", map[string]int{"width": max(width, 500), "height": 850}) // its least
}

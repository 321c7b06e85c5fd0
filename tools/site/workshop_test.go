package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A driven page is one of a browser that a test works.
type driven interface {
	visit(url string)
	eval(expression string, result any)
	until(condition string)
	insert(text string)
	press(key string)
	look(width int, scheme string)
}

// TestFirefox works exercises, playground and ladder of the site in Firefox.
func TestFirefox(t *testing.T) {
	path := findFirefox(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(os.DirFS(root), root, "")
	if err := errors.Join(s.build(t.Context(), false), s.addProgram(t.Context())); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "site")
	if err := s.write(out); err != nil {
		t.Fatal(err)
	}
	f := openFirefox(t, path)
	url := func(output string) string { return "file://" + filepath.ToSlash(filepath.Join(out, output)) }
	workExercises(t, f, url, root)
	workPlayground(t, f, url)
	workLadder(t, f, url)
}

// workExercises checks exercises in the page of a lesson: all as they come and solved, and one
// as somebody types it. Module browser tests that verdicts are those of compiled files.
func workExercises(t *testing.T, b driven, url func(string) string, root string) {
	b.visit(url("workshop/lesson3.html"))
	b.eval(`document.querySelector(".exercise").scrollIntoView()`, nil)
	type verdict struct{ Score, Text string }
	var v verdict
	see := func() verdict {
		b.eval(`({ Score: document.querySelector(".score").textContent, Text: document.querySelector(".verdict").textContent })`, &v)
		return v
	}
	says := func(what string) {
		t.Helper()
		b.until(fmt.Sprintf(`document.querySelector(".score").textContent.includes(%q)`, what))
	}
	says("0 of 5 right")
	if v := see(); !strings.Contains(v.Text, "result wrong on 40x72x56, blocks 16x24x16: o[") || !strings.Contains(v.Text, `OneBlock: your answer is "?"`) {
		t.Errorf("as it comes: %+v", v)
	}

	names, err := filepath.Glob(filepath.Join(root, "workshop/blanks/ex*/*.go"))
	if err != nil || len(names) != 14 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		number := strings.TrimPrefix(filepath.Base(filepath.Dir(name)), "ex")
		var ok []bool
		b.eval(fmt.Sprintf(`(async () => [(await engine.call("check", %s, %q)).OK, (await engine.call("check", %[1]s, (await engine.call("exercise", %[1]s)).Solution)).OK])()`, number, text), &ok)
		if len(ok) != 2 || ok[0] || !ok[1] {
			t.Errorf("exercise %s: as it comes and solved it is right: %v", number, ok)
		}
	}

	// What is typed: a mistake, a loop without end, a solution; then a page that knows it again.
	const area = `document.querySelector(".exercise textarea")`
	edit := func(old, with string) {
		b.eval(fmt.Sprintf(`(() => { const a = %s, at = a.value.indexOf(%q); a.focus(); a.setSelectionRange(at, at + %d); })()`, area, old, len(old)), nil)
		b.insert(with)
	}
	edit("t.Fill(o, 0) //", "t.Fill(o, zero) //")
	says("undefined: zero")
	b.eval(`document.querySelector(".mistakes button").click()`, nil)
	var at int
	b.eval(area+`.value.slice(`+area+`.selectionStart).indexOf("zero)")`, &at)
	if v := see(); at != 0 || !strings.HasPrefix(v.Text, "23:12 undefined: zero") {
		t.Errorf("the mistake leads %d characters off: %+v", at, v)
	}
	b.eval(`engine.limit = 1000`, nil)
	edit("t.Fill(o, zero) //", "for { } //")
	says("It ran for 1 seconds and was stopped: does every loop end?")
	b.eval(`engine.limit = 5000`, nil)
	edit("for { } //", "func() { var f func(); f = func() { f() }; f() }() //")
	says("does a function call itself without end?")
	edit("func() { var f func(); f = func() { f() }; f() }() //", "t.When(k.First(), func() { t.Fill(o, 0) }) //")
	says("4 of 8 right") // four answers are missing
	for _, answer := range []string{"Verify", "Verify", "Reference", "Nothing"} {
		edit(`"?" // YOUR TURN`, answer+" // MY TURN")
	}
	says("Right")
	if v := see(); !strings.Contains(v.Text, "Test with several blocks along each axis.") {
		t.Errorf("no moral: %+v", v)
	}
	b.eval(`document.querySelector(".watch").open = true`, nil)
	b.until(`document.querySelector(".watch canvas")?.height > 100`)
	b.eval(area+`.focus()`, nil)
	b.press("Tab")
	says("Right")
	b.press("Escape")
	b.press("Tab")
	var left bool
	if b.eval(`document.activeElement !== `+area, &left); !left {
		t.Error("Escape and Tab do not leave the editor")
	}

	b.eval(`document.querySelector(".buttons button").click()`, nil)
	b.until(`document.querySelector(".hints li")`)
	inspect(t, b)
	b.visit(url("workshop/lesson3.html"))
	b.eval(`document.querySelector(".exercise").scrollIntoView()`, nil)
	says("Right")
	var packed string
	b.eval(`new Promise((done) => { URL.createObjectURL = (blob) => { const r = new FileReader(); r.onload = () => done(r.result.split(",")[1]); r.readAsDataURL(blob); return "about:blank"; };
		HTMLAnchorElement.prototype.click = () => {}; document.getElementById("handin").value = "Ada"; document.querySelector(".handin button").click(); })`, &packed)
	text, err := base64.StdEncoding.DecodeString(packed)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"about.txt": "matladder workshop hand-in 1\nAda\n", "verdicts.csv": "3,true\n", "workshop/exercises/ex3/zero.go": "Nothing // MY TURN"} {
		text, err := zipFile(z, name)
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

// inspect looks at a page as it is by now: nothing is too wide or too faint.
func inspect(t *testing.T, b driven) {
	t.Helper()
	for width, scheme := range map[int]string{390: "light", 1280: "dark"} {
		b.look(width, scheme)
		var saw struct {
			Over           int
			Faint, Objects []string
		}
		if b.eval(inspectPage, &saw); saw.Over > 0 || len(saw.Faint) > 0 {
			t.Errorf("%d wide, %s: %+v", width, scheme, saw)
		}
	}
}

func zipFile(z *zip.Reader, name string) (string, error) {
	f, err := z.Open(name)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	_, err = b.ReadFrom(f)
	return b.String(), err
}

// workPlayground opens every example, follows a link, and makes mistakes.
func workPlayground(t *testing.T, b driven, url func(string) string) {
	b.visit(url("docs/playground.html"))
	says := func(what string) {
		t.Helper()
		b.until(fmt.Sprintf(`document.querySelector(".play .verdict").textContent.includes(%q)`, what))
	}
	says("Verify finds nothing wrong.")
	var wrong []string
	b.eval(`(async () => {
		const wrong = [], known = await engine.call("menu");
		for (const [i, e] of known.Examples.entries()) {
			const made = await engine.call("play", await engine.call("example", i), "nvidia_h100_sxm");
			if (made.Mistakes || made.Wrong || !made.Text || !made.Mosaic || !made.Triton) wrong.push(e.Group + " " + e.Name + ": " + JSON.stringify(made.Mistakes ?? made.Wrong));
		}
		if (known.Examples.length < 25) wrong.push(known.Examples.length + " examples");
		return wrong;
	})()`, &wrong)
	if len(wrong) > 0 {
		t.Errorf("%q", wrong)
	}
	const area = `document.querySelector(".play textarea")`
	b.eval(area+`.focus(); `+area+`.setSelectionRange(`+area+`.value.indexOf("k.First()"), `+area+`.value.indexOf("k.First()") + 9)`, nil)
	b.insert("k.Last()")
	says("program.go:20: v3: o: block")
	state := func(want string) {
		t.Helper()
		var have string
		if b.eval(`document.querySelector(".play .verdict").className`, &have); have != "verdict "+want {
			t.Errorf("the verdict is %q, want %s", have, want)
		}
	}
	state("wrong")
	b.eval(`engine.limit = 1000; `+area+`.setSelectionRange(`+area+`.value.indexOf("t := "), `+area+`.value.indexOf("t := "))`, nil)
	b.insert("for {\n}\n\t")
	says("Running")
	state("running")
	says("was stopped")
	state("wrong")
	b.eval(`engine.limit = 5000; `+area+`.setSelectionRange(`+area+`.value.indexOf("for {"), `+area+`.value.indexOf("t := "))`, nil)
	b.insert("")
	says("program.go:20: v3: o: block")
	b.eval(`document.querySelector(".play .buttons button").click()`, nil)
	b.until(`location.hash.length > 100`)
	var link string
	b.eval(`location.href`, &link)
	b.eval(`localStorage.clear()`, nil)
	b.visit("about:blank")
	b.visit(link)
	says("program.go:20: v3: o: block")
	inspect(t, b)
	b.eval(`document.getElementById("tab-Counts").focus()`, nil)
	b.press("ArrowRight")
	var shown bool
	if b.eval(`document.activeElement.id === "tab-Program" && !document.getElementById("view-Program").hidden && document.getElementById("view-Counts").hidden`, &shown); !shown {
		t.Error("the arrow key shows no other view")
	}
}

// workLadder has the page of the first lesson measure the five rungs, and begin with the steps: all
// are verified. How long they take is not looked at.
func workLadder(t *testing.T, b driven, url func(string) string) {
	b.visit(url("workshop/lesson0.html"))
	var saw struct {
		Status          string
		Verified, Timed int
	}
	see := func(kind string) {
		b.eval(fmt.Sprintf(`(() => { const rows = [...document.querySelectorAll(".ladder .%s tr.ok")];
			return { Status: document.querySelector(".ladder .verdict").textContent, Verified: rows.length, Timed: rows.filter((r) => / m?s$/.test(r.cells[1].textContent) && parseFloat(r.cells[3].textContent) > 0).length }; })()`, kind), &saw)
	}
	press := func(n int) { b.eval(fmt.Sprintf(`document.querySelectorAll(".ladder button")[%d].click()`, n), nil) }
	b.eval(`document.querySelector(".ladder").dataset.seconds = 0`, nil)
	press(0)
	b.until(`document.querySelector(".ladder .verdict").className !== "verdict "`)
	if see("rungs"); saw.Verified != 5 || saw.Timed != 5 || !strings.HasPrefix(saw.Status, "Measured") {
		t.Errorf("rungs: %+v", saw)
	}
	press(1)
	b.until(`document.querySelector(".ladder .verdict").textContent.startsWith("Round 2")`)
	press(1)
	b.until(`document.querySelector(".ladder .verdict").textContent === "Stopped."`)
	if see("steps"); saw.Verified != 4 || saw.Timed != 4 {
		t.Errorf("steps: %+v", saw)
	}
	inspect(t, b)
}

package workshop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"matladder/internal/cli"
	"matladder/internal/each"
	"matladder/internal/words"
	"matladder/plots/figure"
	"matladder/results"
	"matladder/stats"
	"matladder/workshop"
	"matladder/workshop/classroom"
)

const (
	predictionsFile = "out/workshop/predictions.csv" // a folder down: all of out/*.csv is results
	resultsGlob     = "out/*.csv"
)

func ready(ctx context.Context, o *options) error {
	findings := classroom.Ready(ctx, ".")
	if ctx.Err() != nil {
		return ctx.Err()
	}
	spoiled := false
	for _, f := range findings {
		spoiled = spoiled || f.Level == classroom.Spoils || f.Level == classroom.Missing
		fmt.Fprintf(o.stdout, "%-8s %-8s %s\n", f.Level, f.What, f.Text)
	}
	if spoiled {
		return cli.ErrTold
	}
	fmt.Fprintln(o.stdout, "ready")
	return nil
}

func reset(_ context.Context, o *options) error {
	chosen, err := o.exercises("reset")
	if err != nil {
		return err
	}
	for _, e := range chosen {
		kept, err := classroom.Reset(".", e, time.Now())
		switch {
		case err != nil:
			return fmt.Errorf("exercise %d: %w", e.Number, err)
		case kept == "":
			fmt.Fprintf(o.stdout, "exercise %d is as it came\n", e.Number)
		default:
			fmt.Fprintf(o.stdout, "exercise %d is as it came again; yours is kept in %s\n", e.Number, filepath.ToSlash(kept))
		}
	}
	return nil
}

// rowFiles are the results to look at: those named, or of out/.
func (o *options) rowFiles() ([]string, error) {
	if len(o.input) > 0 {
		paths, err := results.Files(o.input...)
		if err != nil {
			return nil, cli.Input("input", err)
		}
		return paths, nil
	}
	return filepath.Glob(filepath.FromSlash(resultsGlob))
}

// points are those of rowFiles. A file of out/ that holds no results is reported and left
// out; one that was named is a mistake.
func (o *options) points(ctx context.Context) ([]stats.Summary, error) {
	paths, err := o.rowFiles()
	if err != nil {
		return nil, err
	}
	var rows stats.Summarizer
	for _, path := range paths {
		if _, err := rows.AddFile(ctx, path); err != nil {
			if len(o.input) > 0 || ctx.Err() != nil {
				return nil, cli.Input("input", err)
			}
			fmt.Fprintf(o.stderr, "workshop: %v\n", err)
		}
	}
	return rows.Summaries(), nil
}

func predict(ctx context.Context, o *options) error {
	lesson := -1
	if len(o.args) > 0 {
		e, err := workshop.Find(o.args[0])
		if err != nil {
			return cli.Usagef("predict: %w", errors.New(strings.Replace(err.Error(), "exercise", "lesson", 1)))
		}
		lesson = e.Number
	}
	if len(o.args) > 1 {
		p, err := classroom.NewPrediction(lesson, strings.Join(o.args[1:], " "), time.Now())
		if err != nil {
			return cli.Usagef("predict: %w", err)
		}
		if err := classroom.AddPrediction(filepath.FromSlash(predictionsFile), p); err != nil {
			return err
		}
	}
	said, err := classroom.ReadPredictions(filepath.FromSlash(predictionsFile))
	if err != nil {
		return err
	}
	points, err := o.points(ctx)
	if err != nil {
		return err
	}
	shown := false
	for _, e := range workshop.All {
		if lesson >= 0 && e.Number != lesson {
			continue
		}
		mine := each.That(said, func(p classroom.Prediction) bool { return p.Lesson == e.Number })
		if len(mine) == 0 {
			continue
		}
		shown = true
		if err := o.beside(e, mine, classroom.Answers(e.Number, points)); err != nil {
			return err
		}
	}
	if !shown {
		n := max(lesson, 0)
		_, err = fmt.Fprintf(o.stdout, "nothing is predicted yet; write one down with: go run ./cmd/workshop predict %d \"…\"\n", n)
	}
	return err
}

// beside shows what was predicted of a lesson and what came out.
func (o *options) beside(e workshop.Exercise, said []classroom.Prediction, answers []classroom.Answer) error {
	page, err := e.Page()
	if err != nil {
		return err
	}
	title, _, _ := strings.Cut(strings.TrimPrefix(page, "# Lesson "+strconv.Itoa(e.Number)+": "), " (")
	fmt.Fprintf(o.stdout, "lesson %d: %s\n", e.Number, title)
	for _, p := range said {
		note := ""
		for _, a := range answers {
			if !a.At.IsZero() && a.At.Before(p.At) {
				note = "  (written down after the measurement of " + a.At.UTC().Format("2006-01-02 15:04") + ")"
			}
		}
		fmt.Fprintf(o.stdout, "  predicted  %s%s\n", p.Text, note)
	}
	for _, a := range answers {
		fmt.Fprintf(o.stdout, "  is         %s\n", a.Text)
	}
	if len(answers) == 0 {
		fmt.Fprintf(o.stdout, "  is         not measured yet: run the commands of workshop/lesson%d.md\n", e.Number)
	}
	return nil
}

func collect(ctx context.Context, o *options) error {
	name := strings.Join(o.args, " ")
	if err := classroom.CheckName(name); err != nil {
		return cli.Usagef("collect: %w", err)
	}
	paths, err := o.rowFiles()
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("no results in out/: run the commands of the lessons first, or name some with --input")
	}
	said, err := classroom.ReadPredictions(filepath.FromSlash(predictionsFile))
	if err != nil {
		return err
	}
	verdicts, err := classroom.Verdicts(ctx, o.look)
	if err != nil {
		return err
	}
	h, err := classroom.Collect(name, paths, said, verdicts)
	if err != nil {
		return cli.Input("input", err)
	}
	path := cmp.Or(o.out, filepath.Join("out", strings.ReplaceAll(name, " ", "_")+".zip"))
	if err := h.Write(path); err != nil {
		return err
	}
	rows := each.Sum(h.Rows, func(file []results.Record) int { return len(file) })
	right := len(each.That(verdicts, func(v classroom.Verdict) bool { return v.Right }))
	_, err = fmt.Fprintf(o.stdout, "%s: %s of %s, %s, %d of %d exercises right\n", filepath.ToSlash(path), words.Count(rows, "row"),
		words.Count(len(h.Rows), "results file"), words.Count(len(said), "prediction"), right, len(verdicts))
	return err
}

func class(ctx context.Context, o *options) error {
	paths, err := classroom.HandIns(o.args)
	if err != nil {
		return cli.Usagef("class: %w", err)
	}
	var room classroom.Class
	bad := false
	for _, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		h, warnings, err := classroom.OpenHandIn(path)
		for _, w := range warnings {
			fmt.Fprintf(o.stderr, "workshop: %v\n", w)
		}
		if err == nil {
			err = room.Add(h)
		}
		if err != nil { // the others are still a class
			fmt.Fprintf(o.stderr, "workshop: %v\n", err)
			bad = true
		}
	}
	if len(room) == 0 {
		return errors.New("no hand-in could be read")
	}
	if err := errors.Join(room.Write(o.stdout), room.WritePredictions(o.stdout)); err != nil {
		return err
	}
	pictures, err := room.Pictures()
	if err != nil {
		return err
	}
	folder := cmp.Or(o.out, filepath.Join("out", "class"))
	err = figure.Save(pictures, folder, figure.PNG, func(path string) { fmt.Fprintln(o.stdout, filepath.ToSlash(path)) })
	if err == nil && bad {
		return cli.ErrTold
	}
	return err
}

// serve shows the pages of the archive, or those of the repository as it is.
func serve(ctx context.Context, o *options) error {
	folder := classroom.Pages
	if _, err := os.Stat(folder); err != nil {
		folder = filepath.Join("out", "site")
		fmt.Fprintln(o.stderr, "workshop: making the pages, which takes a minute the first time")
		if err := classroom.MakePages(ctx, ".", folder); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", o.addr)
	if err != nil {
		return cli.Usagef("serve: %w", err)
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(folder)), ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { server.Close() })()
	fmt.Fprintf(o.stdout, "http://%s/workshop/ (Ctrl-C ends)\n", listener.Addr())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

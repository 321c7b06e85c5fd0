//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"matladder/results"
)

// torn cuts a finished file at every byte of its last three rows: resuming keeps what was
// closed before the cut, to the byte, and takes out the rest.
func (t *tester) torn() error {
	x, err := t.trial("torn")
	if err != nil {
		return err
	}
	short := "sizes: [32, 48]\nkernels: [1, 3]\nblocks: 128x128x128\ndtypes: [float32]\nrounds: {min: 3, max: 3}\nrepetitions: 1\ntime_budget: 5s\n"
	if err := os.WriteFile(x.config, []byte(short), 0o644); err != nil {
		return err
	}
	cmd, err := t.start(x, new(bytes.Buffer))
	if err != nil {
		return err
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	whole, err := os.ReadFile(x.out)
	if err != nil {
		return err
	}
	lines := bytes.SplitAfter(whole, []byte("\n")) // the last is empty
	from := len(whole)
	for _, line := range lines[len(lines)-4:] {
		from -= len(line)
	}
	path := filepath.Join(t.folder, "torn", "cut.csv")
	for at := from; at <= len(whole); at++ {
		if err := os.WriteFile(path, whole[:at], 0o644); err != nil {
			return err
		}
		j, rows, repair, err := results.Resume(t.ctx, path)
		if err != nil {
			return fmt.Errorf("cut at byte %d: %w", at, err)
		}
		if err := j.Close(); err != nil {
			return err
		}
		want := closed(whole[:at])
		have, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Equal(have, want) || len(rows) != bytes.Count(want, []byte("\n"))-1 || repair.Bytes != int64(at-len(want)) {
			return fmt.Errorf("cut at byte %d: %d bytes are left of %d, %d rows, %d bytes taken out", at, len(have), len(want), len(rows), repair.Bytes)
		}
		if repair.Kept != "" {
			os.Remove(repair.Kept)
		}
	}
	t.ok("cut at each of %d bytes: what was closed stays to the byte", len(whole)-from+1)
	return nil
}

// writers starts a second bench on the file of a first.
func (t *tester) writers() error {
	x, err := t.trial("writers")
	if err != nil {
		return err
	}
	cmd, err := t.start(x, new(bytes.Buffer))
	if err != nil {
		return err
	}
	defer cmd.Process.Kill()
	for range 400 {
		if info, err := os.Stat(x.out); err == nil && info.Size() > 2000 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for range 5 {
		var said bytes.Buffer
		second, err := t.start(x, &said)
		if err != nil {
			return err
		}
		if err := second.Wait(); exitCode(err) == 0 || strings.Count(strings.TrimSpace(said.String()), "\n") > 0 || !strings.Contains(said.String(), "another run is writing it") {
			return fmt.Errorf("a second writer: %v: %s", err, said.String())
		}
	}
	if err := cmd.Wait(); err != nil {
		return err
	}
	if _, _, err := x.audit(); err != nil {
		return err
	}
	t.ok("five second writers: one line each, and the first is whole")
	return nil
}

// disk fills a file system of its own in the middle of a sweep.
func (t *tester) disk() error {
	folder := filepath.Join(t.folder, "disk0")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=24k"); err != nil {
		return fmt.Errorf("%w: no tmpfs can be mounted here: %w", errLeftOut, err)
	}
	defer syscall.Unmount(folder, syscall.MNT_DETACH)
	x, err := t.trial("disk0")
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd, err := t.start(x, &said)
	if err != nil {
		return err
	}
	if err := cmd.Wait(); exitCode(err) != 1 || !strings.Contains(said.String(), "no space left on device") || strings.Contains(said.String(), "goroutine ") {
		return fmt.Errorf("a full disk: %v: %s", err, said.String())
	}
	if err := x.kept(); err != nil {
		return err
	}
	text, err := os.ReadFile(x.out)
	if err != nil {
		return err
	}
	if !bytes.Equal(text, closed(text)) {
		return errors.New("the file ends in a round that was not written whole")
	}
	t.ok("full after %d bytes: status 1, %q", len(text), lastLine(said.String()))
	if out, err := exec.Command("mount", "-o", "remount,size=16m", folder).CombinedOutput(); err != nil {
		return fmt.Errorf("remount: %w: %s", err, out)
	}
	if err := t.finish(x); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	t.ok("with room again it is gone on with")
	return nil
}

// removed removes the folder of the results in the middle of a sweep: all rows are saved in
// one of the same name, and gone on with from there.
func (t *tester) removed() error {
	x, err := t.trial("removed")
	if err != nil {
		return err
	}
	sweep, err := os.ReadFile(x.config)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd, err := t.start(x, &said)
	if err != nil {
		return err
	}
	for range 400 {
		if info, err := os.Stat(x.out); err == nil && info.Size() > 4000 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	had, err := os.ReadFile(x.out)
	if err == nil {
		err = os.RemoveAll(filepath.Dir(x.out))
	}
	if err != nil {
		return err
	}
	err = cmd.Wait()
	saved := strings.TrimSuffix(x.out, ".csv") + ".rescued.csv"
	if exitCode(err) != 1 || !strings.Contains(said.String(), saved) {
		return fmt.Errorf("status %d: %s", exitCode(err), lastLine(said.String()))
	}
	text, err := os.ReadFile(saved)
	if err != nil {
		return err
	}
	if missing := unquoted(closed(had)); !bytes.HasPrefix(unquoted(text), missing) { // which row ends a round is marked by quotes
		return fmt.Errorf("of %d rows that were written not all are in %s", bytes.Count(missing, []byte("\n"))-1, saved)
	}
	if err := os.WriteFile(x.config, sweep, 0o644); err != nil {
		return err
	}
	x.out, x.before = saved, text
	if err := t.finish(x); err != nil {
		return err
	}
	t.ok("the folder was removed: status 1, %q; gone on with from there", lastLine(said.String()))
	return nil
}

func unquoted(text []byte) []byte { return bytes.ReplaceAll(text, []byte(`"`), nil) }

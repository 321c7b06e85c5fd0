package results

import (
	"encoding/json"

	"matladder/internal/files"
)

// What lies beside a results file, and says whether its sweep has ended.

// NoteFile is where the note of a results file lies that says which sweep it is of.
func NoteFile(path string) string { return path + ".sweep" }

// The words of a note's State.
const (
	Begun = "begun" // an execution is at it, or was interrupted or killed
	Whole = "whole" // the last execution ended by itself
)

// MaxNote bounds the text of a note.
const MaxNote = 4 << 20

// Unfinished reports whether the note beside the results file at path says that its sweep
// has begun and not ended. Without one it is not known, and taken to have ended.
func Unfinished(path string) bool {
	text, err := files.ReadRegular(NoteFile(path), MaxNote)
	if err != nil {
		return false
	}
	var note struct{ State string }
	return json.Unmarshal(text, &note) == nil && note.State == Begun
}

// Package words has what messages need of English.
package words

// Plural is noun, with an s unless there is one of it.
func Plural(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Package classroom is what a workshop of many people needs around its lessons:
//
//  1. Ready looks at a machine ahead of the first measurement and says what will spoil
//     a figure there.
//  2. Predictions keeps what was written down before a run, and Answers says what the
//     measurements beside it gave.
//  3. HandIn packs what one person has made into a file: rows, predictions and the
//     verdicts on exercises. OpenHandIn reads one, which came from anywhere, and Class
//     is what all of a room say together.
//  4. Reset puts an exercise back and keeps what stood there.
//
// Nothing here decides whether an exercise is right; package workshop does.
package classroom

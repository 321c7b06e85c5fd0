// Package workshop is 75 minutes with matladder: eight lessons as pages, and six
// for who goes on (lesson0.md to lesson13.md), each with an exercise and its check.
//
//  1. An exercise is a package of its own, exercises/ex0 to ex13: a tile program
//     or a formula with a blank, marked YOUR TURN. It compiles as it is. Learners
//     edit it, so no test depends on what it says: blanks/ex0 to ex13 are the
//     exercises as they come, and what tests look at.
//  2. Check holds what the learner wrote against what can be known without a
//     clock: results against float64 arithmetic on small shapes (package check,
//     run by tile/interp), counters (traverse, analyze) against targets. So a
//     verdict is the same on every machine.
//  3. A Report has a line for each thing looked at. What went wrong in the
//     learner's code, a panic included, is such a line.
//  4. Hints and a solution (solutions/ex0 to ex13) are there for whoever is stuck.
//
// Package classroom has what a room of people needs beside that. Module tools/site/browser checks
// the same exercises in a page, and measures there. This package measures nothing.
package workshop

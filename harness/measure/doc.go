// Package measure takes times: what a benchmark and a tuner both need before they
// decide anything by what they see.
//
//  1. Guard and Limits run what is not trusted: a panic, a crash, a hang and a process
//     that stood still are errors, or are taken again, and never times.
//  2. Limits.Open gives an Executable, by which both ask a backend: it is loaded, launched,
//     measured, poisoned, verified and closed. Calibrate finds how many launches make a
//     repetition, and how many go ahead untimed. Shorter repetitions have as many ahead
//     (Counts.Halved); those that are held against each other are shortened together. Where
//     a program loops on the device, a pair of repetitions of two Counts gives the time of a
//     launch without that of starting the program (Slope).
//  3. Round has contenders take turns in a shuffled order, and a Watch holds a control, a
//     fixed piece of work, and what the system and a GPU's driver tell against each round
//     (watch.go). What comes of it are results.Conditions, from which package stats tells
//     whether the machine was disturbed.
//  4. Package stats/interval says what the times are worth, alone or in pairs.
//
// What to measure, how often, and what to make of it are policies: packages harness,
// which writes raw rows, and tune, which looks for the fastest, have theirs.
package measure

// Package scripts tests the shell scripts of this folder, in a small clone and against recording
// stand-ins of gcloud, sky and rsync: nothing of it reaches a network or costs money. The scripts
// themselves need no Go: docs/tpu.md is their manual.
package scripts

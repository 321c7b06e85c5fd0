# shellcheck shell=bash
# Shared by the scripts beside it, which source it; it does nothing by itself.
#
# A script names its machine with machine_is before it asks for one, runs every
# command that can hang with step, and ends in on_exit, whichever way it ends. What
# on_exit does follows from $machine:
#
#   ""        no machine was asked for: there is nothing to delete
#   asked     one was asked for, and what came of it is not known: delete it
#   there     it exists: delete it
#   kept      it is meant to stay; the script has said until when
#   foreign   a machine of that name was there before: not ours, leave it
#
# Written for bash 3.2, which macOS has. There is no `set -e`: a script looks at
# the status of each step, and clean-up must go on after a failure.

set -u
exec 3>&2              # messages keep their way out whatever a step redirects
trap '' PIPE TTIN TTOU # `tpu-run | head` must not end the script before its clean-up

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck disable=SC2034 # for the scripts
root=$(cd "$scripts/.." && pwd)
self=${0##*/}

# Seconds. Tests shorten them.
poll=${MATLADDER_POLL:-0.2}   # between looks at a running step
pause=${MATLADDER_PAUSE:-15}  # between tries
# shellcheck disable=SC2034
limit=${MATLADDER_LIMIT:-600} # one call of a cloud's command
tries=${MATLADDER_TRIES:-8}   # of what may work the next time

dry=         # 1: print commands, run none
machine=     # see above
log=         # file that messages are copied to
step_pid=    # of the step under way, which leads a process group of its own
temporary=   # folder that on_exit removes
prefix=${MATLADDER_PREFIX:-}

say() {
  printf '%s%s\n' "$prefix" "$*" >&3 2>/dev/null || :
  if [ -n "$log" ]; then printf '%s %s\n' "$(date -u +%H:%M:%S)" "$*" >>"$log" 2>/dev/null || :; fi
}
die() { say "$self: $*"; exit 1; }
wrong_usage() { say "$self: $*"; say "(see scripts/${self} --help)"; exit 2; }

# help_of FILE prints the comment at the top of a script, which is its manual.
help_of() { sed -n '2,/^$/s/^# \{0,1\}//p' "$1"; }

# value_of FLAG REMAINING VALUE: what a flag is followed by.
value_of() {
  [ "$2" -ge 2 ] || wrong_usage "flag $1 needs a value"
  printf '%s' "$3"
}

# quoted COMMAND... as one line that a shell reads back.
quoted() {
  local word line=
  for word in "$@"; do
    case $word in
      *\'*) word=$(printf '%q' "$word") ;;
      '' | *[!A-Za-z0-9_./:=,@%+-]*) word="'$word'" ;;
    esac
    line="$line $word"
  done
  printf '%s' "${line# }"
}

# seconds DURATION: 90s, 30m, 2h or 1d as seconds; fails if it is none.
seconds() {
  local number=${1%[smhd]}
  case $number in '' | *[!0-9]* | ?????????*) return 1 ;; esac
  case $1 in
    *s) printf '%s' "$((10#$number))" ;;
    *m) printf '%s' "$((10#$number * 60))" ;;
    *h) printf '%s' "$((10#$number * 3600))" ;;
    *d) printf '%s' "$((10#$number * 86400))" ;;
    *) return 1 ;;
  esac
}

now() { date +%s; }

# utc EPOCH: for people; GNU and BSD date take it differently.
utc() { date -u -d "@$1" '+%Y-%m-%d %H:%M UTC' 2>/dev/null || date -u -r "$1" '+%Y-%m-%d %H:%M UTC'; }

# label TEXT: as the value of a label: lower case, digits and dashes, 30 at most.
label() { printf '%s' "$1" | LC_ALL=C tr '[:upper:]' '[:lower:]' | LC_ALL=C sed 's/[^a-z0-9]\{1,\}/-/g; s/^-*//; s/^\(.\{30\}\).*/\1/; s/-*$//'; }

owner() {
  local name
  name=$(label "${MATLADDER_OWNER:-$(id -un)}")
  printf '%s' "${name:-unknown}"
}

# ---- steps ----

# step LIMIT COMMAND...: runs a command for at most LIMIT seconds and returns its
# status, 124 at the limit. It runs in the background, for bash acts on a signal
# only between commands, and in a process group of its own, so that Ctrl-C reaches
# this script, which then ends the step, and not a deletion under way.
step() {
  local allowed=$1 began=$SECONDS status
  shift
  if [ -n "$dry" ]; then
    printf '%s%s\n' "$prefix" "$(quoted "$@")"
    return 0
  fi
  set -m
  "$@" </dev/null &
  step_pid=$!
  set +m
  while kill -0 "$step_pid" 2>/dev/null; do
    if [ $((SECONDS - began)) -ge "$allowed" ]; then
      stop_step
      return 124
    fi
    sleep "$poll" 2>/dev/null
  done
  wait "$step_pid" 2>/dev/null
  status=$?
  step_pid=
  return "$status"
}

# stop_step ends the step under way, by force after three seconds.
stop_step() {
  local i
  [ -n "$step_pid" ] || return 0
  kill -TERM -- "-$step_pid" 2>/dev/null
  for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    kill -0 -- "-$step_pid" 2>/dev/null || break
    sleep 0.2 2>/dev/null
  done
  [ "$i" -lt 15 ] || kill -KILL -- "-$step_pid" 2>/dev/null
  wait "$step_pid" 2>/dev/null
  step_pid=
}

# retry WHAT LIMIT COMMAND...: a step, several times if need be.
retry() {
  local what=$1 try=1 status
  shift
  while :; do
    step "$@"
    status=$?
    [ "$status" -ne 0 ] || return 0
    [ "$try" -lt "$tries" ] || return "$status"
    say "$what: $(reason "$status"); try $((try + 1)) of $tries in $pause s"
    try=$((try + 1))
    nap
  done
}

# nap pauses; unlike a bare sleep, an interruption ends it.
nap() { step $((pause + 60)) sleep "$pause"; }

reason() {
  if [ "$1" = 124 ]; then printf 'no answer in time'; else printf 'status %s' "$1"; fi
}

# ---- how it ends ----

# guard installs the traps. An interruption becomes an exit, and every exit runs
# on_exit.
guard() {
  temporary=$(mktemp -d "${TMPDIR:-/tmp}/matladder.XXXXXX") || die "no temporary folder"
  trap on_exit EXIT
  trap 'interrupted INT 130' INT
  trap 'interrupted HUP 129' HUP
  trap 'interrupted TERM 143' TERM
  trap 'interrupted QUIT 131' QUIT
}

interrupted() {
  trap '' INT HUP TERM QUIT
  say "$self: interrupted ($1)"
  exit "$2"
}

# before_delete is what a script does last with a machine that it is about to
# delete, such as copying results.
before_delete() { :; }

# delete_now deletes the machine; each kind of machine has its own. It gives up
# when $give_up is set.
delete_now() { :; }

why_nothing="nothing to delete: no machine was asked for"
give_up=
interruptions=0

# press_on answers an interruption while a machine is deleted; the third one ends
# it.
press_on() {
  interruptions=$((interruptions + 1))
  say "$self: still deleting; if it ends now, the machine goes on costing (three times Ctrl-C: give up)"
  if [ "$interruptions" -ge 3 ]; then
    # shellcheck disable=SC2034 # for delete_now
    give_up=1
    stop_step
  fi
}

on_exit() {
  local status=$?
  trap '' INT HUP TERM QUIT
  trap - EXIT
  stop_step
  case $machine in
    '') say "$why_nothing" ;;
    kept) : ;;
    foreign) say "nothing to delete: that machine was there before and is not this run's" ;;
    *)
      before_delete
      trap press_on INT HUP TERM QUIT
      delete_now || [ "$status" -ne 0 ] || status=1
      ;;
  esac
  rm -rf "$temporary"
  exit "$status"
}

# shellcheck shell=bash
# A TPU VM rented through gcloud: its kind and price, asking for it, waiting,
# talking to it, deleting it. Sourced; it does nothing by itself.
#
# A machine is a queued resource with one node of the same name. Its labels say
# whose it is and when it may be deleted by anyone: tool=matladder, owner=NAME,
# expires=EPOCH. While it may exist, out/tpu/NAME remembers it here.

# shellcheck source=scripts/cloud.bash
. "${BASH_SOURCE[0]%/*}/cloud.bash"

transfer=${MATLADDER_TRANSFER:-180}  # seconds for one copy or short command
delete_for=${MATLADDER_DELETE:-1200} # seconds for all tries to delete

name=       # of the queued resource and of its node
zone=
project=
accelerator=v5litepod-1
runtime=    # image of the VM
model=      # flex-start, spot or on-demand
max_run=1h
max_wait=30m
expires=    # epoch
generation= # v4, v5e, v5p, v6e
chips=
active_at= # epoch at which it was up
records=$root/out/tpu

queued=(gcloud compute tpus queued-resources)
vm=(gcloud compute tpus tpu-vm)

# kind_of ACCELERATOR sets generation and chips, and runtime, zone and model where
# they are not chosen yet. Names and images: cloud.google.com/tpu/docs, pages
# regions-zones and runtimes; zones of flex-start: page request-using-flex-start.
kind_of() {
  local size=${1##*-} place flex_place image per_host
  case $size in '' | 0* | *[!0-9]* | ?????*) wrong_usage "accelerator $1: want a type such as v5litepod-1, v6e-1, v5p-8 or v4-8" ;; esac
  case $1 in
    v4-*)        generation=v4  chips=$((size / 2)) per_host=4 image=tpu-ubuntu2204-base place=us-central2-b flex_place= ;;
    v5litepod-*) generation=v5e chips=$size per_host=8 image=v2-alpha-tpuv5-lite place=us-central1-a flex_place=us-central1-a ;;
    v5p-*)       generation=v5p chips=$((size / 2)) per_host=4 image=v2-alpha-tpuv5 place=us-east5-a flex_place= ;;
    v6e-*)       generation=v6e chips=$size per_host=8 image=v2-alpha-tpuv6e place=us-east5-a flex_place=us-east5-a ;;
    v7x-* | tpu7x-*) wrong_usage "accelerator $1: TPU7x is rented through Google Kubernetes Engine only, which these scripts do not do" ;;
    *) wrong_usage "accelerator $1: unknown (v4-8, v5litepod-1, v5p-8, v6e-1 and larger ones are known)" ;;
  esac
  [ "$chips" -ge 1 ] || wrong_usage "accelerator $1: less than a chip"
  [ "$chips" -le "$per_host" ] || wrong_usage "accelerator $1: $chips chips are on several hosts; matladder measures one chip, so a slice of one host is enough"
  accelerator=$1
  : "${runtime:=$image}"
  if [ -z "$model" ]; then
    if [ -n "$flex_place" ]; then model=flex-start; else model=spot; fi
  fi
  case $model in
    flex-start) : "${zone:=${flex_place:-$place}}" ;;
    spot | on-demand) : "${zone:=$place}" ;;
    *) wrong_usage "provisioning $model: want flex-start, spot or on-demand" ;;
  esac
}

# machine_flag FLAG REMAINING VALUE: takes a flag that all scripts share; fails if
# it is none of them.
machine_flag() {
  case $1 in
    --zone) zone=$(value_of "$@") || exit ;;
    --runtime) runtime=$(value_of "$@") || exit ;;
    --provisioning) model=$(value_of "$@") || exit ;;
    --project) project=$(value_of "$@") || exit ;;
    --max-run) max_run=$(value_of "$@") || exit ;;
    --max-wait) max_wait=$(value_of "$@") || exit ;;
    --name) name=$(value_of "$@") || exit ;;
    *) return 1 ;;
  esac
}

# durations checks --max-run and --max-wait and sets when the machine expires:
# after the longest wait, the longest run and ten minutes.
durations() {
  local run wait
  run=$(seconds "$max_run") || wrong_usage "--max-run $max_run: want a duration such as 30m or 2h"
  wait=$(seconds "$max_wait") || wrong_usage "--max-wait $max_wait: want a duration such as 30m or 2h"
  [ "$run" -ge 1200 ] || wrong_usage "--max-run $max_run: setting up alone takes minutes; want 20m at least"
  [ "$run" -le 604800 ] || wrong_usage "--max-run $max_run: 7d at most"
  [ "$wait" -ge 60 ] || wrong_usage "--max-wait $max_wait: want 1m at least"
  run_seconds=$run
  wait_seconds=$wait
  expires=$(($(now) + wait + run + 600))
}

# machine_is: the name of a new machine, or the one asked for.
machine_is() {
  [ -n "$name" ] || name=ml-$(owner | cut -c 1-20)-$accelerator-$(date -u +%m%d%H%M%S)-$$
  case $name in
    [!a-z]* | *[!a-z0-9-]* | *-) wrong_usage "name $name: want lower case letters, digits and dashes, a letter first" ;;
  esac
  [ ${#name} -le 60 ] || wrong_usage "name $name: longer than 60 characters"
  [ ! -e "$records/$name" ] || wrong_usage "name $name: such a machine may exist (out/tpu/$name); delete it with scripts/tpu-delete $name"
}

# ---- what it costs ----

# price sets the hourly price of the machine in dollars, "" if unknown, and a
# sentence about it.
price() {
  local column=3 per_chip
  [ "$model" != spot ] || column=4
  per_chip=$(awk -v g="$generation" -v z="$zone" -v c="$column" '$1 == g && $2 == z { print $c }' "$scripts/prices.tsv")
  if [ -z "$per_chip" ]; then
    hourly=
    price_says="price unknown: scripts/prices.tsv has none of $generation in $zone"
    return
  fi
  hourly=$(awk -v p="$per_chip" -v n="$chips" 'BEGIN { printf "%.2f", p * n }')
  price_says="$chips chip(s) of $generation in $zone, $model: \$$hourly an hour (list of $(priced_on))"
  if [ "$model" = flex-start ]; then
    price_says="$chips chip(s) of $generation in $zone, flex-start: at most \$$hourly an hour, its price on demand (list of $(priced_on))"
  fi
}
priced_on() { sed -n 's/.*read \([0-9-]*\).*/\1/p' "$scripts/prices.tsv"; }

# estimate says what the run costs at most.
estimate() {
  price
  say "cost: $price_says"
  [ -z "$hourly" ] || say "cost: at most \$$(awk -v p="$hourly" -v s="$run_seconds" 'BEGIN { printf "%.2f", p * s / 3600 }') for --max-run $max_run; waiting for the machine costs nothing"
  case $model in
    flex-start) say "limit: the cloud itself deletes the machine $max_run after its start, whatever happens here" ;;
    *) say "limit: a $model machine has none of its own. This script deletes it; if this computer dies first, scripts/tpu-expire on any other does after $(utc "$expires")" ;;
  esac
}

# ---- before the first command that costs money ----

preflight() {
  if ! command -v gcloud >/dev/null; then
    if [ -n "$dry" ]; then
      : "${project:=PROJECT}"
      say "(gcloud is not installed: https://cloud.google.com/sdk/docs/install)"
      return
    fi
    die "gcloud is not installed: https://cloud.google.com/sdk/docs/install"
  fi
  if [ -n "$dry" ] && [ -n "$project" ]; then return; fi
  local was_dry=$dry account
  dry= # these two only read
  if [ -z "$was_dry" ]; then
    step "$limit" gcloud auth list --filter=status:ACTIVE '--format=value(account)' >"$temporary/account" 2>"$temporary/why" || {
      tell "$temporary/why"
      die "gcloud auth list failed"
    }
    account=$(cat "$temporary/account")
    [ -n "$account" ] || die "not logged in: run gcloud auth login"
  fi
  if [ -z "$project" ]; then
    step "$limit" gcloud config get-value project >"$temporary/project" 2>/dev/null || [ -n "$was_dry" ] || die "gcloud config get-value project failed"
    project=$(cat "$temporary/project")
    [ "$project" != "(unset)" ] || project=
    if [ -z "$project" ]; then
      [ -n "$was_dry" ] || die "no project: run gcloud config set project PROJECT, or use --project"
      project=PROJECT
    fi
  fi
  dry=$was_dry
}

# tell FILE: what a failed command printed, and what to do about the usual causes.
tell() {
  local line hint=
  while IFS= read -r line; do say "  $line"; done <"$1"
  case $(cat "$1") in
    *SERVICE_DISABLED* | *"has not been used in project"*) hint="enable it: gcloud services enable tpu.googleapis.com --project $project" ;;
    *RESOURCE_EXHAUSTED* | *[Qq]uota*) hint="quota: ask for TPU quota of $generation in $zone (flex-start and spot need the preemptible one): https://cloud.google.com/tpu/docs/quota" ;;
    *[Rr]eauth* | *UNAUTHENTICATED* | *"auth login"*) hint="log in again: gcloud auth login" ;;
    *PERMISSION_DENIED*) hint="your account needs the role TPU Admin in project $project" ;;
    *"Invalid choice"* | *"alpha component"* | *"components install"*) hint="flex-start needs gcloud's alpha commands: gcloud components install alpha, or use --provisioning spot" ;;
  esac
  [ -z "$hint" ] || say "$hint"
}

# ---- its life ----

remember() {
  [ -z "$dry" ] || return 0
  mkdir -p "$records" && printf 'zone=%s\nproject=%s\nexpires=%s\n' "$zone" "$project" "$expires" >"$records/$name"
}
forget() { rm -f "$records/$name"; }

create() {
  local command status
  if [ "$model" = flex-start ]; then
    # Only the alpha command has these flags; with --spot it asks for a standard machine.
    command=(gcloud alpha compute tpus queued-resources create "$name" --provisioning-model=flex-start "--max-run-duration=$max_run")
  else
    command=("${queued[@]}" create "$name")
    [ "$model" != spot ] || command[${#command[@]}]=--spot
  fi
  remember || die "cannot write $records/$name"
  say "asking for $accelerator in $zone ($model): $name"
  machine=asked
  step "$limit" "${command[@]}" "--node-id=$name" "--zone=$zone" "--project=$project" \
    "--accelerator-type=$accelerator" "--runtime-version=$runtime" "--valid-until-duration=$max_wait" \
    "--labels=tool=matladder,owner=$(owner),expires=$expires" --async --quiet >"$temporary/create" 2>&1
  status=$?
  [ -z "$dry" ] || cat "$temporary/create"
  [ "$status" -ne 0 ] || return 0
  if grep -q ALREADY_EXISTS "$temporary/create"; then
    machine=foreign
    forget
  fi
  tell "$temporary/create"
  die "asking for the machine failed ($(reason "$status"))"
}

# await waits until the machine is up.
# shellcheck disable=SC2034 # active_at is for tpu-run
await() {
  local until state='' before='' unanswered=0
  until=$(($(now) + wait_seconds + 300)) # the cloud ends the request at wait_seconds
  while :; do
    if step "$limit" "${queued[@]}" describe "$name" "--zone=$zone" "--project=$project" '--format=value(state.state)' >"$temporary/state" 2>"$temporary/why"; then
      [ -z "$dry" ] || { cat "$temporary/state"; return; }
      state=$(cat "$temporary/state")
      unanswered=0
      machine=there
    else
      unanswered=$((unanswered + 1))
      [ "$unanswered" -lt "$tries" ] || { tell "$temporary/why"; die "cannot learn the machine's state"; }
    fi
    [ "$state" = "$before" ] || say "state: $state"
    before=$state
    case $state in
      ACTIVE) active_at=$(now); return ;;
      FAILED | SUSPENDING | SUSPENDED | DELETING) die "the request ended in state $state: no capacity in $max_wait, or the machine was taken back; try again later, another zone, or another --provisioning" ;;
    esac
    [ "$(now)" -lt "$until" ] || die "no machine after $max_wait"
    nap
  done
}

# on_machine LIMIT COMMAND: a shell command on the machine. Keep-alive packets
# let a lost connection be noticed.
on_machine() {
  step "$1" "${vm[@]}" ssh "$name" "--zone=$zone" "--project=$project" --quiet '--ssh-flag=-o ServerAliveInterval=15' "--command=$2"
}
answers() {
  retry "reaching the machine" "$transfer" "${vm[@]}" ssh "$name" "--zone=$zone" "--project=$project" --quiet --command=true
}
# copy FROM TO: one of them begins with NAME:
copy() {
  retry "copying" "$transfer" "${vm[@]}" scp "$1" "$2" "--zone=$zone" "--project=$project" --quiet
}

delete_now() {
  local until=$((SECONDS + delete_for)) unseen=0 status
  while :; do
    step "$limit" "${queued[@]}" delete "$name" "--zone=$zone" "--project=$project" --force --quiet >"$temporary/delete" 2>&1
    status=$?
    if [ -n "$dry" ]; then
      cat "$temporary/delete"
      return 0
    fi
    if [ "$status" = 0 ]; then
      say "deleted $name"
      forget
      return 0
    fi
    if grep -q 'NOT_FOUND\|was not found' "$temporary/delete"; then
      # A request that was cut off may still arrive: look again before believing it.
      if [ "$machine" != asked ] || [ "$unseen" -ge 2 ]; then
        say "nothing to delete: the cloud knows no $name (any more)"
        forget
        return 0
      fi
      unseen=$((unseen + 1))
    else
      say "deleting $name: $(reason "$status")"
      tell "$temporary/delete"
    fi
    case $(cat "$temporary/delete") in
      *[Rr]eauth* | *UNAUTHENTICATED* | *"auth login"* | *PERMISSION_DENIED*) break ;; # will not work the next time
    esac
    if [ "$SECONDS" -ge "$until" ] || [ -n "$give_up" ]; then break; fi
    nap
    [ -z "$give_up" ] || break
  done
  say "*** $name IS NOT DELETED and goes on costing${hourly:+ about \$$hourly an hour}."
  say "*** Delete it: scripts/tpu-delete $name"
  say "*** or:        $(quoted "${queued[@]}" delete "$name" "--zone=$zone" "--project=$project" --force)"
  return 1
}

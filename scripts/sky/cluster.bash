# shellcheck shell=bash
# A cluster of SkyPilot's: starting a task on it, copying, deleting. Sourced by the
# scripts beside it; it does nothing by itself. The last cluster of each kind is
# remembered in .cluster_name_tpu and .cluster_name_gpu at the top of the clone.

# shellcheck source=scripts/cloud.bash
. "${BASH_SOURCE[0]%/*}/../cloud.bash"
self=sky/$self

launch_for=${MATLADDER_LAUNCH:-10800} # seconds for launch: waiting, setting up, measuring
delete_for=${MATLADDER_DELETE:-1200}  # seconds for all tries to delete
idle=10                               # minutes until SkyPilot deletes an idle cluster

cd "$root" || exit 1
kind=  # tpu or gpu
name=  # of the cluster
record=

# need COMMAND WHERE: a program that must be installed.
need() { command -v "$1" >/dev/null || [ -n "$dry" ] || die "$1 is not installed: $2"; }
need_tools() {
  need sky "pip install 'skypilot[gcp]', then sky check gcp"
  need rsync "apt-get install rsync"
}

# launch KIND ACCELERATOR RUNTIME EXPERIMENT FLAGS: runs the task of KIND on a
# cluster and copies the results. If it fails or is interrupted, the cluster is
# deleted at once; else it stays for `exec`, until it is idle for long enough.
launch() {
  kind=$1
  record=.cluster_name_$kind
  name=ml-$(owner | cut -c 1-12)-$(label "$4" | cut -c 1-12)-$(label "${2#tpu-}")
  sed -e "s/^  accelerators: .*/  accelerators: $2/" -e "s/^    runtime_version: .*/    runtime_version: $3/" "$scripts/sky/$kind.yaml" >"$temporary/task.yaml" || die "cannot write the task"
  need_tools
  say "launching $name: $2, spot, deleted $idle minutes after its last job"
  if [ -z "$dry" ]; then printf '%s\n' "$name" >"$record" || die "cannot write $record"; fi
  machine=asked
  step "$launch_for" sky launch --yes --cluster "$name" --idle-minutes-to-autostop "$idle" --down --env "FLAGS=$5" "$temporary/task.yaml" ||
    die "launching failed ($(reason $?))"
  machine=there
  pull || die "the results could not be copied"
  machine=kept
  stays
}

stays() {
  say "$name is not deleted now, for use with scripts/sky/exec $kind; SkyPilot deletes it when it has been idle for $idle minutes"
  say "delete it yourself: sky down $name"
}

# before_delete saves what a failed or interrupted task has measured.
before_delete() {
  local limit=$((limit < 60 ? limit : 60)) tries=1
  trap 'stop_step' INT HUP TERM QUIT
  pull || say "no results were copied from $name"
  trap '' INT HUP TERM QUIT
}

delete_now() {
  local until=$((SECONDS + delete_for)) status
  while :; do
    step "$limit" sky down --yes "$name" >"$temporary/delete" 2>&1
    status=$?
    if [ -n "$dry" ]; then cat "$temporary/delete"; return 0; fi
    if [ "$status" = 0 ]; then
      say "deleted $name"
      rm -f "$record"
      return 0
    fi
    say "deleting $name: $(reason "$status")"
    while IFS= read -r line; do say "  $line"; done <"$temporary/delete"
    if [ "$SECONDS" -ge "$until" ] || [ -n "$give_up" ]; then break; fi
    nap
  done
  say "*** $name IS NOT DELETED and may go on costing. Delete it: sky down $name; look: sky status"
  return 1
}

# which_cluster [KIND]: the cluster of that kind, else the one launched last.
which_cluster() {
  case ${1-} in
    tpu | gpu) kind=$1 ;;
    '')
      kind=tpu
      if [ ! -f .cluster_name_tpu ] || [ .cluster_name_gpu -nt .cluster_name_tpu ]; then kind=gpu; fi
      ;;
    *) wrong_usage "unknown kind $1 (tpu or gpu)" ;;
  esac
  record=.cluster_name_$kind
  [ -f "$record" ] || die "no cluster is remembered: scripts/sky/launch-$kind starts one"
  name=$(cat "$record")
}

# SkyPilot makes each cluster a host that ssh and rsync know by its name.
push() { retry "copying the code" "$limit" rsync -az --exclude=.git "--filter=:- .gitignore" ./ "$name:sky_workdir/"; }
pull() {
  mkdir -p out
  retry "copying the results" "$limit" rsync -az "$name:sky_workdir/out/" out/ || return 1
  [ -n "$dry" ] || say "results are in out/"
}

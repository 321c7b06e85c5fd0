#!/usr/bin/env bash
# The step of action.yml, in a checkout of the repository to be compared: builds the
# programs of commits BASE and HEAD, runs them in turns, and writes the table to the job's
# summary, with GH_TOKEN also to pull request NUMBER. Its status is that of compare.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"; git worktree prune' EXIT

go build -C "$ACTION" -o "$folder/compare" ./cmd/compare

build() { # a side at a commit
  git cat-file -e "$2^{commit}" 2>/dev/null || git fetch --quiet --depth 1 origin "$2"
  git worktree add --quiet --force --detach "$folder/$1" "$2"
  (cd "$folder/$1" && OUT="$folder/bench-$1" sh -c "$BUILD")
  git worktree remove --force "$folder/$1"
}
build base "$BASE"
build head "$HEAD"

status=0
# shellcheck disable=SC2086 # words of both are separate
"$folder/compare" --ab --as md --fail-on-slower "$PERCENT" $OPTIONS "$folder/bench-base" "$folder/bench-head" -- $FLAGS \
  >"$folder/table" 2>"$folder/said" || status=$?
cat "$folder/said" >&2

{
  printf '### Speed of %.12s against %.12s\n\n' "$HEAD" "$BASE"
  cat "$folder/table"
  if [ -s "$folder/said" ]; then
    printf '\n```\n'
    cat "$folder/said"
    printf '```\n'
  fi
} >"$folder/report"
cat "$folder/report" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
if [ -n "${GH_TOKEN:-}" ] && [ -n "${NUMBER:-}" ]; then
  gh pr comment "$NUMBER" --repo "$GITHUB_REPOSITORY" --body-file "$folder/report" >&2
fi
exit "$status"

_matladder() {
  local cur="${COMP_WORDS[COMP_CWORD]}" flag="${COMP_WORDS[COMP_CWORD-1]}" head="" words=""
  case "$cur" in
  =) cur="" ;;
  --*=*) flag="${cur%%%%=*}" head="$flag=" cur="${cur#*=}" ;;
  -*) flag=- ;;
  *) [ "$flag" = = ] && flag="${COMP_WORDS[COMP_CWORD-2]}" ;;
  esac
  case "${COMP_WORDS[1]} $flag" in
  "$cur "*) words='%s completion' ;;
  'completion completion') words='%s' ;;
%s  esac
  case "$cur" in *,*) head="$head${cur%%,*}," cur="${cur##*,}" ;; esac
  [ -z "$words" ] || COMPREPLY=($(compgen -P "$head" -W "$words" -- "$cur"))
}
complete -o default -F _matladder matladder

# Set-up shared by ./attune and ./test: Debian packages, CMake, the build. Sourced by bash with
# `root` (the checkout) and `me` (the name to speak with) set. Everything it says goes to stderr.

say() { printf '%s: %s\n' "$me" "$*" >&2; }

# die SENTENCE [HINT]: ends the launcher with one sentence and the next step.
die() {
  say "$1"
  if [ -n "${2-}" ]; then printf 'hint: %s\n' "$2" >&2; fi
  exit 1
}

# packages_for PURPOSE: the names in scripts/packages.txt that the purpose needs; all need `build`.
packages_for() {
  local purpose name
  while read -r purpose name; do
    case $purpose in
      build | "$1") printf '%s\n' "$name" ;;
    esac
  done < "$root/scripts/packages.txt"
}

# missing_packages PURPOSE: those of them that dpkg does not have installed.
missing_packages() {
  local installed name names
  mapfile -t names < <(packages_for "$1")
  installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${names[@]}" 2> /dev/null)
  for name in "${names[@]}"; do
    case $'\n'$installed$'\n' in
      *$'\n'"installed $name"$'\n'*) ;;
      *) printf '%s\n' "$name" ;;
    esac
  done
}

# apt ARGUMENT...: apt-get as the user who may, its words kept in the log.
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
    apt-get -y -o DPkg::Lock::Timeout=300 "$@" >> "$log" 2>&1 < /dev/null
}

# ensure_packages PURPOSE: installs what is missing, or says the one command that does.
ensure_packages() {
  local missing as_root=()
  if ! command -v dpkg-query > /dev/null; then
    say "this is not a Debian system, so its packages are not checked (scripts/packages.txt lists them)"
    return
  fi
  mapfile -t missing < <(missing_packages "$1")
  if [ ${#missing[@]} = 0 ]; then return; fi
  if [ "$(id -u)" != 0 ]; then
    if command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
      as_root=(sudo -n)
    else
      die "${#missing[@]} Debian packages are missing and installing them needs root" \
        "run: sudo sh -c 'apt-get update && apt-get install -y --no-install-recommends ${missing[*]}'"
    fi
  fi
  say "installing ${#missing[@]} Debian packages, a few minutes: ${missing[*]}"
  : > "$log"
  # A list fetched long ago names versions that the mirror no longer has, so one retry refreshes it.
  if ! compgen -G '/var/lib/apt/lists/*_Packages*' > /dev/null; then apt update; fi
  if apt install --no-install-recommends "${missing[@]}"; then return; fi
  say "trying again with fresh package lists"
  apt update
  if apt install --no-install-recommends "${missing[@]}"; then return; fi
  grep -E '^(E|Err|W):' "$log" | tail -n 4 >&2
  die "the Debian packages could not be installed: ${missing[*]}" \
    "check the network and /etc/apt/sources.list, then try again (everything apt said: $log)"
}

# jobs: one compiler per core, fewer where memory is short (files that see LLVM take about 1 GB).
jobs() {
  local cores key kib
  cores=$(nproc)
  while read -r key kib _; do
    if [ "$key" = MemAvailable: ] && [ $((kib / 1200000)) -lt "$cores" ]; then
      cores=$((kib / 1200000 > 0 ? kib / 1200000 : 1))
    fi
  done < /proc/meminfo
  printf '%s\n' "$cores"
}

# Put before a command, ends it when the launcher dies, so that no build is orphaned. It must become
# a child of the launcher itself: no function or subshell in between.
with_parent=()
if command -v setpriv > /dev/null; then with_parent=(setpriv --pdeathsig TERM); fi

# failed_lines: what the compiler or CMake said last, without progress and command lines.
failed_lines() {
  grep -vE '^\[[0-9]+/[0-9]+\] |^FAILED: |^(: && )?/[^ ]+ .* -o |^ninja: (Entering|build stopped)' \
    "$log" | tail -n 25 >&2
}

# configure DIR PRESET with-tests|without-tests: cmake, when it has not run for this checkout, or when
# tests are wanted and were left out.
configure() {
  local dir=$1 preset=$2 tests=OFF fresh=(--fresh)
  if [ "$3" = with-tests ]; then tests=ON; fi
  if [ -f "$dir/build.ninja" ] &&
    grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt"; then
    if [ $tests = OFF ] || grep -qx 'ATTUNE_BUILD_TESTS:[A-Z]*=ON' "$dir/CMakeCache.txt"; then
      return
    fi
    fresh=()
  fi
  say "configuring ${dir#"$root"/}"
  if ! "${with_parent[@]}" env -C "$root" cmake "${fresh[@]}" --preset "$preset" \
    -DATTUNE_BUILD_TESTS=$tests > "$log" 2>&1; then
    failed_lines
    die "cmake could not configure ${dir#"$root"/}" "everything it said: $log"
  fi
}

# show_progress: reads ninja's lines into the log; a live line on a terminal, else every tenth part.
show_progress() {
  local line count shown=-1 started=
  : > "$log"
  while IFS= read -r line; do
    printf '%s\n' "$line" >> "$log"
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\ [^R] ]] || continue # R: ninja Re-checks, Re-runs CMake
    count=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    if [ -t 2 ]; then
      printf '\r\033[K%s: building %d of %d' "$me" "$count" "$total" >&2
      started=yes
    elif [ $((count * 10 / total)) != "$shown" ]; then
      shown=$((count * 10 / total))
      say "building $count of $total"
    fi
  done
  if [ -n "$started" ]; then printf '\r\033[K' >&2; fi
}

# build DIR TARGET...: ninja, with progress; a failure shows the compiler's last lines.
build() {
  local dir=$1
  shift
  NINJA_STATUS='[%f/%t] ' "${with_parent[@]}" ninja -C "$dir" -j "$(jobs)" "$@" 2>&1 | show_progress
  if [ "${PIPESTATUS[0]}" = 0 ]; then return; fi
  if grep -q "unknown target" "$log"; then
    die "$(grep -o "unknown target '[^']*'" "$log"): this checkout does not build it yet"
  fi
  failed_lines
  die "the build of $* failed" "mend what the lines above say; everything ninja said: $log"
}

# lock_build: one launcher at a time works on the build; cmake and ninja hold the lock as well, so
# that it outlives a launcher that is killed. unlock_build closes it before anything is exec'ed.
lock_build() {
  mkdir -p "$root/build" 2> /dev/null && [ -w "$root/build" ] ||
    die "cannot write to $root/build" "make the checkout writable for user $(id -un)"
  exec {build_lock}> "$root/build/.lock"
  if ! flock -n "$build_lock"; then
    say "waiting for another build of this checkout to end"
    flock "$build_lock"
  fi
  log=$root/build/$me.log
}
unlock_build() { exec {build_lock}>&-; }

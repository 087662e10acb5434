# Read by the journeys beside it: what a new user does by the pages, as timed steps.
#
#   source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
#   journey operator 600             # the name, and the seconds that all may take
#   step "unpack the tarball" tar -xzf "$TARBALL" -C "$WORK"
#   skip "no cc here"                # ends with 77
#   finish                           # prints the total, ends with 1 if it is above the limit
#
# A step is a command or a function of the script; it runs in the script's shell, so what it sets remains. Its output
# goes to $WORK/step.log, which is printed if it fails; the journey ends then. WORK is an empty folder under target, and
# ROOT the root of the checkout, which is the working directory.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly ROOT

# Microseconds since 1970.
now_us() {
    echo "${EPOCHREALTIME/[.,]/}"
}

# seconds SINCE: since that time, with one digit.
seconds() {
    local tenths=$((($(now_us) - $1 + 50000) / 100000))
    echo "$((tenths / 10)).$((tenths % 10))"
}

journey() {
    readonly JOURNEY=$1 LIMIT_SECONDS=$2 WORK=$ROOT/target/journeys/$1
    JOURNEY_BEGAN=$(now_us)
    cd "$ROOT" && rm -rf "$WORK" && mkdir -p "$WORK" || exit 1
    echo "$JOURNEY: at most $LIMIT_SECONDS s"
}

step() {
    local name=$1 began status
    shift
    began=$(now_us)
    "$@" > "$WORK/step.log" 2>&1 < /dev/null
    status=$?
    printf '%7s s  %s\n' "$(seconds "$began")" "$name"
    [ $status -eq 0 ] && return
    tail -n 40 "$WORK/step.log"
    echo "$JOURNEY: FAILED at \"$name\" with status $status: $*"
    exit 1
}

skip() {
    echo "$JOURNEY: skipped: $*"
    exit 77
}

finish() {
    local took
    took=$(seconds "$JOURNEY_BEGAN")
    printf '%7s s  in all\n' "$took"
    if [ "${took%.*}" -ge "$LIMIT_SECONDS" ]; then
        echo "$JOURNEY: FAILED: it took $took s, more than $LIMIT_SECONDS s"
        exit 1
    fi
    echo "$JOURNEY: passed in $took s"
    exit 0
}

# Read by the checks beside it, which set HOME_DIR and MVN: lets Maven run on the JDK that JFabric is built with. Javadoc
# and jar tools of Maven plugins run inside of Maven, and refuse module descriptors of a JDK that is newer.

readonly NEEDED=25

# Sets JAVA_HOME to the first JDK that is new enough, of those that the build finds.
use_jdk() {
    local jdks=$HOME_DIR/target/jdks.xml
    [ -f "$jdks" ] || (cd "$HOME_DIR" && "$MVN" -q -B -N validate)
    JAVA_HOME=$(awk -v needed=$NEEDED -F '[<>]' '
        $2 == "version" { fits = $3 + 0 >= needed }
        $2 == "jdkHome" && fits { print $3; exit }' "$jdks")
    export JAVA_HOME
    [ -x "$JAVA_HOME/bin/javac" ] || { echo "$jdks names no JDK $NEEDED or newer: remove it" >&2; exit 1; }
}

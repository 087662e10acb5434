# Read by the journeys that build a project elsewhere, after journey(): MVN_CALL is Maven on JFabric's JDK, which takes
# JFabric from a folder that it was deployed to, as check-consumer does. Nothing gets into the user's local repository.
#
#   use_repository                 # before the first step; deploys JFabric if target/consumer/repository is not there
#   step "build" "${MVN_CALL[@]}" -f "$WORK/service/pom.xml" package

HOME_DIR=$ROOT
MVN=${MVN:-mvn}
source "$ROOT/config/release/jdk.sh"

use_repository() {
    local repository=$ROOT/target/consumer/repository modules
    use_jdk
    if [ ! -d "$repository/org/jfabric/jfabric-junit" ]; then
        modules=$(sed -n 's/^ *-Dmaven.compiler.*-pl \([^ ]*\) .*/\1/p' "$ROOT/config/release/check-consumer")
        "$MVN" -q -B -DskipTests -Dmaven.test.skip -Dmaven.install.skip -Dmaven.javadoc.skip -Dmaven.source.skip \
            -Dmaven.compiler.useIncrementalCompilation=false -pl "$modules" \
            -DaltDeploymentRepository="check::file:$repository" deploy > "$WORK/deploy.log" 2>&1 ||
            { tail -n 20 "$WORK/deploy.log"; echo "$JOURNEY: FAILED: JFabric was not deployed"; exit 1; }
    fi
    cat > "$WORK/settings.xml" << END
<settings>
    <profiles>
        <profile>
            <id>jfabric</id>
            <repositories>
                <repository>
                    <id>jfabric</id>
                    <url>file:$repository</url>
                </repository>
                $(fetched_before repository)
            </repositories>
            <pluginRepositories>
                $(fetched_before pluginRepository)
            </pluginRepositories>
        </profile>
    </profiles>
    <activeProfiles>
        <activeProfile>jfabric</activeProfile>
    </activeProfiles>
</settings>
END
    rm -rf "$ROOT/target/consumer/local/org/jfabric"
    MVN_CALL=("$MVN" -q -B -gs "$WORK/settings.xml" -Dmaven.repo.local="$ROOT/target/consumer/local")
    # now the new user begins
    JOURNEY_BEGAN=$(now_us)
}

# What the user's local repository has need not be fetched again.
fetched_before() {
    echo "<$1><id>fetched-before</id><url>file:${HOME:-/nonexistent}/.m2/repository</url><releases>" \
        "<checksumPolicy>ignore</checksumPolicy></releases><snapshots><enabled>false</enabled></snapshots></$1>"
}

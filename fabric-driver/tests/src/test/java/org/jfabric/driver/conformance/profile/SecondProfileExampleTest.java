package org.jfabric.driver.conformance.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.jfabric.Domain;
import org.jfabric.Fabric;
import org.jfabric.driver.kit.ExamplePage;
import org.jfabric.driver.kit.FabricPair;
import org.jfabric.driver.kit.Setup;
import org.jfabric.driver.kit.SetupSource;
import org.jfabric.info.FabricAttr;
import org.jfabric.info.Flags;
import org.jfabric.info.Info;
import org.jfabric.info.TagFormat;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;

/** The code of docs/libfabric-2.md: it compiles, it runs, and the page shows it as it is here. */
@Tag("conformance")
@Timeout(120)
class SecondProfileExampleTest {
    private static Domain open(Fabric fabric, String link) {
        // example: open
        Info hints = new Info().caps(Flags.TAGGED | Flags.TAGGED_MULTI_RECV | Flags.EXACT_DIRECTED_RECV);
        hints.fabricAttr().apiVersion(FabricAttr.version(2, 0));
        hints.epAttr().memTagFormat(TagFormat.MPI);
        Info info = fabric.info(hints.linkName(link)).best();
        Domain domain = fabric.domain(info);
        // end of example
        return domain;
    }

    @Tag("link")
    @ParameterizedTest(name = "{0}")
    @SetupSource(calls = true)
    void shouldRunAsThePageSays(Setup setup) {
        try (FabricPair pair = new FabricPair(setup)) {
            Info info = open(pair.a.fabric, setup.link).info();
            assertEquals(FabricAttr.VERSION_2, info.fabricAttr().apiVersion());
            assertEquals(TagFormat.MPI, info.epAttr().memTagFormat());
        }
    }

    @Test
    void shouldBeShownOnThePageAsItIsHere() throws IOException {
        ExamplePage.assertShows("docs/libfabric-2.md", SecondProfileExampleTest.class, 1);
    }
}

package org.jfabric.driver.ffi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jfabric.info.Reason;

/** Both libraries, found, bound and checked. */
public record VerbsLibraries(Ibverbs ibverbs, RdmaCm cm, AsyncEvents asyncEvents) {
    private static final String IBVERBS_SONAME = "libibverbs.so.1";
    private static final String RDMACM_SONAME = "librdmacm.so.1";
    private static final Object LOCK = new Object();

    private static VerbsLibraries loaded;

    /** Both libraries of one process. */
    public VerbsLibraries(Ibverbs ibverbs, RdmaCm cm) {
        this(ibverbs, cm, new AsyncEvents(ibverbs));
    }

    /**
     * The libraries of this system, loaded once and kept. Any thread.
     *
     * @throws VerbsUnavailableException if one is missing, lacks a function, or is not what the binding was made for.
     */
    public static VerbsLibraries system() {
        synchronized (LOCK) {
            if (loaded == null) {
                SymbolLookup verbs = lookup(IBVERBS_SONAME, "libibverbs1");
                SymbolLookup cm = lookup(RDMACM_SONAME, "librdmacm1");
                loaded = bind(verbs, cm);
            }
            return loaded;
        }
    }

    private static VerbsLibraries bind(SymbolLookup verbs, SymbolLookup cm) {
        try {
            NativeIbverbs boundVerbs = new NativeIbverbs(verbs, version(IBVERBS_SONAME));
            NativeRdmaCm boundCm = new NativeRdmaCm(cm, version(RDMACM_SONAME));
            VerbsSelfCheck.checkRelease(boundVerbs.version());
            VerbsSelfCheck.checkRelease(boundCm.version());
            VerbsSelfCheck.checkConstants(boundVerbs, boundCm);
            return new VerbsLibraries(boundVerbs, boundCm);
        } catch (UnsatisfiedLinkError e) {
            throw new VerbsUnavailableException(new Reason("function " + e.getMessage(), "missing",
                "in " + IBVERBS_SONAME + " or " + RDMACM_SONAME, "Install rdma-core 22 or newer"));
        }
    }

    @SuppressWarnings("restricted")
    private static SymbolLookup lookup(String soname, String debianPackage) {
        try {
            return SymbolLookup.libraryLookup(soname, Arena.global());
        } catch (IllegalArgumentException missing) {
            throw new VerbsUnavailableException(new Reason("library " + soname, "not found", soname,
                "Install it (Debian: apt-get install " + debianPackage + " ibverbs-providers)"));
        }
    }

    /** The name of the file that was loaded, which has the version behind the soname. */
    private static String version(String soname) {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains('/' + soname))
                .map(line -> line.substring(line.lastIndexOf('/') + 1).strip())
                .findFirst().orElse(soname);
        } catch (IOException | UncheckedIOException e) {
            return soname;
        }
    }
}

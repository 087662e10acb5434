package org.jfabric.ffi;

/**
 * The machine this process runs on, as far as numbers of the kernel's interface differ.
 */
final class Platform {
    static final String OS = System.getProperty("os.name", "");
    static final String ARCH = System.getProperty("os.arch", "");
    static final boolean AARCH64 = ARCH.equals("aarch64");
    static final boolean X86_64 = ARCH.equals("amd64") || ARCH.equals("x86_64");
    static final boolean SUPPORTED = OS.equals("Linux") && (AARCH64 || X86_64);

    private Platform() {
    }
}

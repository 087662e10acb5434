package org.jfabric.driver.config;

/**
 * Where a value came from; a later constant wins over an earlier one.
 */
public enum Origin {

    /** Nobody set it. */
    DEFAULT("default"),

    /** A properties file. */
    FILE("file"),

    /** A system property of the driver's process. */
    SYSTEM_PROPERTY("system property"),

    /** The builder of {@link DriverConfig}, which includes a command's own arguments. */
    CODE("code or command line");

    private final String text;

    Origin(String text) {
        this.text = text;
    }

    /**
     * Shown with a value.
     *
     * @return one or two words.
     */
    public String text() {
        return text;
    }
}

package org.jfabric.driver.config;

/**
 * Kind of source of a value; a later constant wins over an earlier one.
 */
public enum Origin {

    /** The value was not set. */
    DEFAULT("default"),

    /** A properties file. */
    FILE("file"),

    /** An environment variable of the daemon's process. */
    ENVIRONMENT("environment variable"),

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

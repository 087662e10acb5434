package org.jfabric.driver.config;

/**
 * The process in which an option takes effect, and where it therefore has to be set.
 */
public enum SetIn {

    /** Only in the process that runs the driver: the daemon, or the application that embeds it. */
    DRIVER("driver"),

    /** In the driver's process; a client needs the same value, or it searches for the driver elsewhere. */
    DRIVER_AND_CLIENT("driver; clients need the same");

    private final String text;

    SetIn(String text) {
        this.text = text;
    }

    /**
     * Shown in the option tables.
     *
     * @return a few words.
     */
    public String text() {
        return text;
    }
}

package org.jfabric.driver.config;

/** Form of the lines of a driver's log. */
public enum LogFormat {
    /** Time, level and event, then names with values, then a sentence. */
    TEXT,
    /** One JSON object on each line. */
    JSON
}

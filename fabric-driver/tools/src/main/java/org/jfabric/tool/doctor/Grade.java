package org.jfabric.tool.doctor;

/** Result of a check, from good to bad. */
public enum Grade {
    /** Nothing has to be done. */
    OK,
    /** Worth knowing; nothing has to be done. */
    NOTE,
    /** A driver runs, but slower or less safely than it could. */
    WARNING,
    /** A driver does not start, or cannot serve its clients. */
    ERROR
}

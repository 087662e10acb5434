package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.RdmaCm;

/** Whom an identifier of the connection manager belongs to. Owner: progress agent. */
abstract class CmTarget {
    /** Something has happened to the identifier. */
    abstract void onEvent(RdmaCm.CmEvent event);
}

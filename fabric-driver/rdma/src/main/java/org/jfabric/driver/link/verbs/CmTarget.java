package org.jfabric.driver.link.verbs;

import org.jfabric.driver.ffi.RdmaCm;

/** The owner of an identifier of the connection manager. Owner: progress agent. */
abstract class CmTarget {
    abstract void onEvent(RdmaCm.CmEvent event);
}

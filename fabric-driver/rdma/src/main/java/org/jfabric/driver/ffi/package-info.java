/**
 * Calls of libibverbs and librdmacm by the Foreign Function and Memory API, as far as the verbs link needs them.
 *
 * <p>{@link org.jfabric.driver.ffi.Ibverbs} and {@link org.jfabric.driver.ffi.RdmaCm} are the calls as they are in C,
 * with pointers as 64-bit integers. {@link org.jfabric.driver.ffi.VerbsLibraries} binds them to the system's libraries,
 * after it has checked that structures and constants there agree with {@code VerbsLayout}; otherwise it refuses the
 * libraries.
 *
 * <p><b>Error convention.</b> A call returns 0, its positive result, or the <em>negative errno</em>.
 */
package org.jfabric.driver.ffi;

/**
 * Calls of the Linux C library by the Foreign Function and Memory API: files, mappings, futexes, epoll, local sockets,
 * processor affinity.
 *
 * <p>This is the only package of the client that uses a native linker. It depends on nothing else of the product.
 * Supported are Linux on x86_64 and aarch64 with glibc 2.28 or newer. Entry points (connect, launch) call
 * {@link org.jfabric.ffi.NativeAccess#check()} first, which checks this.
 *
 * <p><b>Error convention.</b> A call returns 0 or its positive result, or the <em>negative errno</em>; never -1 with a
 * separate errno. Factories of whole objects ({@link org.jfabric.ffi.MappedFile}, {@link org.jfabric.ffi.Epoll}) throw
 * {@link org.jfabric.ffi.NativeCallException} with call, values and remedy instead.
 *
 * <p><b>Threads.</b> Every static call may be made by any thread: errno and argument structures live in memory of the
 * calling thread, allocated on that thread's first call. Later calls of {@code Futex}, {@code Epoll.poll},
 * {@code EventFd} and {@code UnixSocket.send/recv} allocate nothing.
 */
package org.jfabric.ffi;

package org.jfabric.driver.engine.late;

import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;

/** Loads the project's classes anew, those of the engine and the links with a {@link LateFault} in each call. */
public final class LateFaultLoader extends ClassLoader {
    private static final String PROJECT = "org.jfabric.";
    private static final ClassDesc FAULT = LateFault.class.describeConstable().orElseThrow();

    private final ClassFile classFile;
    private final String caller;

    /** A loader that leaves the class as it is that calls the code under test. */
    public LateFaultLoader(ClassLoader parent, String caller) {
        super(parent);
        this.caller = caller;
        classFile = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(
            ClassHierarchyResolver.ofResourceParsing(parent).orElse(ClassHierarchyResolver.defaultResolver())));
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(PROJECT) || name.equals(LateFault.class.getName())) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            return loaded != null ? loaded : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream stream = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (stream == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] bytes = stream.readAllBytes();
            boolean isTested =
                name.startsWith("org.jfabric.driver.engine.") || name.startsWith("org.jfabric.driver.link.");
            if (isTested && !name.startsWith(caller)) {
                bytes = withFaults(bytes);
            }
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private byte[] withFaults(byte[] bytes) {
        return classFile.transformClass(
            classFile.parse(bytes), ClassTransform.transformingMethodBodies((code, element) -> {
                if (!(element instanceof InvokeInstruction call) || call.name().equalsString("<init>")) {
                    code.with(element);
                    return;
                }
                String owner = call.owner().asInternalName();
                if (owner.equals("org/jfabric/driver/resource/FaultPoint")) {
                    call(code, "onFaultPoint");
                }
                code.with(element);
                if (owner.equals("org/jfabric/layout/Words")) {
                    call(code, "onAccess");
                } else if (owner.startsWith("org/jfabric/") && !owner.endsWith("/LateFault")) {
                    call(code, "onReturn");
                }
            }));
    }

    private static void call(CodeBuilder code, String method) {
        code.invokestatic(FAULT, method, ConstantDescs.MTD_void);
    }
}

package org.jfabric.tool;
public class RcDebug { public static String of(String... a) { return ToolRun.of(a).toString(); } }

/**
 * The command {@code fabric compare}: measures JFabric beside other libraries and two baselines, in turn and on the
 * same cores, and reports medians, ranges and the ratios of the rounds.
 *
 * <p>{@link org.jfabric.perf.compare.CompareCommand} is the entry, {@code Rig} runs the rounds over {@code Contender}s.
 * A contender on the JVM ({@code JvmContender}) keeps one process for each of its {@code Side}s, driven by lines
 * ({@code SideProcess}); one of C ({@code NativeContender}) starts its test program anew for each cell. Readings become
 * {@code Results}, those are judged by {@code Targets} and written by {@code ResultJson} and {@code ReportPage}.
 */
package org.jfabric.perf.compare;

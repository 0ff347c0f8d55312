/** The first import of every entry point: hardened intrinsics for every process of ours that holds a cap. */
import '../lockdown.ts';

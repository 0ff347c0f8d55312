/**
 * `@hob/host/lockdown`: the first line of a program that opens a host. `openHost` refuses a process in which any module
 * could still change what an intrinsic does.
 */
import '@hob/vat/lockdown';

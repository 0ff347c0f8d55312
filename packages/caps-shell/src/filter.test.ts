/**
 * The filters of both machines, run over every call that has a number there: the refused ones are refused,
 * and the others pass.
 *
 * The test build prints the program that the kernel gets, and this file interprets it. So arm64 is tested on
 * x64 too.
 */
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { builds } from '../test/builds.ts';

const test = requires('linux', 'cc');

const ARCH = { 'x86-64': 0xc000003e, arm64: 0xc00000b7 } as const;
const COMPAT = { 'x86-64': 0x40000003, arm64: 0x40000028 } as const;
type Machine = keyof typeof ARCH;

const ALLOW = 'allow';
const KILL = 'kill';
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

type Instruction = readonly [code: number, yes: number, no: number, k: number];

/** Interprets classic BPF, as far as these filters use it. */
function verdict(program: readonly Instruction[], arch: number, nr: number, args: readonly bigint[]): string | number {
  const at = (offset: number): number => {
    if (offset === 0) return nr >>> 0;
    if (offset === 4) return arch >>> 0;
    const arg = args[(offset - 16) >> 3] ?? 0n;
    return Number((offset & 4 ? arg >> 32n : arg) & 0xffffffffn);
  };
  let a = 0;
  for (let pc = 0; ; pc += 1) {
    const [code, yes, no, k] = program[pc] ?? [0, 0, 0, 0];
    if (code === 0x20) a = at(k);
    else if (code === 0x05) pc += k;
    else if (code === 0x15) pc += a === k ? yes : no;
    else if (code === 0x35) pc += a >= k ? yes : no;
    else if (code === 0x45) pc += (a & k) !== 0 ? yes : no;
    else if (code === 0x06) return k === 0x7fff0000 ? ALLOW : k === 0x80000000 ? KILL : k & 0xffff;
    else throw new Error(`instruction ${pc} is ${code}`);
  }
}

const programs = new Map<Machine, readonly Instruction[]>();

test.beforeAll(() => {
  const all = builds();
  for (const machine of ['x86-64', 'arm64'] as const) {
    const lines = all.filter(machine).trim().split('\n');
    programs.set(
      machine,
      lines.map((line) => line.split(' ').map(Number) as unknown as Instruction),
    );
  }
});

const ask = (machine: Machine, nr: number, ...args: (number | bigint)[]): string | number =>
  verdict(programs.get(machine) ?? [], ARCH[machine], nr, args.map(BigInt));

/**
 * From the kernel's own tables (arch/x86/entry/syscalls/syscall_64.tbl, include/uapi/asm-generic/unistd.h).
 */
const REFUSED: Readonly<Record<Machine, readonly number[]>> = {
  'x86-64': [
    103, 153, 155, 159, 161, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 175, 176, 179, 212, 227, 246, 248,
    249, 250, 256, 272, 279, 298, 300, 303, 304, 305, 308, 310, 311, 312, 313, 320, 321, 323,
  ],
  arm64: [
    18, 39, 40, 41, 51, 58, 60, 89, 97, 104, 105, 106, 112, 116, 142, 161, 162, 170, 171, 217, 218, 219, 224, 225, 238,
    239, 241, 262, 264, 265, 266, 268, 270, 271, 272, 273, 280, 282, 294,
  ],
};
const ABSENT: Readonly<Record<Machine, readonly number[]>> = {
  'x86-64': [319, 425, 426, 427, 428, 429, 430, 431, 432, 433, 435, 437, 442, 443, 447, 457, 458, 467],
  arm64: [279, 425, 426, 427, 428, 429, 430, 431, 432, 433, 435, 437, 442, 443, 447, 457, 458, 467],
};

for (const machine of ['x86-64', 'arm64'] as const) {
  test(`${machine}: exactly the calls of the table are refused, all others pass`, () => {
    const expected = (nr: number): string | number =>
      REFUSED[machine].includes(nr) ? EPERM : ABSENT[machine].includes(nr) ? ENOSYS : ALLOW;
    const sockets = machine === 'arm64' ? [198, 199] : [41, 53];
    // Family 1 is AF_UNIX: with it, `socket` and `socketpair` are judged by their numbers only.
    for (let nr = 0; nr < 600; nr += 1) {
      expect({ nr, verdict: ask(machine, nr, sockets.includes(nr) ? 1 : 0) }).toEqual({ nr, verdict: expected(nr) });
    }
  });

  test(`${machine}: another machine's calls do not pass`, () => {
    const program = programs.get(machine) ?? [];
    // 102 is socketcall, 360 socketpair of the 32-bit machine.
    for (const nr of [0, 1, 20, 102, 360, 400]) {
      expect(verdict(program, COMPAT[machine], nr, [])).toBe(ENOSYS);
      expect(verdict(program, 0xdeadbeef, nr, [])).toBe(KILL);
    }
    if (machine === 'x86-64')
      for (const nr of [0x40000000, 0x40000027, 0x40000035, 0x400001ff]) expect(ask(machine, nr)).toBe(ENOSYS);
  });

  test(`${machine}: no new namespace by clone, with any other flags`, () => {
    const clone = machine === 'arm64' ? 220 : 56;
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000])
      for (const more of [0, 17, 0x3d0f00]) expect(ask(machine, clone, flag | more)).toBe(EPERM);
    // A thread, a fork, a vfork.
    for (const flags of [0x3d0f00, 17, 0x4111]) expect(ask(machine, clone, flags)).toBe(ALLOW);
    expect(ask(machine, clone, 0xffffffff00000011n)).toBe(ALLOW);
  });

  test(`${machine}: no set-id bit on any file, by every call that can set one`, () => {
    const x86 = machine === 'x86-64';
    // number, where the mode is, the other arguments
    const calls: readonly (readonly [nr: number, mode: number, ...rest: number[]])[] = [
      [x86 ? 91 : 52, 1],
      [x86 ? 268 : 53, 2],
      [452, 2],
      [x86 ? 259 : 33, 2],
      [x86 ? 257 : 56, 3, 0, 0, 0o100],
      [x86 ? 257 : 56, 3, 0, 0, 0o20200000],
      ...(x86
        ? ([
            [90, 1],
            [133, 1],
            [85, 1],
            [2, 2, 0, 0o101],
          ] as const)
        : []),
    ];
    for (const [nr, mode, ...rest] of calls)
      for (const bits of [0o4755, 0o2755, 0o6000, 0o755, 0o1777]) {
        const args = [...rest];
        args[mode] = bits;
        for (let i = 0; i < mode; i += 1) args[i] ??= 0;
        expect({ nr, bits, verdict: ask(machine, nr, ...args) }).toEqual({
          nr,
          bits,
          verdict: bits & 0o6000 ? EPERM : ALLOW,
        });
      }
    // Without O_CREAT the register of the mode holds any value.
    expect(ask(machine, x86 ? 257 : 56, 0, 0, 0, 0o6777)).toBe(ALLOW);
  });

  test(`${machine}: no lease on a file or directory; every other use of fcntl passes`, () => {
    const fcntl = machine === 'arm64' ? 25 : 72;
    for (let what = 0; what < 1100; what += 1)
      for (const high of [0n, 0xffff_ffffn << 32n])
        expect({ what, verdict: ask(machine, fcntl, 3, high | BigInt(what)) }).toEqual({
          what,
          verdict: [1024, 1040].includes(what) ? EPERM : ALLOW,
        });
  });

  test(`${machine}: the buffer sizes of a socket stay, and every other option passes`, () => {
    const setsockopt = machine === 'arm64' ? 208 : 54;
    for (const level of [0, 1, 6, 41])
      for (let option = 0; option < 80; option += 1)
        expect({ level, option, verdict: ask(machine, setsockopt, 3, level, option) }).toEqual({
          level,
          option,
          verdict: level === 1 && [7, 8].includes(option) ? 0 : ALLOW,
        });
  });

  test(`${machine}: no input is typed into a terminal, and no unusual sockets are made`, () => {
    const [ioctl, socket, socketpair] = machine === 'arm64' ? [29, 198, 199] : [16, 41, 53];
    expect(ask(machine, ioctl, 0, 0x5412)).toBe(EPERM);
    expect(ask(machine, ioctl, 0, 0x541c)).toBe(EPERM);
    // The kernel looks at 32 bits, so the rest hides nothing.
    expect(ask(machine, ioctl, 0, 0xffff_ffff_0000_5412n)).toBe(EPERM);
    expect(ask(machine, ioctl, 0, 0x5413)).toBe(ALLOW);
    for (const call of [socket, socketpair])
      for (let family = 0; family < 48; family += 1)
        for (const high of [0n, 0xffff_ffffn << 32n])
          expect({ call, family, verdict: ask(machine, call, high | BigInt(family)) }).toEqual({
            call,
            family,
            verdict: [1, 2, 10, 16].includes(family) ? ALLOW : EAFNOSUPPORT,
          });
  });
}

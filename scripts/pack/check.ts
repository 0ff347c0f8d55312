/**
 * Checks a tarball before it is published: `publint` looks at its `package.json` and files, `attw` (Are the types
 * wrong?) at what TypeScript finds behind each entry point.
 *
 * Promise: returns a line for each thing that would fail a user who imports a package by ES modules, from Node or a
 * bundler. Hob has no CommonJS, and no types for TypeScript's old `node10` resolution, which knows no entry points.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';

/** The ways of resolution that Hob supports. The others are `node10` and `node16-cjs`. */
const supported: ReadonlySet<string> = new Set(['node16-esm', 'bundler']);

export async function faultsOf(tarball: string): Promise<string[]> {
  const bytes = new Uint8Array(readFileSync(tarball));
  const name = basename(tarball);
  const { messages, pkg } = await publint({ pack: { tarball: bytes.buffer }, strict: true });
  const { problems } = await checkTypes(bytes);
  return [
    ...messages
      .filter(({ type }) => type !== 'suggestion')
      .map((message) => `${name}: publint: ${formatMessage(message, pkg, { color: false })}`),
    ...problems.map((problem) => `${name}: attw: ${said(problem)}`),
  ];
}

async function checkTypes(bytes: Uint8Array): Promise<{ readonly problems: readonly Problem[] }> {
  const analysis = await checkPackage(createPackageFromTarballData(bytes));
  if (analysis.types === false) throw new Error(`${analysis.packageName} has no types`);
  // A file that is not reached in a supported way is nobody's fault.
  return {
    problems: analysis.problems.filter((one) => !('resolutionKind' in one) || supported.has(one.resolutionKind)),
  };
}

function said(problem: Problem): string {
  const where = 'entrypoint' in problem ? ` at ${problem.entrypoint} (${problem.resolutionKind})` : '';
  return `${problem.kind}${where}`;
}

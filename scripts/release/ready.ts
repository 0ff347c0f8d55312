/**
 * Conditions on the repository before a release.
 *
 * Each check returns what is wrong, a line each, with the remedy. `before` marks what a dry run only mentions, because
 * the owner does it last.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Package } from '../pack/packages.ts';

export interface Fault {
  readonly what: string;
  /** `ever`: a dry run fails, too. `publishing`: only a release fails. */
  readonly before: 'ever' | 'publishing';
}

const ever = (what: string): Fault => ({ what, before: 'ever' });
const publishing = (what: string): Fault => ({ what, before: 'publishing' });

/** The tree is the commit: what is released can be found again. */
export function treeFaults(root: string): Fault[] {
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }).trimEnd();
  if (changed === '') return [];
  const lines = changed.split('\n');
  const shown = lines.slice(0, 10).map((line) => line.slice(3));
  const more = lines.length > shown.length ? ` and ${lines.length - shown.length} more` : '';
  return [ever(`the tree has changes that are not committed: ${shown.join(', ')}${more}; commit or remove them`)];
}

/** All packages have the version of the repository, also the Python package, and no release has it yet. */
export function versionFaults(root: string, version: string, packages: readonly Package[]): Fault[] {
  const faults = packages
    .filter(({ manifest }) => manifest.version !== version)
    .map(({ folder, manifest }) =>
      ever(`packages/${folder}/package.json has version ${manifest.version}, not ${version}`),
    );
  const python = /^version = "(.*)"$/m.exec(
    readFileSync(join(root, 'packages/bridge-python/pyproject.toml'), 'utf8'),
  )?.[1];
  if (python !== version)
    faults.push(ever(`packages/bridge-python/pyproject.toml has version ${python}, not ${version}`));
  const tag = spawnSync('git', ['rev-parse', '--verify', '--quiet', `refs/tags/v${version}`], { cwd: root });
  if (tag.status === 0)
    faults.push(
      ever(`version ${version} is released: the tag v${version} is there; raise the version in package.json`),
    );
  return faults;
}

/** The newest entry of the changelog is this version, with text, and its date when it is published. */
export function changelogFaults(changelog: string, version: string): Fault[] {
  const [, entry = ''] = changelog.split(/^## /m);
  const [title = '', ...lines] = entry.split('\n');
  const [named = '', date = ''] = title.split(' ');
  if (named !== version)
    return [ever(`CHANGELOG.md begins with ${named || 'no version'}: add "## ${version} (unreleased)"`)];
  if (lines.join('').trim() === '') return [ever(`CHANGELOG.md says nothing about ${version}`)];
  return /^\(\d{4}-\d{2}-\d{2}\)$/.test(date)
    ? []
    : [publishing(`CHANGELOG.md: write the date, as in "## ${version} (2026-01-31)", and commit it`)];
}

/** The owner has said where the project is. */
export function ownerFaults(root: { readonly repository?: unknown }): Fault[] {
  return root.repository === undefined
    ? [publishing('package.json of the repository has no "repository": each package gets it from there')]
    : [];
}

/** Each package after those that it depends on, so that no user gets one whose dependency is not there yet. */
export function inOrder(packages: readonly Package[]): Package[] {
  const done: Package[] = [];
  const waiting = new Set(packages);
  while (waiting.size > 0) {
    const ready = [...waiting].filter(({ manifest }) =>
      [...waiting].every((other) => !Object.hasOwn(manifest.dependencies ?? {}, other.manifest.name)),
    );
    if (ready.length === 0) throw new Error('the packages depend on each other in a circle');
    for (const one of ready) waiting.delete(one);
    done.push(...ready);
  }
  return done;
}

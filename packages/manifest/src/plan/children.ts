/** The caps that a session may give to sessions that it starts. */
import type { Manifest } from '../file/types.ts';
import type { Finding } from '../text/mistakes.ts';
import { nearest, quoted } from '../text/mistakes.ts';
import type { Given, Plan, PlannedCap } from './plan.ts';

/** Reads `docs` and `docs.readonly`. */
export function childrenOf(
  manifest: Manifest,
  caps: Plan['caps'],
): { readonly children: Plan['children']; readonly findings: readonly Finding[] } {
  const findings: Finding[] = [];
  const known = Object.keys(caps);
  const children: Record<string, readonly Given[]> = {};
  for (const [child, { give }] of Object.entries(manifest.children ?? {})) {
    const given: Given[] = [];
    for (const [n, text] of give.entries()) {
      const path = ['children', child, 'give', n];
      const [name = '', facet, ...more] = text.split('.');
      const cap = Object.hasOwn(caps, name) ? caps[name] : undefined;
      if (cap === undefined) {
        const meant = nearest(name, known);
        const write = meant === undefined ? `give one of ${known.slice(0, 8).join(', ')}` : `did you mean ${meant}?`;
        findings.push({ path, wrong: `the session has no cap ${quoted(name)}`, write });
      } else if (more.length > 0 || (facet !== undefined && facet !== 'readonly'))
        findings.push({
          path,
          wrong: `${quoted(text)} is not a part of a cap`,
          write: `write ${name} or ${name}.readonly`,
        });
      else if (facet === 'readonly' && !canRead(cap))
        findings.push({ path, wrong: `nothing of ${name} only reads`, write: `write ${name}, or leave it out` });
      else if (given.some((one) => one.cap === name))
        findings.push({ path, wrong: `${name} is given twice`, write: 'keep one of them' });
      else given.push(facet === undefined ? { cap: name } : { cap: name, readonly: true });
    }
    children[child] = given;
  }
  return { children, findings };
}

/** Whether the part of a cap that only reads is more than nothing. */
function canRead(cap: PlannedCap): boolean {
  switch (cap.kind) {
    case 'fs':
      return cap.can.some((right) => right === 'read' || right === 'list' || right === 'search');
    case 'http':
      return cap.methods.includes('GET');
    case 'command':
    case 'shell':
      return true;
    case 'host':
    case 'unix':
    case 'forward':
      return true;
    case 'sign':
    case 'mcp':
    case 'message':
    case 'schedule':
      return false;
  }
}

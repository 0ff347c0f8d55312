/**
 * Granters, judge, ledger, card and chats over several layers. A lower layer never adds a granter, a judge's right, a chat
 * or a place.
 */
import type { Manifest } from '../../file/types.ts';
import type { Finding, Path } from '../../text/mistakes.ts';
import type { Plan } from '../plan.ts';
import { narrowedGuardrails, plannedGuardrails } from './guardrails.ts';

/** The parts of a plan that say who decides and where it is recorded. */
export type Rest = Pick<Plan, 'granters' | 'judge' | 'ledger' | 'firewall' | 'a2a' | 'chats'>;

/**
 * The highest layer that names a part holds. With `mayAdd`, the lower one names what no layer above names. Otherwise it
 * can only take away, and a longer time to keep the ledger.
 */
export function restOf(above: Rest, lower: Rest, { mayAdd }: { mayAdd: boolean }, findings: Finding[]): Rest {
  const drop = (path: Path, wrong: string): void =>
    void findings.push({
      severity: 'warning',
      path,
      key: true,
      wrong,
      write: 'change the layer above, or remove this',
    });
  const granters = grantersOf(above, lower, mayAdd, drop);
  const judge = judgeOf(above, lower, mayAdd, drop);
  const ledger = ledgerOf(above, lower, mayAdd, drop);
  const firewall = firewallOf(above.firewall, lower.firewall, drop);
  const a2a = a2aOf(above, lower, mayAdd, drop);
  const chats = chatsOf(above, lower, mayAdd, drop);
  return {
    ...(granters === undefined ? {} : { granters }),
    ...(judge === undefined ? {} : { judge }),
    ...(ledger === undefined ? {} : { ledger }),
    ...(firewall === undefined ? {} : { firewall }),
    ...(a2a === undefined ? {} : { a2a }),
    ...(chats === undefined ? {} : { chats }),
  };
}

/** A chat answers in the name of a granter, so one layer says them all. */
function chatsOf(above: Rest, lower: Rest, mayAdd: boolean, drop: Drop): Rest['chats'] {
  const [own, wanted] = [above.chats, lower.chats];
  if (wanted === undefined || (own === undefined && mayAdd)) return own ?? wanted;
  drop(['chats'], 'a layer above decides in which chats requests are answered');
  return own;
}

/** One layer says the whole card: the highest one that has it, or a lower one that may add. */
function a2aOf(above: Rest, lower: Rest, mayAdd: boolean, drop: Drop): Rest['a2a'] {
  const [own, wanted] = [above.a2a, lower.a2a];
  if (wanted === undefined || (own === undefined && mayAdd)) return own ?? wanted;
  drop(['a2a'], own === undefined ? 'a layer above decides whether the host has a card' : 'the layer above has a card: that holds'); // biome-ignore format: one line
  return own;
}

type Drop = (path: Path, wrong: string) => void;

function grantersOf(above: Rest, lower: Rest, mayAdd: boolean, drop: Drop): Rest['granters'] {
  const [own, wanted] = [above.granters, lower.granters];
  if (wanted === undefined || (own === undefined && mayAdd)) return own ?? wanted;
  const left = wanted.filter((name) => own?.includes(name));
  if (left.length < wanted.length) drop(['granters'], 'a layer below names no new granters: they are dropped');
  return left.length === 0 ? own : left;
}

function judgeOf(above: Rest, lower: Rest, mayAdd: boolean, drop: Drop): Rest['judge'] {
  const [own, wanted] = [above.judge, lower.judge];
  if (wanted === undefined || (own === undefined && mayAdd)) return own ?? wanted;
  const may = wanted.may.filter((one) => own?.may.includes(one));
  const isOther =
    (wanted.model !== undefined && wanted.model !== own?.model) ||
    (wanted.asks !== undefined && JSON.stringify(wanted.asks) !== JSON.stringify(own?.asks));
  if (may.length < wanted.may.length || isOther)
    drop(['judge'], 'the layer above gives the judge less, or another model: that holds');
  return own === undefined ? undefined : { ...own, may };
}

/** A firewall only makes stricter, so any layer may add one, and none takes from that of a layer above. */
function firewallOf(own: Rest['firewall'], wanted: Rest['firewall'], drop: Drop): Rest['firewall'] {
  if (own === undefined || wanted === undefined) return own ?? wanted;
  if (own.mode === 'enforce' && wanted.mode === 'observe')
    drop(['firewall', 'mode'], 'the layer above enforces: that holds');
  const names = new Set((own.hooks ?? []).map(({ name }) => name));
  const more = (wanted.hooks ?? []).filter(({ name }) => !names.has(name));
  if (more.length < (wanted.hooks ?? []).length)
    drop(['firewall', 'hooks'], 'the layer above has a hook of that name: that one holds');
  const hooks = [...(own.hooks ?? []), ...more];
  const mode = own.mode === 'enforce' ? own.mode : wanted.mode;
  // A review lets go on what would wait, so only the layer above says it, and the layer below takes caps out.
  const review = (own.review ?? []).filter((cap) => wanted.review === undefined || wanted.review.includes(cap));
  if ((wanted.review ?? []).some((cap) => !(own.review ?? []).includes(cap)))
    drop(['firewall', 'review'], 'the layer above says which changes are only looked at afterwards: that holds');
  const guardrails = narrowedGuardrails(own.guardrails, wanted.guardrails, (name) =>
    drop(['firewall', 'guardrails', name], 'the layer above warns or stops earlier: that holds'),
  );
  return {
    mode,
    ...(hooks.length === 0 ? {} : { hooks }),
    ...(review.length === 0 ? {} : { review }),
    ...plannedGuardrails(guardrails),
  };
}

function ledgerOf(above: Rest, lower: Rest, mayAdd: boolean, drop: Drop): Rest['ledger'] {
  const [own = {}, wanted] = [above.ledger, lower.ledger];
  if (wanted === undefined) return above.ledger;
  const path = own.path ?? (mayAdd ? wanted.path : undefined);
  if (wanted.path !== undefined && wanted.path !== path)
    drop(['ledger', 'path'], 'the layer above decides where the ledger is');
  const keepMs =
    own.keepMs === undefined ? (mayAdd ? wanted.keepMs : undefined) : Math.max(own.keepMs, wanted.keepMs ?? 0);
  if (wanted.keepMs !== undefined && wanted.keepMs !== keepMs)
    drop(['ledger', 'keep'], 'the layer above keeps the ledger longer, or decides it alone');
  const redact = own.redact ?? wanted.redact;
  return {
    ...(path === undefined ? {} : { path }),
    ...(keepMs === undefined ? {} : { keepMs }),
    ...(redact === undefined ? {} : { redact }),
  };
}

/** Words about risk have no effect without a firewall in some layer. */
export const idleLevels = ({ session = {} }: Manifest): readonly Finding[] =>
  (['caps', 'ask'] as const).flatMap((part) =>
    Object.entries(session[part] ?? {}).flatMap(([name, cap]) =>
      (['level', 'sensitivity'] as const)
        .filter((key) => cap[key] !== undefined)
        .map((key) => ({
          severity: 'warning' as const,
          path: ['session', part, name, key],
          key: true,
          wrong: `${key} has no effect: no layer has a firewall`,
          write: 'write firewall: {mode: enforce}, or remove it',
        })),
    ),
  );

/** All verbs of `hob`, in the order in which the help lists them. A verb has a file of its own in `verbs/`. */
import type { Verb } from './line/verb.ts';
import { accept } from './verbs/granter/accept.ts';
import { confirm } from './verbs/granter/confirm.ts';
import { end } from './verbs/granter/end.ts';
import { give } from './verbs/granter/give.ts';
import { grant } from './verbs/granter/grant.ts';
import { inbox } from './verbs/granter/inbox.ts';
import { ledger } from './verbs/granter/ledger.ts';
import { ledgerExport } from './verbs/granter/ledger-export.ts';
import { ledgerRetain } from './verbs/granter/ledger-retain.ts';
import { ledgerVerify } from './verbs/granter/ledger-verify.ts';
import { list } from './verbs/granter/list.ts';
import { name } from './verbs/granter/name.ts';
import { narrow } from './verbs/granter/narrow.ts';
import { refuse } from './verbs/granter/refuse.ts';
import { renew } from './verbs/granter/renew.ts';
import { revoke } from './verbs/granter/revoke.ts';
import { sessions } from './verbs/granter/sessions.ts';
import { sturdyrefList, sturdyrefMint, sturdyrefRotate } from './verbs/granter/sturdyref.ts';
import { wishes } from './verbs/granter/wishes.ts';
import { backup } from './verbs/host/backup.ts';
import { doctor } from './verbs/host/doctor.ts';
import { mcp } from './verbs/host/mcp.ts';
import { recipe } from './verbs/host/recipe.ts';
import { restore } from './verbs/host/restore.ts';
import { serve } from './verbs/host/serve.ts';
import { start } from './verbs/host/start.ts';
import { status } from './verbs/host/status.ts';
import { stop } from './verbs/host/stop.ts';
import { unit } from './verbs/host/unit.ts';
import { importVerb } from './verbs/import.ts';
import { check } from './verbs/manifest/check.ts';
import { completionOf } from './verbs/manifest/completion.ts';
import { explain } from './verbs/manifest/explain.ts';
import { init } from './verbs/manifest/init.ts';
import { suggest } from './verbs/manifest/suggest.ts';
import { secretList } from './verbs/secrets/list.ts';
import { secretRemove } from './verbs/secrets/remove.ts';
import { secretRotate } from './verbs/secrets/rotate.ts';
import { secretSet } from './verbs/secrets/set.ts';
import { version } from './verbs/version.ts';

const host: readonly Verb[] = [serve, start, mcp, recipe, status, stop];
const granter: readonly Verb[] = [
  inbox,
  grant,
  refuse,
  list,
  revoke,
  narrow,
  renew,
  give,
  name,
  sessions,
  end,
  confirm,
  wishes,
  accept,
];
const sturdyref: readonly Verb[] = [sturdyrefMint, sturdyrefList, sturdyrefRotate];
const record: readonly Verb[] = [ledger, ledgerVerify, ledgerExport, ledgerRetain];
const manifest: readonly Verb[] = [init, check, explain, suggest, importVerb];
const secrets: readonly Verb[] = [secretSet, secretList, secretRemove, secretRotate];
const state: readonly Verb[] = [doctor, unit, backup, restore, completionOf(() => verbs), version];

/** All verbs of the command, for `--help` and completion. */
export const verbs: readonly Verb[] = [...host, ...granter, ...sturdyref, ...record, ...manifest, ...secrets, ...state];

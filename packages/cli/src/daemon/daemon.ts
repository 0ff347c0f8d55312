/** The object that `hob serve` offers over the granter's socket, beside the granter itself. */
import { type Granter, type Host, type KeptTexts, type ToolHost, toolHostOf } from '@hob/host';
import type { LayerName } from '@hob/manifest';
import { CapError, E, type Far } from '@hob/vat';
import { shortId } from '../line/ids.ts';
import type { StoreNow } from '../line/store-lines.ts';
import { OWNER } from '../plan/names.ts';
import type { OpenedSession } from '../plan/sessions.ts';
import { type Box, boxOf } from './box.ts';
import type { SecretStore, StoreChange } from './custody.ts';
import type { GranterRow, ServedGranters } from './served-granters.ts';

/** A session that was opened for an agent. */
export interface OpenedEntry {
  readonly id: string;
  readonly secret: string;
  readonly url: string;
  readonly children: Readonly<Record<string, { readonly id: string; readonly secret: string }>>;
  /** Warnings, such as a wish that could not be made. */
  readonly said: readonly string[];
  /** Runs the agent's program in a box. It is a reference, so it is no part of a text. */
  readonly box: Far<Box>;
}

/** A manifest of a lower layer, for one session. `folder` is absolute: relative roots begin there. */
export interface LayerText {
  readonly layer: LayerName;
  readonly file: string;
  readonly folder: string;
  readonly text: string;
}

/** A wish list, for a person. */
export interface WishRow {
  /** `ROOT/hob.yaml`. */
  readonly name: string;
  /** SHA-256 of the file, as `sha256sum` prints it. Undefined if it cannot be read. */
  readonly hash?: string;
  readonly state: 'waits' | 'accepted' | 'mistaken';
  readonly asks: readonly { readonly cap: string; readonly does: string; readonly when: string; readonly weakest: string }[]; // biome-ignore format: one line
  readonly mistakes: readonly string[];
}

/** The manifest and the address that a host serves. */
export interface DaemonStatus {
  readonly pid: number;
  readonly manifest: string;
  /** The files that were compiled, highest first. */
  readonly layers: readonly { readonly layer: LayerName; readonly file: string }[];
  readonly mode: string;
  /** The mode of the firewall. Undefined if there is none. */
  readonly firewall?: 'observe' | 'enforce';
  /** The caps of the plan, by name, and how a session gets each. */
  readonly caps: Readonly<Record<string, 'mint' | 'ask'>>;
  readonly url: string;
  /** In ms since 1970. */
  readonly since: number;
  /** Which hosts use the store. Undefined if it is in a folder. */
  readonly store?: StoreNow;
}

/** An object of `hob start`, which runs the agent's program. */
export interface Starter {
  /** Is fulfilled when the program has ended. It rejects when `hob start` was killed. */
  ended(): Promise<void>;
}

/** The daemon, as `hob` reaches it. */
export interface Daemon {
  /**
   * Opens a session of the manifest. If the starter is lost before anybody entered the session, it ends. `layers` can
   * only make it narrower. Errors: those of a host, `invalid` (a layer has mistakes).
   */
  open(name: string, starter: Starter, layers?: readonly LayerText[]): Promise<OpenedEntry>;
  /** The names of the open sessions, whoever their granters are. */
  names(): Promise<readonly string[]>;
  /** How many drafts of a session nobody has answered. */
  drafts(session: string): Promise<number>;
  /** Ends a session whose agent has ended. Errors: `no-such-object`. */
  end(session: string): Promise<void>;
  granters(): Promise<readonly GranterRow[]>;
  /** A new secret for a granter of the manifest. The one before it ends. Errors: `invalid`. */
  granterSecret(name: string): Promise<string>;
  status(): Promise<DaemonStatus>;
  /** The numbers of the host, as OpenMetrics text. */
  metrics(): Promise<string>;
  /** The wish lists of the roots, as they are now. */
  wishes(): Promise<readonly WishRow[]>;
  /** The manifests as they were read, and the offers that their caps lead to. */
  served(): Promise<Served>;
  /**
   * Writes a copy of the state beside the socket, and returns its name. It is consistent, and the host works on
   * meanwhile. The next copy replaces it. Errors: `unavailable`.
   */
  backup(): Promise<string>;
  /**
   * A link to the console, with a code that enters once as the owner, within two minutes. Errors: those of
   * `Host.entryCode`.
   */
  console(): Promise<string>;
  /** The real paths of the directories that sessions may hold, by petname. */
  places(): Promise<Readonly<Record<string, string>>>;
  /** The granter `editor`, whose requests an editor shows. Undefined if the manifest does not name it. */
  editor(): Promise<Far<Granter> | undefined>;
  /** The secrets of the state, sealed. */
  secrets(): Promise<KeptTexts>;
  /** Errors: those of `Host.kept`. */
  changeSecrets(change: StoreChange): Promise<KeptTexts>;
  /**
   * For a program that brings its own tools. Errors: `denied` (the user of the socket is no granter of the manifest).
   */
  tools(): Promise<ToolHost>;
}

/** The manifest and the offers that `hob suggest` compares with the ledger. */
export interface Served {
  readonly files: readonly { readonly file: string; readonly text: string }[];
  /** By the name of the cap. Caps of scratch folders are not here: each session has its own. */
  readonly offers: Readonly<Record<string, string>>;
}

/** The parts of a daemon. */
interface DaemonParts {
  readonly open: (
    name: string,
    layers: readonly LayerText[],
  ) => Promise<OpenedSession & { readonly said: readonly string[] }>;
  readonly wishes: () => Promise<readonly WishRow[]>;
  readonly served: () => Promise<Served>;
  readonly host: Pick<Host, 'session' | 'sessions' | 'ensureSession' | 'offer'>;
  readonly granters: ServedGranters;
  readonly status: DaemonStatus;
  readonly hosts: () => Promise<StoreNow | undefined>;
  readonly metrics: () => Promise<string>;
  readonly backup: () => Promise<string>;
  readonly console: () => Promise<string>;
  readonly places: () => Readonly<Record<string, string>>;
  readonly secrets: SecretStore;
  /** The folder of the runs of agent hosts, in the state. */
  readonly agents: string;
  /** Aborted when the host ends. */
  readonly end: AbortSignal;
  /** Writes a line of the log. */
  readonly log: (line: string) => void;
}

/** The object behind it. */
export function daemonOf(parts: DaemonParts): Daemon {
  const { host, granters, status, log } = parts;
  return {
    async open(name, starter, layers = []) {
      const opened = await parts.open(name, layers);
      const { session, children, said } = opened;
      const label = shortId('S', session.id);
      log(`session ${label} is open`);
      session.ended.then(
        () => log(`session ${label} has ended`),
        () => {},
      );
      const box = boxOf({ ...parts, opened });
      const lost = async (): Promise<void> => {
        if (await box.kill()) {
          log(`session ${label} has lost its hob start, and its box ends`);
          return await session.end('hob start ended before the program in its box');
        }
        const how = await session.endUnlessEntered('hob start ended before its agent entered');
        if (how === 'ends') log(`session ${label} has lost its hob start, and nobody had entered it: it ends`);
        if (how === 'entered') log(`session ${label} has lost its hob start: its agent goes on`);
      };
      E(starter as unknown as Far<Starter>)
        .ended()
        .then(undefined, lost)
        // The host is ending, or its disk failed. The next serve ends the session.
        .catch(() => {});
      const { id, secret } = session;
      return { id, secret, url: status.url, children: entriesOf(children), said, box: box.reference };
    },
    names: async () => (await host.sessions()).map(({ name }) => name),
    drafts: (session) => granters.drafts(session),
    end: async (session) => await (await host.session(session)).end('its agent ended'),
    granters: async () => granters.rows(),
    async granterSecret(name) {
      const secret = await granters.secret(name);
      log(`the granter ${name} has a new secret`);
      return secret;
    },
    async status() {
      const store = await parts.hosts();
      return store === undefined ? status : { ...status, store };
    },
    metrics: () => parts.metrics(),
    wishes: async () => await parts.wishes(),
    served: async () => await parts.served(),
    async backup() {
      const name = await parts.backup();
      log('a copy of the state was written for a backup');
      return name;
    },
    async console() {
      if (granters.owner === undefined)
        throw new CapError(
          'denied',
          'the user of this socket is no granter of the manifest, and would see nothing: a granter opens the page with hob console --url and a secret',
        );
      log('a link to the console was made');
      return await parts.console();
    },
    places: async () => parts.places(),
    editor: async () => granters.editor,
    secrets: () => parts.secrets.read(),
    changeSecrets: (change) => parts.secrets.change(change),
    async tools() {
      if (granters.owner === undefined)
        throw new CapError(
          'denied',
          'the user of this socket is no granter of the manifest: list owner among its granters',
        );
      return toolHostOf({ host, granter: OWNER, url: status.url });
    },
  };
}

const entriesOf = (children: OpenedSession['children']): OpenedEntry['children'] =>
  Object.fromEntries(Object.entries(children).map(([name, { id, secret }]) => [name, { id, secret }]));

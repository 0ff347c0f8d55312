/**
 * The entry points of the packages: what each exports, and that every name says what it is.
 *
 * The lists below are the rule. A new name goes into the face of those who need it: `@hob/vat` is for writers of
 * actors, and stays small.
 */
import { expect, test } from 'vitest';
import { exportsOf } from './exported.ts';
import { filesIn, packages, read } from './sources.ts';

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** Programs outside Hob import these from `@hob/vat`. They stay there, also where another face has them too. */
const PUBLIC = words(`
  Become Portrait Behaviour Bcom Definition AnyDefinition DefineOptions define defineProcedure
  Far Faraway Ref Sent Eventual Outcome E promise
  spawn attempt Table table
  Clock VatsOptions TurnRecord Meter Vat Vats openVats DriverCall DriverOptions driver driverOf
  Store openStore backup LedgerVerdict verifyLedger exportLedger
  Dialect Duplex fromWebSocket fromChild memoryPair CapTPLimits CapTPStats Connection CapTPOptions captp connect
  ByteSource ByteSink iterate release
  CapError`);

/** Other names that a writer of actors needs, and nobody lower down exports. */
const ACTORS_NEED = words(`
  LifecycleCode VatCode isReference handOver
  vatTime wallTime wakeAt cancelWake ledgerLine onSever Severed
  systemClock systemRandom trace Answers`);

/** The other faces of `@hob/vat`. */
const FACES: Readonly<Record<string, readonly string[]>> = {
  './actors': words(`
    Cell makeCell ReadOnlyCell readOnly WriteOnlyCell writeOnly Facet facet Inbox InboxReader InboxStopper InboxWriter
    makeInbox allOf race GHash makeGHash makeSeteq Seteq makePushdown PdForwarder PdStack
    Enchanted enchant Incanter makeWardingPair Warden ward actorDefinitions cellDefinitions collectionDefinitions
    facetDefinitions inboxDefinitions mintDefinitions nonceRegistryDefinitions pubSubDefinitions pushdownDefinitions
    queueDefinitions sealersDefinitions swappableDefinitions tickerDefinitions wardDefinitions Mint makeMint Purse Taker makeNonceRegistry makeRandomSource NonceLocator
    NonceRegistry RandomSource callOrSend isNear makePubSub PubSub Subscriber makeQueue Queue BrandCheck IsSealed
    makeSealers Seal Sealed SealedBox Sealer SealerTriplet Unseal Unsealer makeSwappable SwappableProxy Swapper
    makeTicker Tickable Ticker makeTimer Timer`),
  './wire': words(`
    CapTPOptions Connected Connection captp Dialect dialects release WireFault connect closeCodes Duplex CapTPLimits
    checkJson defaultLimits CapTPStats BrowserSocket fromBrowserSocket fromChild PipeChannel pipeChannel fromWebSocket
    largestFrame chargeConnection ByteSink ByteSource iterate`),
  './store': words(`
    CallEnds exportLedger heldFile holdElsewhere isStoreHeld draftOf processMark removeDrafts removeLeft checkpointsIn ledgerArguments redactLedger Retained retainLedger LedgerVerdict VerifyOptions
    verifyLedger restoreStore backup lookAtStore openStore Store`),
  './engine': words(`
    bootClock newKey Signer signerFrom lineHash CommitOutcome Disk OpenedStore Query Write Reached Sentinel StorePlace sentinelOf
    serveThread startThread Thread History Marks OpeningMarks seenOf packed unpacked Args Head LedgerLine StoredArgs StoredLine
    Doubt Era StoreFacts storeOn diskIn`),
  './forwarder': words(`
    ephemeral breakAnswer foresee frozenCopy frozenData tellAnyway actorBehind argumentsOf became becomes endOf lastingName Group forwardsTo hasMethods
    symbolKey Passing passOn farOf cut drivenBy lastsUnder named objectOf shownMethods bootId byMessage currentCauses sha256 canonicalText freshName inTurn
    OptionNames takeOptions takeRecord Effect Effects effectsOf withEffects Place placeOf refusalOf withPlace hasPassed storeEra suspended under Watch watch base32 hashSecret newSecret onlyVats vatOf vatsOf`),
  './testing': words('Faults development memoryPair TestClock testClock'),
  './lockdown': [],
  './errors': words('CapError'),
};

/** A selection of the main face and of `wire` that also runs in a browser. */
const PEER = words(`
  PeerOptions Connected captp Duplex BrowserSocket fromBrowserSocket fromChild CapError isReference Far E driver
  driverOf`);

/** A program that another process starts, and no module to import. */
const PROGRAMS = ['@hob/guest/child'];

const entriesOf = (folder: string): readonly (readonly [face: string, file: string])[] => {
  const manifest = `packages/${folder}/package.json`;
  if (!filesIn(`packages/${folder}`).includes(manifest)) return [];
  const { name, exports } = JSON.parse(read(manifest).text) as { name: string; exports: Record<string, string> };
  return Object.entries(exports)
    .filter(([face]) => !PROGRAMS.includes(name + face.slice(1)))
    .map(([face, file]) => [face, `packages/${folder}/${file.slice('./'.length)}`]);
};
const sorted = (names: Iterable<string>): string[] => [...names].sort();
const face = (name: string): string[] => {
  const [, file] = entriesOf('vat').find(([at]) => at === name) ?? [];
  return sorted(exportsOf(file as string).keys());
};

test('the main face has the public names, what actors need, and nothing else', () => {
  expect(face('.')).toEqual(sorted([...PUBLIC, ...ACTORS_NEED]));
});

test('the other faces are these, and export these names', () => {
  expect(sorted(entriesOf('vat').map(([at]) => at))).toEqual(sorted(['.', './peer', ...Object.keys(FACES)]));
  for (const [at, names] of Object.entries(FACES)) expect(face(at), at).toEqual(sorted(names));
  expect(face('./peer')).toEqual(sorted(PEER));
});

test('a name has one face; a public name stands in the main one and in at most one more; a peer has only such names', () => {
  const names = [...ACTORS_NEED, ...Object.values(FACES).flat()];
  const twice = names.filter((name, at) => names.indexOf(name) !== at);
  // A wire in memory is public, and is for tests.
  expect(twice).toEqual([]);
  for (const name of PEER)
    expect([...PUBLIC, 'PeerOptions', ...ACTORS_NEED, ...(FACES['./wire'] ?? [])], name).toContain(name);
});

for (const folder of packages)
  test(`${folder}: every exported name has a docstring`, () => {
    const silent = entriesOf(folder).flatMap(([, file]) =>
      [...exportsOf(file).values()]
        .filter(({ docs }) => !docs.some((doc) => doc.length >= 12))
        .map((exported) => `${exported.file}: ${exported.name}`),
    );
    expect(sorted(new Set(silent))).toEqual([]);
  });

test('the reader of exports finds each declaration and its docstring, and throws for a form that it does not know', () => {
  const files: Record<string, string> = {
    'a/index.ts': `export { one, type Two as Deux } from './b.ts';\nexport * from './c.ts';`,
    'a/b.ts': `import { three } from './c.ts';
      /** Counts from one. */
      export const one: number = 1;
      // Not a docstring.
      export interface Two { readonly text: '/** no */ export const four = 4;' }
      export { three as trois };`,
    'a/c.ts': `/** The file. */\nimport './b.ts';\nexport async function three(): Promise<void> {}\n/** Makes five. */\nclass Five {}\nexport { Five };`,
    'a/default.ts': 'export default 1;',
    'a/destructured.ts': 'export const { x } = y;',
    'a/gone.ts': "export { nothing } from './c.ts';",
    'a/elsewhere.ts': "export { far } from 'elsewhere';",
  };
  const seen = (file: string): string[] =>
    [...exportsOf(file, (name) => files[name] ?? '').values()].map(
      ({ name, file: at, docs }) => `${name} of ${at}${docs.length > 0 ? `: ${docs.join()}` : ''}`,
    );
  expect(seen('a/index.ts')).toEqual([
    'one of a/b.ts: Counts from one.',
    'Deux of a/b.ts',
    'Five of a/c.ts: Makes five.',
    'three of a/c.ts',
  ]);
  expect(seen('a/b.ts')).toContain('trois of a/c.ts');
  expect(() => seen('a/default.ts')).toThrow(/form that is not understood/);
  expect(() => seen('a/destructured.ts')).toThrow(/form that is not understood/);
  expect(() => seen('a/gone.ts')).toThrow(/which a\/c.ts does not export/);
  expect(() => seen('a/elsewhere.ts')).toThrow(/another project/);
});

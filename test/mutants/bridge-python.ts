/** The mechanisms of the Python package, each with the source text that leaves it out: see `mutant.ts`. */
import type { Mutant } from './mutant.ts';

const source = (file: string): string => `packages/bridge-python/src/hob/${file}`;
const test = (file: string): string => `packages/bridge-python/tests/${file}`;

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'py-embargo',
    breaks: 'the Python package without: embargo',
    file: source('captp/waiting.py'),
    find: 'return not (isinstance(target, Remote) and target.exit is self._exit)',
    replace: 'return False',
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-flush',
    breaks: 'the Python package without: flush',
    file: source('captp/flush.py'),
    find: 'return target.post(Message(FLUSH, [], answer))',
    replace: 'return answer.fulfil(undefined)',
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-mentions',
    breaks: 'the Python package without: mentions',
    file: source('captp/exports.py'),
    find: 'if known.mentions > 0:',
    replace: 'if False:',
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-drop',
    breaks: 'the Python package without: drop',
    file: source('captp/speech.py'),
    find: 'self._drops += (number, mentions)',
    replace: 'pass',
    tests: [test('test_peer.py')],
  },
  {
    name: 'py-told-again',
    breaks: 'the Python package without: told again',
    file: source('captp/giving.py'),
    find: 'elif known.told and isinstance(known.value, Vow):',
    replace: 'elif False:',
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-tokens',
    breaks: 'the Python package without: tokens',
    file: source('captp/structure.py'),
    find: 'if tokens > limits.tokens:',
    replace: 'if tokens > limits.tokens * 99:',
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-nesting',
    breaks: 'the Python package without: nesting',
    file: source('captp/structure.py'),
    find: 'if level > deepest:',
    replace: 'if False:',
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-frame-size',
    breaks: 'the Python package without: frame size',
    file: source('captp/structure.py'),
    find: 'if len(text) > limits.frame_bytes or (',
    replace: 'if False and (',
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-rising-questions',
    breaks: 'the Python package without: rising questions',
    file: source('captp/answer_table.py'),
    find: 'if number <= self._last_heard:',
    replace: 'if False:',
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-memory',
    breaks: 'the Python package without: memory',
    file: source('captp/line.py'),
    find: `> self.limits.memory_bytes:
            self.close`,
    replace: `> 1 << 60:
            self.close`,
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-room',
    breaks: 'the Python package without: room',
    file: source('captp/values.py'),
    find: 'if self._left < 0:',
    replace: 'if False:',
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-own-methods',
    breaks: 'the Python package without: own methods',
    file: source('far.py'),
    find: 'if base is Far or not issubclass(base, Far) or',
    replace: 'if base is Far or base is object or',
    tests: [test('test_peer.py')],
  },
  {
    name: 'py-underscore',
    breaks: 'the Python package without: underscore',
    file: source('far.py'),
    find: `if name.startswith("_"):
                    continue`,
    replace: 'pass',
    tests: [test('test_peer.py')],
  },
  {
    name: 'py-text-of-errors',
    breaks: 'the Python package without: text of errors',
    file: source('captp/values.py'),
    find: `if isinstance(error, CapError) and CODE.match(error.code):
        return error.code, error.message[:LONGEST]`,
    replace: `if True:
        return getattr(error, 'code', 'error'), str(error)`,
    tests: [test('test_peer.py')],
  },
  {
    name: 'py-disconnected',
    breaks: 'the Python package without: disconnected',
    file: source('captp/waiting.py'),
    find: 'question.answer.break_(why)',
    replace: 'pass',
    tests: [test('test_peer.py')],
  },
  {
    name: 'py-thread',
    breaks: 'the Python package without: thread',
    file: source('captp/connection.py'),
    find: 'if threading.get_ident() != self._thread:',
    replace: 'if False:',
    tests: [test('test_peer.py')],
  },
  {
    name: 'py-cancel',
    breaks: 'the Python package without: cancel',
    file: source('captp/answer_table.py'),
    find: 'answer.running.cancel()',
    replace: 'pass',
    tests: [test('test_peer.py')],
  },
  {
    name: 'py-bytes-once',
    breaks: 'the Python package without: bytes once',
    file: source('captp/values.py'),
    find: 'if not self._claim(from_, n):',
    replace: 'if False:',
    tests: [test('test_wire.py')],
  },
  {
    name: 'py-cycle',
    breaks: 'the Python package without: cycle',
    file: source('vow.py'),
    find: 'if end.waits_for(self):',
    replace: 'if end is self:',
    tests: [test('test_rings.py')],
  },
  {
    name: 'py-told-at-once',
    breaks: 'the Python package without: told at once',
    file: source('captp/giving.py'),
    find: 'if not again or vow.path is not None:',
    replace: 'if False:',
    tests: [test('test_rings.py')],
  },
  {
    name: 'py-told-once',
    breaks: 'the Python package without: told once',
    file: source('captp/giving.py'),
    find: `known is None or known.told or self._line.closed is not None:
            return
        known.told`,
    replace: `known is None or self._line.closed is not None:
            return
        known.told`,
    tests: [test('test_rings.py')],
  },
  {
    name: 'py-new-keys',
    breaks: 'the Python package without: new keys',
    file: source('captp/structure.py'),
    find: 'len(set(named[FREE_KEYS:])) * NEW_KEY',
    replace: '0',
    tests: [test('test_limits.py')],
  },
  {
    name: 'py-keys-said',
    breaks: 'the Python package without: keys said',
    file: source('captp/speech.py'),
    find: 'not has_room(text, limits)',
    replace: 'False',
    tests: [test('test_limits.py')],
  },
  {
    name: 'py-promises-of-a-frame',
    breaks: 'the Python package without: promises of a frame',
    file: source('captp/imports.py'),
    find: 'if self._brought > PROMISES:',
    replace: 'if False:',
    tests: [test('test_limits.py')],
  },
  {
    name: 'py-copies-of-a-frame',
    breaks: 'the Python package without: copies of a frame',
    file: source('captp/answer_table.py'),
    find: 'if self._copies >',
    replace: 'if False and self._copies >',
    tests: [test('test_limits.py')],
  },
  {
    name: 'py-portions',
    breaks: 'the Python package without: portions',
    file: source('captp/waiting.py'),
    find: 'AT_ONCE: Final = 4096',
    replace: 'AT_ONCE: Final = 1 << 30',
    tests: [test('test_limits.py')],
  },
  {
    name: 'py-asks-nothing',
    breaks: 'the Python package without: asks nothing',
    file: source('captp/connection.py'),
    find: 'type(answer) is PeersQuestion and answer.number == 0',
    replace: 'False',
    tests: [test('test_limits.py')],
  },
  {
    name: 'py-full-frame',
    breaks: 'the Python package without: full frame',
    file: source('captp/speech.py'),
    find: 'if self._length > 0 and self._length + len(text) > FULL:',
    replace: 'if False:',
    tests: [test('test_limits.py')],
  },
  {
    name: 'py-reader-gone',
    breaks: 'the Python package without: reader gone',
    file: source('captp/readers.py'),
    find: 'target.post(Message("return", [], None))',
    replace: 'pass',
    tests: [test('test_readers.py')],
  },
  {
    name: 'py-an-editor-without-the-plugin',
    breaks: 'the Python package without: an editor without the plugin',
    file: source('hermes/editor.py'),
    find: '    if missing is not None:',
    replace: '    if False:',
    tests: [test('test_hermes_acp.py')],
  },
  {
    name: 'py-a-child-with-nothing',
    breaks: 'the Python package without: a child with nothing',
    file: source('hermes/sessions.py'),
    find: 'f"child-{_plain(id)}", {})',
    replace: 'f"child-{_plain(id)}", {each: each for each in await above.session.caps()})',
    tests: [test('test_hermes_sessions.py')],
  },
  {
    name: 'py-exact-petname',
    breaks: 'the Python package without: exact petname',
    file: source('tools.py'),
    find: `if petname not in self._held:
                return`,
    replace: `if False:
                return`,
    tests: [test('test_tools.py')],
  },
  {
    name: 'py-far-apart',
    breaks: 'the Python package without: far apart',
    file: source('tools.py'),
    find: `CUTOFF: Final = 0.7
`,
    replace: `CUTOFF: Final = 0.7
lru_cache = lambda _: lambda __: lambda a, b: a == b
`,
    tests: [test('test_tools.py')],
  },
  {
    name: 'py-shim-own-environment',
    breaks: 'the shim of Hermes without: own environment',
    file: source('hermes_shim/world.py'),
    find: `    os.environ.clear()
`,
    replace: '',
    tests: [test('test_shim_lines.py')],
  },
  {
    name: 'py-shim-own-path',
    breaks: 'the shim of Hermes without: own path',
    file: source('hermes_shim/world.py'),
    find: `    sys.path[:] = [entry for entry in sys.path if entry not in ("", os.getcwd())]
`,
    replace: '',
    tests: [test('test_shim_lines.py')],
  },
  {
    name: 'py-shim-no-connection',
    breaks: 'the shim of Hermes without: no connection',
    file: source('hermes_shim/world.py'),
    find: `    sys.addaudithook(_no_network)
`,
    replace: '',
    tests: [test('test_shim_lines.py')],
  },
  {
    name: 'py-shim-own-streams',
    breaks: 'the shim of Hermes without: own streams',
    file: source('hermes_shim/__main__.py'),
    find: `    os.dup2(nothing, 0)
`,
    replace: '',
    tests: [test('test_shim_lines.py')],
  },
  {
    name: 'py-shim-fresh-modules',
    breaks: 'the shim of Hermes without: fresh modules',
    file: source('hermes_shim/serve.py'),
    find: `    worlds.anew()
`,
    replace: '',
    tests: [test('test_shim_guards.py')],
  },
  {
    name: 'py-shim-configuration-back',
    breaks: 'the shim of Hermes without: configuration back',
    file: source('hermes_shim/serve.py'),
    find: `            _write(self.world, before)
`,
    replace: `            pass
`,
    tests: [test('test_shim_guards.py')],
  },
  {
    name: 'py-shim-time-limit',
    breaks: 'the shim of Hermes without: time limit',
    file: source('hermes_shim/serve.py'),
    find: `            signal.setitimer(signal.ITIMER_REAL, seconds)
`,
    replace: '',
    tests: [test('test_shim_lines.py')],
  },
  {
    name: 'py-shim-no-tools-beyond',
    breaks: 'the shim of Hermes without: no tools beyond',
    file: source('hermes_shim/tools.py'),
    find: '    if name not in EXECUTED:',
    replace: '    if False:',
    tests: [test('test_shim_tools.py')],
  },
  {
    name: 'py-shim-scripted-guardian',
    breaks: 'the shim of Hermes without: scripted guardian',
    file: source('hermes_shim/guards.py'),
    find: `    sys.modules["agent.auxiliary_client"] = stub
`,
    replace: '',
    tests: [test('test_shim_guards.py')],
  },
];

/** The tests leave the home of the person who runs them as it was. */
import { expect, test } from 'vitest';
import { filesIn, read } from './sources.ts';

/** Starts of the daemon that are not by `Program`, which names a folder for the sentinel itself, in a text. */
const starts = (text: string): readonly string[] =>
  [...text.matchAll(/(?:'|\/)main\.ts'\)?,\s*'(?:workspace|serve)'/g)].map(({ index }) =>
    text.slice(index, index + 500),
  );

const saysWhere = (start: string): boolean => /XDG_STATE_HOME|--sentinel/.test(start);

test('a test that starts the daemon says where its sentinel is kept', () => {
  // Only the verb serve of hob starts the daemon.
  const isHobWithoutServe = (file: string): boolean =>
    file.startsWith('packages/cli/') && !read(file).text.includes("'serve'");
  const tests = filesIn().filter((file) => /^packages\/.*\.test\.ts$/.test(file) && !isHobWithoutServe(file));
  const faults = tests.flatMap((file) =>
    starts(read(file).text)
      .filter((start) => !saysWhere(start))
      .map((start) => `${file}: ${start.split('\n', 1)[0]}`),
  );
  expect(faults).toEqual([]);
});

test('that checker knows a start without one', () => {
  const path = "[join(here, 'src/main.ts'), 'workspace']";
  expect(starts(`spawn(node, ${path}, { env: { HOME } })`).map(saysWhere)).toEqual([false]);
  expect(starts("spawn(node, ['main.ts', 'workspace'], { env: { XDG_STATE_HOME } })").map(saysWhere)).toEqual([true]);
  expect(starts("new Program('workspace', ['--state', state])")).toEqual([]);
});

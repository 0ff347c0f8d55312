/** The test vector of the mission's seed, names and all, as a stranger would type it in. */
import fs from 'node:fs';
import { CapError } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { backends, lacks } from '../test/backends.ts';
import { scratch, text } from '../test/scratch.ts';
import { openFsCap } from './index.ts';

for (const backend of backends) {
  const lacking = await lacks(backend);
  test(`${backend}: the Hermes-shaped entry point rejects and accepts what the seed says`, async (context) => {
    if (lacking !== undefined) context.skip(lacking);
    await using s = await scratch();
    fs.mkdirSync(s.at('skills/hermes-fs-as-cap'), { recursive: true });
    fs.mkdirSync(s.at('skills/other-skill'));
    fs.mkdirSync(s.at('other-skill'));
    fs.writeFileSync(s.at('skills/hermes-fs-as-cap/SKILL.md'), 'name: hermes-fs-as-cap');
    for (const other of ['other-skill/SKILL.md', 'skills/other-skill/SKILL.md']) fs.writeFileSync(s.at(other), 'other');
    fs.symlinkSync(s.outside('secret'), s.at('symlink-to-outside'));
    const root = await openFsCap(s.at('.'), { backend });
    onTestFinished(() => root.close());

    const rejected = async (answer: Promise<unknown>, message: string): Promise<void> => {
      const error = await answer.then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(CapError);
      expect((error as CapError).message).toBe(message);
    };
    // # Hermes-shaped entrypoint must reject:
    await rejected(root.read('../../../etc/passwd'), 'path escapes');
    await rejected(root.read('/etc/passwd'), 'absolute paths forbidden');
    await rejected(root.read('symlink-to-outside'), 'resolved outside root');
    // # And accept:
    const sub = await root.subdir('skills');
    expect(text(await sub.read('hermes-fs-as-cap/SKILL.md'))).toBe('name: hermes-fs-as-cap');
    await rejected(sub.read('../other-skill/SKILL.md'), 'path escapes');

    // The same for each operation of the translation table, and with the file really there.
    expect(fs.existsSync(s.at('other-skill/SKILL.md'))).toBe(true);
    for (const cap of [root, sub]) {
      for (const [path, message] of [
        ['../../../etc/passwd', 'path escapes'],
        ['/etc/passwd', 'absolute paths forbidden'],
      ] as const) {
        await rejected(cap.read(path), message);
        await rejected(cap.write(path, 'x'), message);
        await rejected(cap.list(path), message);
        await rejected(cap.stat(path), message);
        await rejected(cap.subdir(path), message);
      }
    }
    // Subdirectory access returns a new cap, scoped to that subtree; the root’s own reach is not narrowed by
    // it.
    expect(sub).not.toBe(root);
    expect(await sub.list()).toEqual(['hermes-fs-as-cap', 'other-skill']);
    expect(text(await root.read('other-skill/SKILL.md'))).toBe('other');
    // Revocation: the forwarder goes, and with it what was made from it.
    await root.close();
    await expect(sub.read('hermes-fs-as-cap/SKILL.md')).rejects.toMatchObject({ code: 'CLOSED' });
  });
}

// Files with the same bytes: compare by a digest of one's own, in parts, a few at a time.
async function digest(path) {
  const source = E(workspace).openRead(path);
  let a = 1;
  let b = 0;
  for (let part = await E(source).next(); part !== undefined; part = await E(source).next())
    for (const byte of part) {
      a = (a + byte) % 65521;
      b = (b + a) % 65521;
    }
  return `${a}-${b}`;
}
const byDigest = new Map();
const paths = await E(workspace).glob('data/**');
const files = [];
for (const path of paths) if ((await E(workspace).stat(path)).kind === 'file') files.push(path);
for (let at = 0; at < files.length; at += 4) {
  const some = files.slice(at, at + 4);
  const digests = await Promise.all(some.map(digest));
  some.forEach((path, i) => byDigest.set(digests[i], [...(byDigest.get(digests[i]) ?? []), path]));
}
return [...byDigest.values()].filter((same) => same.length > 1);

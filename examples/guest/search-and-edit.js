// Rename a function everywhere, and show what changed.
const from = 'fetch_user';
const to = 'load_user';
const hits = await E(workspace).search({ pattern: `\\b${from}\\b` }, { glob: '**/*.py' });
const paths = [...new Set(hits.map(({ path }) => path))];
let changed = '';
for (const path of paths) {
  const text = await E(workspace).readText(path);
  const { version } = await E(workspace).stat(path);
  // As it was when it was read: nobody's work is overwritten.
  await E(workspace).write(path, text.replaceAll(new RegExp(`\\b${from}\\b`, 'g'), to), { version });
  changed += `${path}: ${hits.filter((hit) => hit.path === path).length}\n`;
}
console.log(changed);
const left = await E(workspace).search(from, { glob: '**/*.py' });
return { paths, left: left.length };

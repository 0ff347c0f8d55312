// How long are the sources? A loop over files, largest first.
const sizes = [];
for (const path of await E(workspace).glob('**/*.py')) {
  const text = await E(workspace).readText(path);
  const lines = text.split('\n').length - 1;
  const code = text.split('\n').filter((line) => line.trim() && !line.trim().startsWith('#')).length;
  sizes.push({ path, lines, code });
}
sizes.sort((a, b) => b.lines - a.lines);
for (const { path, lines } of sizes) console.log(String(lines).padStart(6), path);
return { files: sizes.length, lines: sizes.reduce((sum, { lines }) => sum + lines, 0), largest: sizes[0]?.path };

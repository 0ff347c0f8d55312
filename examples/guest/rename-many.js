// Tidy up names; where one is taken, leave it and say so.
const kept = [];
const renamed = [];
for (const path of await E(workspace).glob('photos/*.{JPG,jpeg}')) {
  const target = path.replace(/\.(JPG|jpeg)$/, '.jpg').toLowerCase();
  try {
    await E(workspace).rename(path, target);
    renamed.push(target);
  } catch (error) {
    if (error.code !== 'EXISTS') throw error;
    kept.push(path);
  }
}
return { renamed: renamed.sort(), kept, all: await E(workspace).list('photos') };

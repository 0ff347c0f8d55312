// What may go wrong does: each refusal has a code, and the program goes on.
const attempts = {
  missing: () => E(workspace).readText('no/such/file.txt'),
  outside: () => E(workspace).readText('../private.txt'),
  absolute: () => E(workspace).readText('/etc/passwd'),
  taken: () => E(workspace).write('README.md', 'mine now', { create: 'new' }),
  unclear: () => E(workspace).edit('README.md', [{ oldText: 'is', newText: 'was' }]),
};
const codes = {};
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    await attempt();
    codes[name] = 'ok';
  } catch (error) {
    codes[name] = error.code;
    console.warn(`${name}: ${error.message}`);
  }
}
return codes;

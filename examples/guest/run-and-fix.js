// Run the check, mend what it complains of, run it again, until it is content or there is no progress.
const check = 'for f in src/*.py; do grep -n "$(printf "\\t")" "$f" /dev/null; done';
for (let round = 1; round <= 5; round += 1) {
  const { stdout } = await E(shell).run(check);
  if (stdout === '') return { clean: true, round };
  for (const path of new Set(stdout.trim().split('\n').map((line) => line.split(':')[0]))) {
    console.log(`round ${round}: ${path}`);
    const text = await E(workspace).readText(path);
    await E(workspace).write(path, text.replaceAll('\t', '    '));
  }
}
throw new Error('there are still tabs after five rounds');

// Several commands at once, and which of them failed.
const commands = ['ls src', 'grep -c def src/app.py', 'test -f missing.txt', 'sort data/names.txt | head -n 1'];
const done = await Promise.all(commands.map((command) => E(shell).run(command, { timeoutMs: 20_000 })));
const failed = commands.filter((_, i) => done[i].status !== 0);
done.forEach(({ status, stdout }, i) => console.log(`$ ${commands[i]}  -> ${status}\n${stdout}`));
return { failed, first: done[3].stdout.trim(), defs: Number(done[1].stdout) };

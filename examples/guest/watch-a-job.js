// Follow a program's output and stop it as soon as it says what was waited for.
const job = E(shell).spawn('for i in 1 2 3; do echo "step $i"; done; echo ready; sleep 600');
const out = E(job).stdout();
const decoder = new TextDecoder();
let text = '';
while (!text.includes('ready')) {
  const part = await E(out).next();
  if (part === undefined) throw new Error(`it ended before it was ready: ${text}`);
  text += decoder.decode(part, { stream: true });
}
await E(job).signal('TERM');
const { ended, status } = await E(job).wait();
return { steps: text.split('\n').filter((line) => line.startsWith('step')).length, ended, status };

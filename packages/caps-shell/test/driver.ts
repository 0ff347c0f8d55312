/** A process of some user that starts jobs for a test: `as.ts` talks to it. */
import { run } from './world.ts';

process.on('message', async ({ id, text, options }: { id: number; text: string; options: object }) => {
  const answer = await run(text, options).then(
    (outcome) => ({ outcome }),
    (error) => ({ code: String(error.code ?? 'error'), message: String(error.message) }),
  );
  process.send?.({ id, ...answer });
});
process.on('disconnect', () => process.exit());
process.send?.({ id: 0 });

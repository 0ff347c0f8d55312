/** `npm start -- --demo [--sabotage=NAME]`: plays the demo. Exits with 0 if each step comes out as expected. */
import { Command } from 'commander';
import { playDemo, sabotages } from './demo.ts';

async function main(): Promise<number> {
  const { demo, sabotage } = new Command('npm start --')
    .description('Plays the demo, and checks each step.')
    .option('--demo', 'plays it')
    .option('--sabotage <name>', `leaves one mechanism of the host out: ${Object.keys(sabotages).join(', ')}`)
    .parse()
    .opts<{ demo?: boolean; sabotage?: string }>();
  if (demo !== true) throw new Error('--sabotage is an option of --demo: give both');
  if (sabotage !== undefined && !Object.hasOwn(sabotages, sabotage))
    throw new Error(`there is no sabotage "${sabotage}": choose one of ${Object.keys(sabotages).join(', ')}`);
  return playDemo(sabotage);
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`hob: ${(error as Error).message.split('\n', 1)[0]}\n`);
    process.exit(1);
  },
);

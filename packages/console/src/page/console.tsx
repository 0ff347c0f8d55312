/** The page: it enters with the code of its address, and shows what its granter may see. */
import { type JSX, render } from 'preact';
import { enter, takeCode } from './drivers/connection.ts';
import { Model } from './model.ts';
import { Frame } from './views/frame.tsx';

const TITLE = 'Hob console';
const NO_CODE = 'This address has no code, or its code was used. Run the command hob console: it prints a new link.';
const LOST = 'The connection to the host has ended, and this page can do nothing more. Run the command hob console for a new link.'; // biome-ignore format: one line

const Ended = ({ why }: { readonly why: string }): JSX.Element => (
  <main class="ended">
    <h1>{TITLE}</h1>
    <p role="alert">{why}</p>
  </main>
);

const root = document.querySelector('#console') as HTMLElement;
const code = takeCode();
if (code === undefined) render(<Ended why={NO_CODE} />, root);
else {
  const { bootstrap, closed } = enter(code);
  const model = new Model(bootstrap);
  closed.then(({ reason }) => model.lost(`${reason === '' ? '' : `${reason}. `}${LOST}`));
  model.start();
  render(<Frame model={model} />, root);
}

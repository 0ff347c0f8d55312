/** A host that holds a store in PostgreSQL until it is told to close, for `postgres.ts`. */
import './lockdown.ts';
import { postgresStore } from '@hob/store-postgres';
import { E, type Far, openVats } from '@hob/vat';
import { Counter, definitions } from './durable-actors.ts';

const [url = '', schema = ''] = process.argv.slice(2);
const store = await postgresStore({ url, schema });
const vats = await openVats({ store, definitions });
await E((await vats.vat('bench').root('counter', () => Counter(0))) as Far<Counter>).next();
process.once('message', async () => {
  await vats.close();
  await store.close();
  process.disconnect();
});
process.send?.('ready');

/** A process of a cluster that serves until it is told to leave, for `cluster.ts`. */
import './lockdown.ts';
import { joinCluster } from './cluster-counters.ts';

const [url = '', name = '', stateDir = ''] = process.argv.slice(2);
const { cluster } = await joinCluster(url, name, stateDir, () => process.send?.('opened'));
process.send?.('joined');
process.once('message', async () => {
  await cluster.close();
  process.disconnect();
});

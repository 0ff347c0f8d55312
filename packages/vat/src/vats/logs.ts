/** The logs of vats: faults and warnings go to the program that opened them. */

import { logFaultsTo, logWarningsTo } from '../core/faults.ts';
import { development } from '../turn/development.ts';
import type { VatsOptions } from './interface.ts';

/** Returns a function that ends it. */
export function openLogs(options: Pick<VatsOptions, 'onFault' | 'onWarning' | 'development'>): () => void {
  const stops: (() => void)[] = [];
  if (options.onFault !== undefined) stops.push(logFaultsTo(options.onFault));
  if (options.onWarning !== undefined) stops.push(logWarningsTo(options.onWarning));
  if (options.development === true) stops.push(development());
  return () => {
    for (const stop of stops) stop();
  };
}

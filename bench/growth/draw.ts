/**
 * Draws the page of plots from the rows of a run: `draw.ts ROWS.jsonl PAGE.svg`.
 *
 *   npm run bench -- growth --json bench/growth/points.jsonl
 *   npm run -s node -- bench/growth/draw.ts bench/growth/points.jsonl docs/img/growth.svg
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Row } from '../measure.ts';
import { pageOf } from './page.ts';

const [from = '', to = ''] = process.argv.slice(2).map((path) => resolve(process.env['INIT_CWD'] ?? '.', path));
const rows = readFileSync(from, 'utf8')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Row);
writeFileSync(to, pageOf(rows));

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Row } from '../measure.ts';
import { pageOf } from './page.ts';

const rows = readFileSync(join(import.meta.dirname, 'points.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row);

test('docs/img/growth.svg is drawn from points.jsonl', () => {
  const kept = readFileSync(join(import.meta.dirname, '../../docs/img/growth.svg'), 'utf8');
  expect(pageOf(rows)).toBe(kept);
});

test('the page has a plot for each row with points, has colours for a dark background, and loads nothing', () => {
  const page = pageOf(rows);
  const plotted = rows.filter(({ points }) => points !== undefined);
  expect(page.match(/<polyline/g)?.length).toBe(plotted.length);
  expect(page).toContain('prefers-color-scheme: dark');
  expect(page.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|<script|<image|@import|url\(/);
});

test('a row that grows worse than allowed is drawn as missed', () => {
  const missed = rows.map((row) => ({ ...row, verdict: 'missed' as const }));
  expect(pageOf(missed)).toContain('<g transform="translate(16 104)" class="missed">');
});

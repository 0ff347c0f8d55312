/**
 * A page of small plots of cost against size, as SVG.
 *
 * Promise: the same rows give the same bytes. The page has colours for a light and a dark background. It loads no font,
 * script or file.
 */
import type { Point, Row } from '../measure.ts';
import { fields, type Operation } from './fields.ts';
import { allowedFor, lastDecade } from './fit.ts';

/** One plot, in the units of the page. */
const plot = { width: 210, height: 128, left: 44, top: 40, right: 10, bottom: 22, gap: 14 } as const;
const columns = 5;
const head = 74;
const label = 30;

const styles = `
  text { font: 11px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 17px; font-weight: 600; }
  .field { font-size: 13px; font-weight: 600; }
  .small { font-size: 9.5px; fill: #57606a; }
  .paper { fill: #ffffff; }
  .frame { fill: none; stroke: #d0d7de; }
  .grid { stroke: #d0d7de; stroke-width: 0.5; }
  .bound { fill: none; stroke: #8c959f; stroke-dasharray: 3 3; }
  .beyond { fill: #8c959f; opacity: 0.13; }
  .cost { fill: none; stroke: #0969da; stroke-width: 1.8; }
  .point { fill: #0969da; }
  .missed .cost { stroke: #cf222e; }
  .missed .point { fill: #cf222e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .small { fill: #9198a1; }
    .paper { fill: #0d1117; }
    .frame, .grid { stroke: #3d444d; }
    .bound { stroke: #9198a1; }
    .beyond { fill: #9198a1; }
    .cost { stroke: #4493f8; }
    .point { fill: #4493f8; }
    .missed .cost { stroke: #f85149; }
    .missed .point { fill: #f85149; }
  }`;

/** Returns the page for the rows of the suite `growth`. */
export function pageOf(rows: readonly Row[]): string {
  const parts: string[] = [];
  let y = head;
  for (const { what, expected, operations, isLimit = false } of Object.values(fields)) {
    const amount = counted(expected);
    const about = isLimit
      ? `a host runs at most ${amount} at once`
      : `the shaded part is past the ${amount} that a host is expected to hold`;
    parts.push(`<text class="field" x="16" y="${y + 18}">${escaped(what)}</text>`);
    parts.push(`<text class="small" x="16" y="${y + 31}">${about}</text>`);
    for (const [i, operation] of operations.entries()) {
      const row = rows.find((one) => one.case === `${what}: ${operation.name}`);
      if (row?.points === undefined || row.points.length < 2) continue;
      const at = `translate(${16 + i * (plot.width + plot.gap)} ${y + label})`;
      parts.push(`<g transform="${at}"${row.verdict === 'missed' ? ' class="missed"' : ''}>`);
      parts.push(...plotOf(row, row.points, { operation, expected }), '</g>');
    }
    y += label + plot.height + plot.top;
  }
  const width = 16 + columns * (plot.width + plot.gap);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 8}" width="${width}" height="${y + 8}" role="img" aria-labelledby="title">`,
    `<title id="title">Cost against size</title>`,
    `<style>${styles}\n</style>`,
    `<rect class="paper" width="100%" height="100%"/>`,
    `<text class="title" x="16" y="30">Cost against size</text>`,
    `<text class="small" x="16" y="47">Both axes are logarithmic. Costs are times of the processor; jobs and the opening of a ledger are by the clock. The dashed line is the worst allowed growth (log n for one, n log n for all n, 0.15 for noise). It begins</text>`,
    `<text class="small" x="16" y="60">with the last decade of sizes, which alone is judged. The number at the right is the exponent of the cost there: 0 is constant, 1 is linear, 2 is quadratic. Red is worse than allowed.</text>`,
    ...parts,
    '</svg>',
    '',
  ].join('\n');
}

interface About {
  readonly operation: Operation;
  readonly expected: number;
}

/** The elements of one plot. */
function plotOf(row: Row, points: readonly Point[], { operation, expected }: About): readonly string[] {
  const { unit, of } = operation;
  const sizes = points.map(({ n }) => n);
  const costs = points.map(({ cost }) => cost);
  const x = scale(Math.min(...sizes), Math.max(...sizes), plot.left, plot.width - plot.right);
  const [low, high] = decadesAround(Math.min(...costs), Math.max(...costs));
  const y = scale(low, high, plot.top + plot.height - plot.bottom, plot.top);
  const bottom = y(low);
  const top = y(high);
  const past = x(Math.max(expected, Math.min(...sizes)));
  const right = plot.width - plot.right;
  return [
    `<text x="${plot.left}" y="${plot.top - 17}">${escaped(operation.name)}</text>`,
    `<text class="small" x="${plot.left}" y="${plot.top - 5}">${unit}, ${of === 'one' ? 'one' : 'all n'}</text>`,
    `<text class="small" x="${right}" y="${plot.top - 5}" text-anchor="end">${row.ours.toFixed(2)}</text>`,
    `<rect class="beyond" x="${at(past)}" y="${at(top)}" width="${at(Math.max(0, right - past))}" height="${at(bottom - top)}"/>`,
    ...decades(low, high).flatMap((cost) => [
      `<line class="grid" x1="${plot.left}" x2="${right}" y1="${at(y(cost))}" y2="${at(y(cost))}"/>`,
      `<text class="small" x="${plot.left - 5}" y="${at(y(cost) + 3)}" text-anchor="end">${counted(cost)}</text>`,
    ]),
    ...ends(sizes).map(
      (n, i) =>
        `<text class="small" x="${at(x(n))}" y="${at(bottom + 13)}" text-anchor="${i === 0 ? 'start' : 'end'}">${counted(n)}</text>`,
    ),
    `<rect class="frame" x="${plot.left}" y="${at(top)}" width="${right - plot.left}" height="${at(bottom - top)}"/>`,
    boundOf(points, of, { x, y, high }),
    `<polyline class="cost" points="${points.map(({ n, cost }) => `${at(x(n))},${at(y(cost))}`).join(' ')}"/>`,
    ...points.map(({ n, cost }) => `<circle class="point" cx="${at(x(n))}" cy="${at(y(cost))}" r="2.4"/>`),
  ];
}

type Scale = (value: number) => number;

/** The line of the allowed growth. It begins at the first point of the last decade, and ends at the top of the plot. */
function boundOf(
  points: readonly Point[],
  of: 'one' | 'all',
  { x, y, high }: { x: Scale; y: Scale; high: number },
): string {
  const judged = lastDecade(points);
  const [first, last] = [judged[0] as Point, judged.at(-1) as Point];
  const exponent = allowedFor(judged, of);
  const most = Math.min(last.n, first.n * (high / first.cost) ** (1 / exponent));
  const cost = first.cost * (most / first.n) ** exponent;
  return `<line class="bound" x1="${at(x(first.n))}" y1="${at(y(first.cost))}" x2="${at(x(most))}" y2="${at(y(cost))}"/>`;
}

/** A logarithmic scale. */
function scale(from: number, to: number, start: number, end: number): Scale {
  return (value) => start + ((Math.log(value) - Math.log(from)) / (Math.log(to) - Math.log(from))) * (end - start);
}

/** Returns whole powers of ten around the costs, at least two decades apart. */
function decadesAround(least: number, most: number): readonly [low: number, high: number] {
  const low = Math.floor(Math.log10(least));
  const high = Math.max(low + 2, Math.ceil(Math.log10(most)));
  return [10 ** low, 10 ** high];
}

function decades(low: number, high: number): readonly number[] {
  const [from, to] = [Math.round(Math.log10(low)), Math.round(Math.log10(high))];
  return Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i));
}

const ends = (sizes: readonly number[]): readonly [number, number] => [Math.min(...sizes), Math.max(...sizes)];

/** A coordinate: one digit after the point is finer than any screen. */
const at = (value: number): string => String(Number(value.toFixed(1)));

/** `1,000,000` as `1M`, `0.01` as it is. */
function counted(value: number): string {
  const text = (figure: number): string => String(Number(figure.toPrecision(3)));
  if (value >= 1e6) return `${text(value / 1e6)}M`;
  if (value >= 1e3) return `${text(value / 1e3)}k`;
  return text(value);
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Decodes a compressed answer, at the pace of its reader. */
import zlib from 'node:zlib';
import type { Flow, Sink } from './pool.ts';

const DECODERS: Readonly<Record<string, () => zlib.Gunzip | zlib.BrotliDecompress | zlib.ZstdDecompress>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
  zstd: () => zlib.createZstdDecompress(),
};
export const ACCEPTED = 'gzip, deflate, br, zstd';

export type Decoded = Pick<Sink, 'data' | 'end' | 'failed'>;

/** Returns the sink for the bytes as they come, and the flow for the decoded ones; undefined for an unknown encoding. */
export function inflater(
  encoding: string,
  from: Flow,
  to: Decoded,
): { readonly sink: Decoded; readonly flow: Flow; readonly stop: () => void } | undefined {
  const make = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined;
  if (make === undefined) return undefined;
  const decoder = make();
  decoder.on('data', (chunk: Buffer) => to.data(chunk));
  decoder.on('end', () => to.end());
  decoder.on('error', (error) => to.failed(error));
  decoder.on('drain', () => from.resume());
  const sink: Decoded = {
    data: (chunk) => {
      if (!decoder.destroyed && !decoder.write(chunk)) from.pause();
    },
    end: () => void decoder.end(),
    failed: (error) => {
      decoder.destroy();
      to.failed(error);
    },
  };
  return { sink, flow: { pause: () => void decoder.pause(), resume: () => void decoder.resume() }, stop: () => void decoder.destroy() }; // biome-ignore format: one line
}

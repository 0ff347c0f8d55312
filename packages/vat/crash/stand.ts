/** Keeps the processor for `ms`. */
export function stand(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

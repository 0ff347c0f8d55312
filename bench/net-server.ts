/** A server on loopback in a process of its own, for `net.ts`: 1 KB, and 64 MB in parts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const small = Buffer.alloc(1024, 'a');
const part = Buffer.alloc(64 * 1024, 'b');
const server = createServer((request, response) => {
  if (request.url === '/small') return void response.end(small);
  let left = 1024;
  const more = (): void => {
    while (left > 0) {
      left -= 1;
      if (!response.write(part)) return void response.once('drain', more);
    }
    response.end();
  };
  more();
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit(0));

/**
 * Hob's MCP server, as a program in a box starts it: it carries bytes between its own streams and a door.
 *
 *     node door.ts SOCKET
 */
import { connect } from 'node:net';

const door = connect(process.argv[2] ?? '');
door.on('error', ({ message }) => {
  process.stderr.write(`hob: the door to Hob is shut: ${message}\n`);
  process.exit(1);
});
process.stdin.pipe(door);
door.pipe(process.stdout);
door.on('close', () => process.exit(0));

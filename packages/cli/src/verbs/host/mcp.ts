/** `hob mcp`: the caps of a session for an agent that speaks MCP. */
import { Mistake } from '../../line/mistake.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob mcp` */
export const mcp: Verb = {
  name: 'mcp',
  about: 'serves the caps of a session as tools, over MCP on standard input and output, until the input ends',
  options: [
    { flags: '--url <url>', about: 'the host to enter, as it printed it (default: HOB_URL)' },
    { flags: '--secret-file <file>', about: 'the secret of the session, in a file of mode 0600 that stays there (default: HOB_SECRET_FILE)' }, // biome-ignore format: one line
    { flags: '--secret-fd <n>', about: 'the secret of the session, from an open descriptor' },
  ],
  examples: [
    'hob start -- sh -c \'claude --strict-mcp-config --mcp-config "$HOB_MCP_CONFIG"\'',
    'hob mcp --url ws://127.0.0.1:4321 --secret-file ~/secrets/session',
  ],
  codes: {
    0: 'the input ended',
    1: 'the session could not be entered: the message says why',
  },
  async run(given) {
    const { serveStdio } = await import('@hob/mcp/stdio');
    const { entryOf } = await import('../../drivers/mcp-entry.ts');
    const { version } = await import('@hob/host/line');
    const [url, file, descriptor] = ['url', 'secretFile', 'secretFd'].map((name) => textOf(given, name));
    const entry = entryOf({ url, file, descriptor });
    try {
      await serveStdio({ ...entry, version });
    } catch (error) {
      const { code, message } = error as { readonly code?: unknown; readonly message?: string };
      if (typeof code !== 'string') throw error;
      throw new Mistake(`${code}: ${message}`);
    }
    return 0;
  },
};

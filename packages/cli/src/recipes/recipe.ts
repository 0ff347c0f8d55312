/**
 * A recipe: how an agent host is started so that its model has the verbs of Hob and no tool of the host's.
 *
 * A recipe is data and pure functions. `hob recipe` prints what it makes, and `hob start --recipe` runs it.
 */
import { offeredTools } from './offered-tools.ts';
import type { Wire } from './wires.ts';

/** The name by which each host knows our MCP server. The names of tools are made of it. */
export const SERVER = 'hob';

/** Where a host runs. All paths are absolute. */
export interface Places {
  /** Its home, for its configuration and all that it writes. It is new for each run. */
  readonly home: string;
  /** The directory that it is started in: empty, and nobody writes there. */
  readonly start: string;
  /** The address of the model, as the host gets it. */
  readonly model: string;
  /** The name of the model, for a host whose configuration has it. */
  readonly modelName: string;
  /** The command that serves the session over MCP: `hob mcp`. */
  readonly server: readonly string[];
}

/** What is written and set before a host starts. */
export interface SetUp {
  /** By the path below the home. */
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  /** Arguments of the host, before those of the person. */
  readonly args: readonly string[];
}

/** A file that is made of what the host's own program prints. */
interface MadeFile {
  /** The path below the home. */
  readonly file: string;
  readonly args: readonly string[];
  /** The text of the file. Errors: any, if the output is not as expected. */
  readonly of: (output: string, modelName: string) => string;
}

/** One host. */
export interface Recipe {
  readonly name: string;
  /** The program, and the release that the recipe is tried with. */
  readonly program: string;
  readonly version: string;
  /** Undefined if nothing of the host's is left to its model. Otherwise what is left, and why. */
  readonly notTight?: string;
  readonly wire: Wire;
  /** The address of its model, if the person names none. */
  readonly model: string;
  /** The variables of the person's environment that the host gets: the keys of its model. */
  readonly keys: readonly string[];
  /** The name of a verb of ours, as the request to the model has it. */
  readonly toolName: (verb: string) => string;
  /** Tools of the host that it may offer, each with the reason. */
  readonly tolerated: Readonly<Record<string, string>>;
  /** What it changes, as lines for a person. */
  readonly closes: readonly string[];
  /** Its configuration has the name of the model. */
  readonly needsModelName: boolean;
  readonly setUp: (places: Places) => SetUp;
  /**
   * The same for a host in a box, which keeps its own tools. They need no approvals: the box is the limit. Undefined if
   * there is no box for it.
   */
  readonly setUpInBox?: (places: Places) => SetUp;
  /** The reason why there is no box for it. */
  readonly noBox?: string;
  /** How it works for an editor, over ACP. Undefined if it does not. */
  readonly acp?: {
    /** The arguments of `setUp` are for another program than the one that speaks ACP. */
    readonly ownArgs: 'kept' | 'left out';
    /** The server of Hob is in the configuration, or each new session gets it. */
    readonly server: 'configured' | 'given';
    /** `_meta` of each new session, without which it would have tools of its own. */
    readonly meta?: object;
    /** More variables of the person that it gets. */
    readonly passed?: readonly string[];
  };
  /** The reason why it does not. */
  readonly noAcp?: string;
  /** Beside the files of `setUp`. */
  readonly made?: readonly MadeFile[];
}

/** Finds the tools in a request that are neither ours nor tolerated. */
export const foreignTo = (
  { toolName, tolerated }: Recipe,
  verbs: readonly string[],
): ((body: unknown) => readonly string[]) => {
  const ours = new Set(verbs.map(toolName));
  return (body) =>
    [...new Set(offeredTools(body))].filter((tool) => !ours.has(tool) && !Object.hasOwn(tolerated, tool));
};

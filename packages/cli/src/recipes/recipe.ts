/**
 * A recipe: how an agent host is started so that its model has the verbs of Hob and no tool of the host's.
 *
 * A recipe is data and pure functions. `hob recipe` prints what it makes, and `hob start --recipe` runs it.
 */
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
}

/** Whether a tool may be in a request of this host. */
export const allows = ({ toolName, tolerated }: Recipe, verbs: readonly string[]): ((tool: string) => boolean) => {
  const ours = new Set(verbs.map(toolName));
  return (tool) => ours.has(tool) || Object.hasOwn(tolerated, tool);
};

/** The recipe for Hermes, with the real release and a scripted model. */
import { HERMES } from '../../../test/agents/hermes.ts';
import { promisesOf } from '../../../test/agents/promises.ts';

promisesOf(HERMES);

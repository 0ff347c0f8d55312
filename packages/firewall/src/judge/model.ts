/** The port to a model that judges. */

/** The question to a model. */
export interface Question {
  /** The instructions for the model. The text is ours. */
  readonly system: string;
  /** The request. It holds words of the agent, which are marked. */
  readonly user: string;
}

/** A model. Rejects with a `ModelFailure`, also if its answer is anything but one text. */
export interface JudgeModel {
  ask(question: Question, signal: AbortSignal): Promise<string>;
}

/** Why a model gave no answer. Its message has nothing of the answer, of the key or of the address. */
export class ModelFailure extends Error {}

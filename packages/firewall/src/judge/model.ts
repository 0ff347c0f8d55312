/** The port to a model that judges. */

/** What a model is asked. */
export interface Question {
  /** What it is to do. Text of ours. */
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

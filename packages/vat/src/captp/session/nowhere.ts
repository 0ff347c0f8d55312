/**
 * The target of a call on an answer, until the answer shows where the call goes. It stays if the answer
 * breaks or is data.
 */
import { type Message, Target, toData } from '../../core/message.ts';
import { Account } from '../../core/meter.ts';

class Nowhere extends Target {
  readonly label = 'nowhere';
  readonly account = new Account('nowhere');

  post(message: Message): void {
    message.fail(toData(message.method));
  }

  near(method: string): never {
    throw toData(method);
  }
}

export const nowhere: Target = new Nowhere();

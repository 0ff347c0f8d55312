/** The target of a call on an answer, until the answer says where the call goes. An answer that is broken or data never says it. */
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

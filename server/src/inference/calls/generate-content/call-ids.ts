import type { GooglePart } from '@tallygate/contract';
import { invalidInput } from '../../../kernel/invalid-input.ts';

type Call = NonNullable<GooglePart['functionCall']>;
type Result = NonNullable<GooglePart['functionResponse']>;

/**
 * The ids of calls in a chat, which needs them. Google's are optional: without one a call has its place in the conversation, and what a
 * function gave back belongs to the first call of that function without an answer.
 */
export class CallIds {
  readonly #open: { readonly id: string; readonly name: string }[] = [];
  #calls = 0;

  called({ id, name }: Call): string {
    this.#calls += 1;
    const given = id || `call_${this.#calls}`;
    this.#open.push({ id: given, name });
    return given;
  }

  /** @throws Problem `validation_failed` where nothing before it calls the function */
  answered({ id, name }: Result, at: string): string {
    const place = this.#open.findIndex((call) => (id ? call.id === id : call.name === name));
    const [call] = place < 0 ? [] : this.#open.splice(place, 1);
    if (call) return call.id;
    const msg = `answers no call: no part before it calls \`${name.slice(0, 64)}\`${id ? ' with this id' : ''}`;
    throw invalidInput([{ loc: ['body', `${at}.functionResponse`], msg, type: 'value_error' }]);
  }
}

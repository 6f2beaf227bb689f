import { invalidInput } from '../../../kernel/invalid-input.ts';
import type { Problem } from '../../../kernel/problem.ts';

type Json = string | Json[] | JsonObject;
interface JsonObject {
  [name: string]: Json;
}

const NAME = /^([^[\]]+)((?:\[[^[\]]*\])*)$/;
const MAX_LEVELS = 6;

/**
 * Collects text fields into the object that they encode, as OpenAI's clients write it: `include[]=a` is an item of an array,
 * `metadata[team]=x` a member of an object, `tools[][type]=x` a member of the last object of an array, or of a new one where the last
 * has it already. A name whose brackets do not match is taken as it is. All values are texts.
 */
export class FormFields {
  readonly value: JsonObject = {};

  /** @throws Problem `validation_failed` for a field that is there twice, or is two kinds of thing at once */
  add(name: string, text: string): void {
    const path = pathOf(name);
    if (path.length > MAX_LEVELS || path.some((step) => step === '__proto__')) throw refusal(name, 'Not a field name that can be read');
    place(this.value, path, text, name);
  }
}

function pathOf(name: string): [string, ...string[]] {
  const [, first, brackets] = NAME.exec(name) ?? [];
  if (first === undefined || brackets === undefined) return [name];
  return [first, ...[...brackets.matchAll(/\[([^[\]]*)\]/g)].map(([, step = '']) => step)];
}

/** `''` among the steps is the next place of an array. */
function place(parent: JsonObject, [step, ...rest]: string[], text: string, name: string): void {
  if (step === undefined) return;
  const existing = Object.hasOwn(parent, step) ? parent[step] : undefined;
  const [next] = rest;
  if (next === undefined) {
    if (existing !== undefined) throw refusal(name, 'Given twice');
    parent[step] = text;
  } else if (next === '') {
    const list = existing ?? [];
    if (!Array.isArray(list)) throw refusal(name, 'Given as an array and as something else');
    append(list, rest.slice(1), text, name);
    parent[step] = list;
  } else {
    const object = existing ?? {};
    if (typeof object === 'string' || Array.isArray(object)) throw refusal(name, 'Given as an object and as something else');
    parent[step] = object;
    place(object, rest, text, name);
  }
}

function append(list: Json[], rest: string[], text: string, name: string): void {
  const [member] = rest;
  if (member === undefined) {
    list.push(text);
    return;
  }
  if (member === '') throw refusal(name, 'An array in an array cannot be read');
  const last = list.at(-1);
  const isOpen = typeof last === 'object' && !Array.isArray(last) && !(rest.length === 1 && Object.hasOwn(last, member));
  const object: JsonObject = isOpen ? last : {};
  if (!isOpen) list.push(object);
  place(object, rest, text, name);
}

const refusal = (name: string, msg: string): Problem => invalidInput([{ loc: ['body', name.slice(0, 100)], msg, type: 'invalid' }]);

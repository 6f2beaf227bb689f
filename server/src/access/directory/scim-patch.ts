import { ScimError } from './scim-error.ts';
import type { ScimPatch } from './scim-schemas.ts';

type Resource = Record<string, unknown>;
type Operation = ScimPatch['Operations'][number];

/** `members`, `name.givenName`, `emails[type eq "work"].value`; the name of a schema in front says nothing. Names begin with a letter (RFC 7643, 2.1). */
const PATH = /^(?:urn:[\w:.]+:)?([a-z]\w*)(?:\[([a-z]\w*)\s+eq\s+"([^"\\]*)"\])?(?:\.([a-z]\w*))?$/i;
const MOST_PATH_CHARACTERS = 400;
/** Members of lists and attributes that the operations of one request read or copy, in all: what they may hold the event loop for. */
const MOST_TOUCHED = 500_000;

interface Path {
  readonly attribute: string;
  readonly filter: { readonly name: string; readonly value: string } | undefined;
  readonly part: string | undefined;
}

/** What is left to touch. */
class Touched {
  #left = MOST_TOUCHED;

  /** @throws ScimError */
  count(more: number): void {
    this.#left -= more;
    if (this.#left < 0) throw new ScimError(413, 'The operations go through too many values: send fewer of them in one request.');
  }
}

/** A resource after PATCH (RFC 7644, 3.5.2). @throws ScimError */
export function patched(resource: Resource, { Operations }: ScimPatch): Resource {
  const draft: Resource = Object.fromEntries(Object.entries(resource).map(([name, one]) => [name, isObject(one) ? { ...one } : one]));
  const touched = new Touched();
  for (const operation of Operations) apply(draft, operation, touched);
  return draft;
}

function apply(draft: Resource, { op, path, value }: Operation, touched: Touched): void {
  if (path !== undefined) {
    change(draft, { op, value, ...pathOf(path) }, touched);
    return;
  }
  if (op === 'remove') throw new ScimError(400, 'remove needs a path.', 'noTarget');
  if (!isObject(value)) throw new ScimError(400, 'Without a path the value is an object of attributes.', 'invalidValue');
  for (const [name, one] of Object.entries(value)) change(draft, { op, value: one, ...pathOf(name) }, touched);
}

function pathOf(text: string): Path {
  const [, attribute, name, value, part] = (text.length <= MOST_PATH_CHARACTERS && PATH.exec(text)) || [];
  if (attribute === undefined)
    throw new ScimError(400, `The path "${text.slice(0, MOST_PATH_CHARACTERS)}" is not supported.`, 'invalidPath');
  return { attribute, filter: name === undefined || value === undefined ? undefined : { name, value }, part };
}

interface Change extends Path {
  readonly op: Operation['op'];
  readonly value: unknown;
}

/** Changes the draft where it is: a copy for each of a thousand operations would hold the event loop. */
function change(draft: Resource, one: Change, touched: Touched): void {
  const { attribute, filter, part, op, value } = one;
  const before = draft[attribute];
  if (filter) draft[attribute] = changeSome(listOf(before), { ...one, filter }, touched);
  else if (part !== undefined) {
    const whole = isObject(before) ? before : {};
    whole[part] = op === 'remove' ? null : value;
    draft[attribute] = whole;
  } else if (op === 'remove') draft[attribute] = removed(before, value, touched);
  else if (op === 'add' && Array.isArray(before)) draft[attribute] = added(before, listOf(value), touched);
  else draft[attribute] = Array.isArray(before) ? listOf(value) : value;
}

/** Directories name those to remove in the value as well. */
function removed(before: unknown, value: unknown, touched: Touched): unknown {
  if (!Array.isArray(before)) return null;
  const gone = new Set(listOf(value).map(idIn));
  if (gone.size === 0) return [];
  touched.count(before.length);
  return before.filter((one) => !gone.has(idIn(one)));
}

function added(before: readonly unknown[], more: readonly unknown[], touched: Touched): unknown[] {
  touched.count(before.length);
  const absent = new Set(more.map(idIn));
  for (const one of before) absent.delete(idIn(one));
  return [...before, ...more.filter((one) => absent.has(idIn(one)))];
}

function changeSome(
  list: readonly unknown[],
  { op, filter, part, value }: Change & { readonly filter: NonNullable<Path['filter']> },
  touched: Touched,
): unknown[] {
  touched.count(list.length);
  const isMeant = (one: unknown) => isObject(one) && saysSo(one[filter.name], filter.value);
  if (op === 'remove' && part === undefined) return list.filter((one) => !isMeant(one));
  const changed = part === undefined ? objectOf(value) : { [part]: op === 'remove' ? null : value };
  if (list.some(isMeant)) return list.map((one) => (isMeant(one) ? merged(objectOf(one), changed, touched) : one));
  // Entra adds the address of a kind that is not there yet in this way.
  return [...list, merged({ [filter.name]: filter.value }, changed, touched)];
}

function merged(before: Resource, changed: Resource, touched: Touched): Resource {
  touched.count(Object.keys(before).length + Object.keys(changed).length);
  return { ...before, ...changed };
}

const isObject = (value: unknown): value is Resource => typeof value === 'object' && value !== null && !Array.isArray(value);
const objectOf = (value: unknown): Resource => (isObject(value) ? value : {});
const idIn = (one: unknown): unknown => (isObject(one) ? one['value'] : undefined);
const saysSo = (value: unknown, text: string): boolean => typeof value !== 'object' && String(value) === text;
const listOf = (value: unknown): unknown[] => (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]);

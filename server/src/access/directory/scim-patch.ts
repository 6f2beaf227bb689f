import { ScimError } from './scim-error.ts';
import type { ScimPatch } from './scim-schemas.ts';

type Resource = Record<string, unknown>;
type Operation = ScimPatch['Operations'][number];

/** `members`, `name.givenName`, `emails[type eq "work"].value`; the name of a schema in front says nothing. */
const PATH = /^(?:urn:[\w:.]+:)?(\w+)(?:\[(\w+)\s+eq\s+"([^"\\]*)"\])?(?:\.(\w+))?$/i;

interface Path {
  readonly attribute: string;
  readonly filter: { readonly name: string; readonly value: string } | undefined;
  readonly part: string | undefined;
}

/** A resource after PATCH (RFC 7644, 3.5.2). @throws ScimError */
export function patched(resource: Resource, { Operations }: ScimPatch): Resource {
  return Operations.reduce((before, operation) => apply(before, operation), resource);
}

function apply(resource: Resource, { op, path, value }: Operation): Resource {
  if (path !== undefined) return change(resource, op, pathOf(path), value);
  if (op === 'remove') throw new ScimError(400, 'remove needs a path.', 'noTarget');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ScimError(400, 'Without a path the value is an object of attributes.', 'invalidValue');
  return Object.entries(value).reduce((before, [name, one]) => change(before, op, pathOf(name), one), resource);
}

function pathOf(text: string): Path {
  const [, attribute, name, value, part] = PATH.exec(text) ?? [];
  if (attribute === undefined) throw new ScimError(400, `The path "${text}" is not supported.`, 'invalidPath');
  return { attribute, filter: name === undefined || value === undefined ? undefined : { name, value }, part };
}

function change(resource: Resource, op: Operation['op'], { attribute, filter, part }: Path, value: unknown): Resource {
  const before = resource[attribute];
  if (filter) return { ...resource, [attribute]: changeSome(listOf(before), op, { filter, part, value }) };
  if (part !== undefined) return { ...resource, [attribute]: { ...Object(before), [part]: op === 'remove' ? null : value } };
  if (op === 'remove') return { ...resource, [attribute]: removed(before, value) };
  if (op === 'add' && Array.isArray(before)) return { ...resource, [attribute]: added(before, listOf(value)) };
  return { ...resource, [attribute]: Array.isArray(before) ? listOf(value) : value };
}

/** Directories name those to remove in the value as well. */
function removed(before: unknown, value: unknown): unknown {
  if (!Array.isArray(before)) return null;
  const gone = new Set(listOf(value).map((one) => Object(one).value));
  return gone.size === 0 ? [] : before.filter((one) => !gone.has(Object(one).value));
}

function added(before: readonly unknown[], more: readonly unknown[]): unknown[] {
  const there = new Set(before.map((one) => Object(one).value));
  return [...before, ...more.filter((one) => !there.has(Object(one).value))];
}

interface Some {
  readonly filter: { readonly name: string; readonly value: string };
  readonly part: string | undefined;
  readonly value: unknown;
}

function changeSome(list: readonly unknown[], op: Operation['op'], { filter, part, value }: Some): unknown[] {
  const isMeant = (one: unknown) => String(Object(one)[filter.name]) === filter.value;
  if (op === 'remove' && part === undefined) return list.filter((one) => !isMeant(one));
  const changed = part === undefined ? Object(value) : { [part]: op === 'remove' ? null : value };
  if (list.some(isMeant)) return list.map((one) => (isMeant(one) ? { ...Object(one), ...changed } : one));
  // Entra adds the address of a kind that is not there yet in this way.
  return [...list, { [filter.name]: filter.value, ...changed }];
}

const listOf = (value: unknown): unknown[] => (value === undefined || value === null ? [] : Array.isArray(value) ? value : [value]);

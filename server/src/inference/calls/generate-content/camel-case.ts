import { isRecord } from '../usage.ts';

/** What is the caller's own inside: a name there is no field of Google's. Schemas are read in both spellings where they are translated. */
const OWN: ReadonlySet<string> = new Set([
  ...['args', 'response', 'parameters', 'parametersJsonSchema', 'responseSchema', 'responseJsonSchema', 'labels', 'partMetadata'],
]);

/** Two members of one object with one meaning. */
export interface Twice {
  readonly path: readonly (string | number)[];
  readonly name: string;
}

/**
 * A request with its fields in camel case, as all of the gateway reads them: Google takes both spellings. What has no snake case is not copied.
 *
 * @param twice is told of fields that come in both spellings, of which a provider and the gateway could read different ones
 */
export function inCamelCase(value: unknown, twice: (found: Twice) => void, path: readonly (string | number)[] = []): unknown {
  if (Array.isArray(value)) {
    const members = value.map((one, at) => inCamelCase(one, twice, [...path, at]));
    return members.some((one, at) => one !== value[at]) ? members : value;
  }
  if (!isRecord(value)) return value;
  const renamed: Record<string, unknown> = {};
  let isChanged = false;
  for (const name in value) {
    const camel = camelCase(name);
    const member = OWN.has(camel) ? value[name] : inCamelCase(value[name], twice, [...path, name]);
    isChanged ||= camel !== name || member !== value[name];
    if (Object.hasOwn(renamed, camel)) twice({ path: [...path, name], name: camel });
    // A member that is called so must not become the prototype.
    Object.defineProperty(renamed, camel, { value: member, enumerable: true, writable: true, configurable: true });
  }
  return isChanged ? renamed : value;
}

const camelCase = (name: string): string =>
  name.includes('_') ? name.replace(/(?<=[a-z0-9])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()) : name;

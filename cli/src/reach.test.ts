import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tallygate } from '@tallygate/sdk';
import { ROUTES } from '@tallygate/sdk/testing/contract-check';
import { expect, test } from 'vitest';

/** Operations without a command, with the reason. */
const ABSENT: Readonly<Record<string, string>> = {
  'paymentWebhooks.stripe': 'called by the payment provider alone',
  'plans.applyDowngrades': 'called by the gateway’s own schedule, with the internal secret',
  'fileTransfers.addPart': '`files upload` sends large files in parts by itself',
  'inference.generateVideo': '`videos create` does the same under its other address',
  'inference.editImage': 'a form with pictures: the SDK, or `curl`',
  'inference.varyImage': 'no model of the catalogue makes variations',
  'inference.createTranslation': 'a form with a recording: the SDK, or `curl`',
};

/** Fixed paths first: `/v1/keys/budget-summary` is no key's id. */
const routes = ROUTES.toSorted((a, b) => a.path.split(':').length - b.path.split(':').length);
const patternOf = (path: string) => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);

const file = new Blob(['x']);
const INPUT = { file, image: file, input_reference: file, model: 'm', prompt: 'x', input: 'x', from: 1, to: 2, bytes: 1, filename: 'x' };
/** What some method or other takes: ids, a record, an option. */
const ARGUMENTS: readonly (readonly unknown[])[] = [[], ['id', 'id', INPUT], ['id', INPUT], [INPUT], ['id'], ['mcp']];

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Those that are written by hand, and those that they inherit from what is generated. */
function methodsOf(holder: object): string[] {
  const prototype: object | null = Object.getPrototypeOf(holder);
  if (prototype === null || prototype === Object.prototype) return [];
  const own = Object.entries(Object.getOwnPropertyDescriptors(prototype)).filter(([name, { value }]) => isMethod(name, value));
  return [...own.map(([name]) => name), ...methodsOf(prototype)];
}

const isMethod = (name: string, value: unknown): boolean => name !== 'constructor' && typeof value === 'function';

/** `conversations.items.list`: the methods of a client's namespaces. */
function methodNames(holder: object, at: readonly string[] = []): string[] {
  const own = at.length > 0 ? methodsOf(holder) : [];
  const inner = Object.entries(holder).flatMap(([name, value]: [string, unknown]) =>
    isObject(value) ? methodNames(value, [...at, name]) : [],
  );
  return [...own.map((name) => [...at, name].join('.')), ...inner];
}

/** The first operation of a call; with a separate client, so that calls are not mixed up. */
function askedBy(name: string, given: readonly unknown[]): string[] {
  const found: string[] = [];
  const fetch = async (url: unknown, init: { method?: string } = {}): Promise<never> => {
    const { pathname } = new URL(String(url));
    const route = routes.find(({ method, path }) => method === init.method && patternOf(path).test(pathname));
    if (route) found.push(route.name);
    throw new Error('There is no gateway');
  };
  let holder: unknown = new Tallygate({ apiKey: 'tg_test_x', baseUrl: 'http://stub', maxRetries: 0, fetch });
  const steps = name.split('.');
  const last = steps.pop() ?? '';
  for (const step of steps) holder = Reflect.get(Object(holder), step);
  try {
    const called: unknown = Reflect.apply(Reflect.get(Object(holder), last), holder, given);
    Promise.resolve(called).catch(() => {});
  } catch {
    // Arguments that this method does not take.
  }
  return found;
}

const sources = globSync('**/*.ts', { cwd: import.meta.dirname, exclude: (path) => path.endsWith('.test.ts') })
  .map((path) => readFileSync(join(import.meta.dirname, path), 'utf8'))
  .join('\n');
/** `client.keys.rotate(…)`, or `keys.rotate(…)` where the namespace was taken out of the client. */
const isUsed = (method: string) => new RegExp(`(?<![\\w$])${method.replaceAll('.', '\\s*\\.\\s*')}\\s*\\(`).test(sources);
const ownCommand = new Set(
  methodNames(new Tallygate({ apiKey: 'tg_test_x', baseUrl: 'http://stub' }))
    .filter(isUsed)
    .flatMap((name) => ARGUMENTS.flatMap((given) => askedBy(name, given))),
);

/** Whether `tallygate api` can ask for it: JSON or nothing, with a caller's own credential or none. */
const isForApi = (route: object): boolean => {
  const { contentType, metadata } = { contentType: undefined, metadata: undefined, ...route };
  return contentType !== 'multipart/form-data' && Reflect.get(Object(metadata), 'auth') !== 'internal';
};

test('every operation of the contract has a command, or `api`, or a reason', () => {
  expect(ownCommand.size).toBeGreaterThan(80);
  const missed = routes.filter((route) => !ownCommand.has(route.name) && !isForApi(route) && !Object.hasOwn(ABSENT, route.name));
  expect(missed.map(({ name }) => name)).toEqual([]);
});

test('there is no excuse for what a command reaches, or for what is no operation', () => {
  const names = new Set(routes.map(({ name }) => name));
  expect(Object.keys(ABSENT).filter((name) => ownCommand.has(name) || !names.has(name))).toEqual([]);
});

import { AgentCard as CardOfA2a } from '@a2a-js/sdk';
import { AgentCard, AgentDocument, contract, ProtectedResourceMetadata } from '@tallygate/contract';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { readGuides } from './guides.ts';
import { documentsAt, NOW, PUBLIC_URL, surface, textOf } from './testing/discovery.ts';
import { yamlText } from './yaml-text.ts';

const DAY_MS = 86_400_000;
const json = (path: string): unknown => JSON.parse(textOf(path));

test('there is a document for every route of the contract that has one, and for no other path', () => {
  const documents = documentsAt();
  for (const { path, responses } of Object.values(contract.documents)) {
    const success: unknown = responses[200];
    const declared = success instanceof z.ZodType ? 'application/json' : z.object({ contentType: z.string() }).parse(success).contentType;
    expect(documents.read(path)?.contentType).toBe(`${declared}; charset=utf-8`);
  }
  for (const path of ['/', '/llms', '/openapi.json/', '/constructor', '/__proto__', '/docs/guides/../agents.md', '/docs/guides/nothing.md'])
    expect([path, documents.has(path), documents.read(path)]).toEqual([path, false, undefined]);
});

describe('agent.json', () => {
  const document = z.strictObject(AgentDocument.shape).parse(json('/.well-known/agent.json'));

  test('names the 23 models with what they cost today', () => {
    expect(document.models).toHaveLength(23);
    expect(document.models.find(({ id }) => id === 'gpt-4o-mini')?.prices).toMatchObject({ input_tokens: '0.00000015' });
  });

  test('names every operation of the contract once', () => {
    const named = document.capabilities.flatMap(({ operations }) => operations);
    expect(named.toSorted()).toEqual(surface.operations.map(({ id }) => id).sort());
  });

  test('names headers only that some operation takes', () => {
    const taken = new Set(surface.operations.flatMap(({ parameters }) => parameters.map(({ name }) => name)));
    for (const { name } of document.safeguards) expect(taken).toContain(name.toLowerCase());
  });

  test('links to documents that are there', () => {
    const { receipt_keys, prices, ...drawn } = document.documents;
    for (const url of Object.values(drawn)) expect(documentsAt().has(new URL(url).pathname)).toBe(true);
    expect(receipt_keys).toBe(`${PUBLIC_URL}${contract.receipts.getKeys.path}`);
    expect(prices).toBe(`${PUBLIC_URL}${contract.catalog.listPrices.path}`);
  });
});

test('the agent card is one of A2A 1.0, by its own SDK, and claims no binding of A2A', () => {
  const card = AgentCard.parse(json('/.well-known/agent-card.json'));
  // A member that A2A does not know would be lost on the way.
  expect(CardOfA2a.toJSON(CardOfA2a.fromJSON(card))).toEqual(card);
  expect(card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding)).toEqual(['MCP', 'OPENAI']);
});

test.each([
  ['/.well-known/oauth-protected-resource', PUBLIC_URL],
  ['/.well-known/oauth-protected-resource/mcp', `${PUBLIC_URL}/mcp`],
])('%s describes %s', (path, resource) => {
  // RFC 9728, section 3.3: a client compares it with what it asked for.
  expect(z.strictObject(ProtectedResourceMetadata.shape).parse(json(path)).resource).toBe(resource);
});

describe('security.txt', () => {
  const fields = (now: number) =>
    textOf('/.well-known/security.txt', documentsAt(now))
      .split('\r\n')
      .filter((line) => line !== '')
      .map((line) => /^([A-Za-z-]+): (\S.*)$/.exec(line)?.slice(1) ?? [line]);

  test('has what RFC 9116 demands: a contact, one end, its own address', () => {
    const given = fields(NOW);
    expect(given.map(([name]) => name)).toEqual(['Contact', 'Expires', 'Preferred-Languages', 'Canonical']);
    expect(Object.fromEntries(given)).toMatchObject({
      Contact: 'mailto:security@example.com',
      Canonical: `${PUBLIC_URL}/.well-known/security.txt`,
    });
  });

  test('always ends in the future, and in less than a year', () => {
    for (const now of [NOW, NOW + 400 * DAY_MS, Date.UTC(2028, 1, 29, 23, 59, 59, 999)]) {
      const ends = Date.parse(Object.fromEntries(fields(now))['Expires'] ?? '');
      expect(ends - now).toBeGreaterThan(170 * DAY_MS);
      expect(ends - now).toBeLessThan(365 * DAY_MS);
    }
  });
});

describe('llms.txt', () => {
  const lines = textOf('/llms.txt').split('\n');

  test('has the form of llmstxt.org: one title, a summary, then sections of links', () => {
    expect(lines[0]).toBe('# Tallygate');
    expect(lines[2]).toMatch(/^> \S/);
    expect(lines.filter((line) => line.startsWith('# '))).toHaveLength(1);
    const sections = lines.slice(lines.findIndex((line) => line.startsWith('## '))).filter((line) => line !== '');
    for (const line of sections) expect(line).toMatch(/^(## .+|- \[[^\]]+\]\(https:\/\/\S+\)(: .+)?)$/);
  });

  test('links to documents that are there, with absolute addresses', () => {
    const urls = [...textOf('/llms.txt').matchAll(/\]\((\S+?)\)/g)].map(([, url = '']) => new URL(url));
    const live: readonly string[] = [contract.receipts.getKeys.path, contract.catalog.listPrices.path];
    expect(urls.length).toBeGreaterThan(20);
    const pages = urls.map(({ pathname }) => pathname);
    expect(pages).toEqual(expect.arrayContaining(['/docs/start/terminal.md', '/docs/concepts/hard-caps.md', '/docs/guides/runs.md']));
    for (const { origin, pathname } of urls) {
      expect(origin).toBe(PUBLIC_URL);
      expect([pathname, documentsAt().has(pathname) || live.includes(pathname)]).toEqual([pathname, true]);
    }
  });

  test('is the beginning of llms-full.txt, which has every guide, endpoint and error in one document', () => {
    const full = textOf('/llms-full.txt');
    expect(full.startsWith(textOf('/llms.txt'))).toBe(true);
    for (const { method, path } of surface.operations) expect(full).toContain(`\`${method} ${path}\``);
    const headings = full.replaceAll(/^```.*?^```/gms, '').match(/^# .+$/gm);
    expect(headings).toEqual(['# Tallygate']);
  });
});

test('agents.md says what every code means and whether to repeat', () => {
  const guide = textOf('/agents.md');
  expect(guide).toContain('| `budget_exceeded` | 402 |');
  expect(guide).toMatch(/\| `budget_in_flight` \| 429 \| [^|]+ \| yes \|/);
  expect(guide).toContain(`base URL \`${PUBLIC_URL}/v1\``);
  expect(guide).toContain('input 0.15/1M');
});

describe('the OpenAPI document', () => {
  test('has the addresses of this gateway and none of the one it was written with', () => {
    expect(json('/openapi.json')).toMatchObject({ openapi: '3.1.0', servers: [{ url: PUBLIC_URL }] });
    expect(textOf('/openapi.json')).not.toContain('127.0.0.1:8787');
  });

  test('is the same as YAML', () => {
    expect(textOf('/openapi.yaml')).toBe(yamlText(json('/openapi.json')));
    // All of it would take seconds to read: one schema that has everything represents the others.
    const { ChatCompletionRequest: richest } = surface.schemas;
    expect(richest).toBeDefined();
    expect(parse(yamlText(richest))).toEqual(richest);
  });
});

test('YAML keeps what readers of older YAML would take for something else', () => {
  const value = {
    yes: 'no',
    on: 'null',
    '1': '1e3',
    'a b': '2026-11-21',
    empty: {},
    none: [],
    list: [[], [1, [2]], { a: { b: null } }],
    text: 'x: y\n# z',
  };
  for (const version of ['1.1', '1.2'] as const) expect(parse(yamlText(value), { version })).toEqual(value);
});

test('a gateway without its documentation has no guides', () => {
  expect(readGuides(new URL('./nowhere/', import.meta.url))).toEqual([]);
});

test('an edition ends with the day, because prices can', () => {
  const { edition } = documentsAt(NOW);
  expect(edition()).toBe(documentsAt(NOW + 3_600_000).edition());
  expect(edition()).not.toBe(documentsAt(NOW + DAY_MS).edition());
});
